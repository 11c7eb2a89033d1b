import { type Static, Type } from 'typebox';
import { DateTime, Id } from '../../foundation/schema.ts';
import { maxRequestIdLength } from '../../http/headers.ts';
import { resourceEvents } from '../resources/resources.ts';
import { webhookDisabled } from '../webhooks/schema.ts';
import { workspaceEvents } from '../workspaces/store.ts';

export const eventId = Id('The id of the event.');

/** Every type of event, in the order of the description. */
export const events = [...resourceEvents, ...workspaceEvents, webhookDisabled] as const;

const variants = events.map(({ type, data, meaning, previous }) =>
  Type.Object(
    {
      id: Id(
        'The position of the event in the history of the workspace: 1, 2, 3 and so on, without gaps. After a restore from a backup, the history starts over at a much higher position.',
      ),
      type: Type.Literal(type, { description: 'What happened.', examples: [type] }),
      timestamp: DateTime(
        'When the change was made, in UTC, by the clock of the instance that made it. It may be earlier than that of the event before: order events by `id`.',
        '2026-11-21T09:30:00.000Z',
      ),
      requestId: Type.Optional(
        Type.String({
          maxLength: maxRequestIdLength,
          description: '`X-Request-Id` of the request that made the change. Absent if no request made it.',
          examples: ['walk-1'],
        }),
      ),
      data,
      ...(previous && { previous }),
    },
    { title: titleOf(type), description: meaning },
  ),
);

/** `PetUpdated` for `pet.updated`. */
function titleOf(type: string): string {
  return type.replace(/(?:^|\.)(\w)/g, (_, letter) => letter.toUpperCase());
}

export const Event = Type.Union(variants, {
  title: 'Event',
  discriminator: 'type',
  description:
    'An entry in the history of a workspace. Its `type` determines the schema of `data`. Later versions may add types, so ignore unknown ones.',
});
export type Event = Static<(typeof variants)[number]>;

export const Events = Type.Array(Event, { title: 'Events', description: 'Events, ordered by id.' });
