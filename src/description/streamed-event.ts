import { Event } from '../events/schema.ts';
import { Type } from '../foundation/type.ts';
import { KnownEventType } from '../webhooks/event-types.ts';
import { exampleOf, type JsonObject } from './schemas.ts';

const example = exampleOf(Event) as JsonObject;

export const streamNote =
  'Blocks without `data` are not events. They set the reconnection time with `retry`, or the current position with `id`.';

/** An event of the stream, as parsers of `text/event-stream` return it. */
export const StreamedEvent = Type.Object(
  {
    id: Type.String({ pattern: '^[1-9][0-9]*$', description: 'The `id` of the event.' }),
    event: KnownEventType,
    data: Type.String({
      contentMediaType: 'application/json',
      contentSchema: Event,
      description: 'The event as JSON in one line.',
    }),
  },
  {
    title: 'StreamedEvent',
    description: `An event of the stream. ${streamNote}`,
    examples: [{ id: String(example.id), event: example.type, data: JSON.stringify(example) }],
  },
);
