import { Type } from 'typebox';
import { onlyDescribed } from '../../foundation/schema.ts';
import { resourceEvents } from '../resources/resources.ts';
import { workspaceEvents } from '../workspaces/events.ts';

/** The type of the only event about webhooks. */
export const disabledType = 'webhook.disabled';

/** All types of events in a history, in the order of the description. `events/schema.ts` has their schemas. */
export const eventTypes = [
  ...[...resourceEvents, ...workspaceEvents].map(({ type }) => type),
  disabledType,
] as const;

export type EventType = (typeof eventTypes)[number];

/** An event type in a request. */
export const KnownEventType = Type.Enum([...eventTypes], {
  type: 'string',
  title: 'EventType',
  // ogen calls the type of the discriminator of Event `EventType` too.
  ...onlyDescribed({ 'x-ogen-name': 'EventTypeName' }),
  description: 'The type of an event. Later versions may add types.',
  examples: ['pet.updated'],
});
