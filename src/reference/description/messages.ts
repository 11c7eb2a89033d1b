import { type TSchema, Type } from 'typebox';
import { Event } from '../../store/events/schema.ts';
import { EventsMissed, KnownEventType, Ping } from '../../store/webhooks/schema.ts';
import { exampleOf, type JsonObject, type Schemas } from './schemas.ts';

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
      description: 'The event as JSON.',
    }),
  },
  {
    title: 'StreamedEvent',
    description: `An event of the stream. ${streamNote}`,
    examples: [{ id: String(example.id), event: example.type, data: JSON.stringify(example) }],
  },
);

/** The messages of webhooks, by kind. */
const messages: Record<string, { id: string; summary: string; description: string; body: TSchema }> = {
  event: {
    id: 'receiveEvent',
    summary: 'An event',
    description: 'Sent for each event of the workspace whose type is among the `types` of the webhook.',
    body: Event,
  },
  ping: {
    id: 'receivePing',
    summary: 'A ping',
    description: 'Sent by `pingWebhook`, to test whether messages arrive.',
    body: Ping,
  },
  eventsMissed: {
    id: 'receiveEventsMissed',
    summary: 'A gap',
    description:
      'Sent before the next event if events were removed from the history before they could be sent. The `types` of the webhook do not filter it.',
    body: EventsMissed,
  },
};

/** The headers of Standard Webhooks 1.0. */
export const webhookHeaders: Record<string, [description: string, example: string]> = {
  'webhook-id': ['The id of the message. It is the same in each attempt.', 'evt_3kq0x9v7m2n5b8c1z4l6j0h2g'],
  'webhook-timestamp': ['When this attempt was made, in Unix seconds.', '1795253400'],
  'webhook-signature': [
    'Signatures of `{webhook-id}.{webhook-timestamp}.{body}`, separated by spaces: `v1,` and the HMAC-SHA256 in Base64. While two secrets are valid, there is one for each.',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ],
};

/** The callbacks of the operation that adds a webhook, to the `url` of its body. */
export const describeCallbacks = (schemas: Schemas): JsonObject =>
  mapMessages(({ id, ...message }) => ({
    '{$request.body#/url}': { post: describeMessage({ ...message, id: `${id}ByCallback` }, schemas) },
  }));

/** The same messages as the webhooks of OpenAPI 3.1, and as `x-webhooks`, which viewers show alike. */
export const describeWebhooks = (schemas: Schemas): JsonObject =>
  mapMessages((message) => ({ post: describeMessage(message, schemas) }));

type Message = (typeof messages)[string];

const mapMessages = (describe: (message: Message) => JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(messages).map(([name, message]) => [name, describe(message)]));

function describeMessage({ id, summary, description, body }: Message, schemas: Schemas): JsonObject {
  return {
    operationId: id,
    tags: ['Store'],
    summary,
    description,
    security: [],
    parameters: Object.entries(webhookHeaders).map(([name, [description, example]]) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
      example,
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemas.use(body), example: exampleOf(body) } },
    },
    responses: {
      '2XX': { description: 'The message has arrived. The body is ignored.' },
      '410': { description: 'The receiver wants no more messages. The webhook is disabled.' },
      default: { description: 'The message is retried later. `Retry-After` is obeyed, up to an hour.' },
    },
  };
}
