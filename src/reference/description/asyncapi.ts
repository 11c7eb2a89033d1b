import { type TSchema, Type } from 'typebox';
import { version } from '../../foundation/version.ts';
import type { Operation } from '../../http/operation.ts';
import { Event } from '../../store/events/schema.ts';
import { EventsMissed, Ping } from '../../store/webhooks/schema.ts';
import { contact, license, securitySchemes } from './document.ts';
import { StreamedEvent, streamNote, webhookHeaders } from './messages.ts';
import { type JsonObject, Schemas } from './schemas.ts';

const { id, event } = StreamedEvent.properties;
/** The fields of a block of the stream, except its data. */
const streamFields = Type.Object({ id, event });

const signedFields = Type.Object(
  Object.fromEntries(
    Object.entries(webhookHeaders).map(([name, [description, example]]) => [
      name,
      Type.String({ description, examples: [example] }),
    ]),
  ),
);

/** The AsyncAPI 3.0 document of the stream of events and of the messages to webhooks. */
export function describeEvents(operations: readonly Operation[], baseUrl: string): JsonObject {
  const schemas = new Schemas('titled-json-schema');
  const { protocol, host, pathname } = new URL(baseUrl);
  const stream = operations.find(({ success }) => success.kind === 'stream') as Operation;
  const creation = operations.find(({ sendsEvents }) => sendsEvents) as Operation;
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Petstore events',
      version,
      description: `The events of a Petstore workspace, as the service sends them: on a stream, and to webhooks. [The API](${baseUrl}/openapi-3.1.json) has the operations, and the same events as a list.`,
      contact,
      license,
    },
    defaultContentType: 'application/json',
    servers: {
      api: { host, pathname, protocol: protocol.slice(0, -1), description: 'The API.' },
      receiver: {
        host: '{host}',
        protocol: 'https',
        description: 'The receiver of a webhook.',
        variables: {
          host: { description: 'The host in the `url` of the webhook.', examples: ['shop.example'] },
        },
      },
    },
    channels: {
      stream: {
        address: stream.path,
        title: 'The stream of events',
        description: `Server-sent events over HTTP. ${streamNote}`,
        servers: [ref('servers', 'api')],
        messages: describeMessages(Event.anyOf, 'streamed', schemas),
      },
      webhookMessages: {
        title: 'A webhook',
        description: 'Each webhook has an address of its own: its `url`.',
        servers: [ref('servers', 'receiver')],
        messages: describeMessages([...Event.anyOf, Ping, EventsMissed], 'signed', schemas),
      },
    },
    operations: {
      [stream.id]: {
        action: 'send',
        channel: ref('channels', 'stream'),
        summary: stream.summary,
        description: stream.description,
        security: Object.keys(securitySchemes).map((name) => ref('components', 'securitySchemes', name)),
        bindings: http({
          method: stream.method,
          query: { title: 'StreamQuery', ...schemas.use(Type.Object(stream.query)) },
        }),
      },
      sendToWebhook: {
        action: 'send',
        channel: ref('channels', 'webhookMessages'),
        summary: 'Send to a webhook',
        description: creation.description,
        security: [],
        bindings: http({ method: 'POST' }),
      },
    },
    components: {
      schemas: schemas.components,
      messageTraits: {
        streamed: { headers: { title: 'StreamFields', ...schemas.use(streamFields) } },
        signed: { headers: { title: 'SignedFields', ...schemas.use(signedFields) } },
      },
      securitySchemes: {
        ...securitySchemes,
        apiKeyAuth: { ...securitySchemes.apiKeyAuth, type: 'httpApiKey' },
      },
    },
  };
}

/** The messages by their types, each a titled schema. */
function describeMessages(bodies: TSchema[], trait: string, schemas: Schemas): JsonObject {
  const traits = [ref('components', 'messageTraits', trait)];
  const described = bodies.map((body) => {
    const { title, description: summary, properties } = body as Titled;
    const { const: name } = properties.type;
    return [name, { name, title, summary, payload: schemas.use(body), traits }];
  });
  return Object.fromEntries(described);
}

interface Titled extends TSchema {
  title: string;
  description: string;
  properties: { type: { const: string } };
}

const http = (binding: JsonObject): JsonObject => ({ http: { ...binding, bindingVersion: '0.3.0' } });

const ref = (...path: string[]): JsonObject => ({ $ref: `#/${path.join('/')}` });
