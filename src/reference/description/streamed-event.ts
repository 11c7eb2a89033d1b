import { Type } from 'typebox';
import { Event } from '../../store/events/schema.ts';
import { KnownEventType } from '../../store/webhooks/schema.ts';
import { exampleOf, type JsonObject } from './schemas.ts';

const example = exampleOf(Event) as JsonObject;

export const streamNote =
  '`retry` before the first block sets the reconnection time. A block without `data` is not an event: its `id` is the current position.';

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
