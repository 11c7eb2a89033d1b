import Type, { type TProperties, type TSchema } from 'typebox';
import { successorOf } from '../lifecycle.ts';
import { plans, type Quota } from '../limits/plans.ts';
import { mediaTypesOf, type Operation } from '../operation.ts';
import { referenceUrl } from '../reference-url.ts';
import { version } from '../version.ts';
import { describeCallbacks, describeWebhooks } from './callbacks.ts';
import { ErrorResponses } from './error-responses.ts';
import { type Guide, guides } from './guides.ts';
import {
  answerHeaders,
  isConditionalRead,
  type RequestHeader,
  refs,
  requestHeaders,
  requestHeadersOf,
  successHeaders,
} from './headers.ts';
import { codeSamples } from './samples.ts';
import { exampleOf, type Json, type JsonObject, Schemas } from './schemas.ts';

/** What a reader sees first. The rules stand in the guides. */
function introduction(baseUrl: string, guides: Guide[]): string {
  const rootUrl = baseUrl.replace(/\/v1$/, '');
  const [start, authentication, ...others] = guides.map(
    ({ name }) => `[${name}](${referenceUrl(baseUrl)}#tag/${name.toLowerCase().replaceAll(' ', '-')})`,
  );
  return `A demonstration API that behaves like a real one, for people who build SDK generators, gateways, clients and agents: limits that
hold, errors that name the field, writes that survive a crash. It is a pet shop with categories, orders and stock, and a history of all
that happens, as a list, as a stream and as webhooks. Try whatever you like.

1. **Get a key.** The service prints one when it starts. ${authentication} says how to send it.
2. **Send a first request,** from your terminal as in ${start}, or from the reference: enter the key at the
   top of the page, and press *Test Request* beside any operation.
3. **Write a client that lasts.** What it needs to know: ${others.join(', ')}.

This description is also served as [JSON](${baseUrl}/openapi.json) and [YAML](${baseUrl}/openapi.yaml), for generators and other tools.
[llms.txt](${rootUrl}/llms.txt) leads assistants to all of it as plain text, and the [changelog](${rootUrl}/changelog) tells what is new.`;
}

/** What a description says of a whole API, besides its operations. */
export interface About {
  title: string;
  introduction: string;
  guides: readonly Guide[];
  /** The limits that its examples show. */
  quota: Quota;
  /** Tags with operations. The other tags are guides. */
  tags: { name: string; description: string }[];
}

/** What the description says of the store. It tells of the lab unless there is none. */
export const aboutStore = (baseUrl: string, hasLab = true): About => {
  const texts = guides(baseUrl, { hasLab });
  return {
    title: 'Petstore',
    introduction: introduction(baseUrl, texts),
    guides: texts,
    quota: plans.free,
    tags,
  };
};

const tags = [
  { name: 'Pets', description: 'Pets and the categories they belong to.' },
  {
    name: 'Store',
    description:
      'Orders for pets, the stock they are taken from, and what happens in the workspace: events and webhooks.',
  },
];

/** The OpenAPI 3.0.3 document of the operations, for an API at `baseUrl`. */
export function describe(
  operations: readonly Operation[],
  baseUrl: string,
  about: About = aboutStore(baseUrl),
): JsonObject {
  const { title, introduction, guides, quota, tags } = about;
  const schemas = new Schemas();
  const errorResponses = new ErrorResponses(schemas);
  const parameters: JsonObject = {};
  const paths: Record<string, JsonObject> = {};
  const fields = requestHeaders(operations);
  const context = { operations, schemas, errorResponses, parameters, fields, baseUrl };
  for (const operation of operations) {
    paths[operation.path] ??= {};
    (paths[operation.path] as JsonObject)[operation.method.toLowerCase()] = describeOperation(
      operation,
      context,
    );
  }
  const headers = answerHeaders(operations, baseUrl, quota);
  return {
    openapi: '3.0.3',
    info: {
      title,
      version,
      description: introduction,
      contact: { name: 'The developers of Petstore' },
    },
    servers: [{ url: baseUrl }],
    security: [{ bearerAuth: [] }, { apiKeyAuth: [] }],
    tags: [...guides, ...tags],
    'x-tagGroups': [
      ...(guides.length > 0 ? [{ name: 'Guides', tags: namesOf(guides) }] : []),
      { name: 'API', tags: namesOf(tags) },
    ],
    paths,
    ...(operations.some(({ sendsEvents }) => sendsEvents) && { 'x-webhooks': describeWebhooks(schemas) }),
    components: {
      schemas: schemas.components,
      parameters,
      headers: onlyUsed(headers, [paths, errorResponses.components]),
      responses: errorResponses.components,
      securitySchemes: {
        bearerAuth: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key as `Authorization: Bearer KEY`.',
        },
        apiKeyAuth: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'An API key as `X-API-Key: KEY`.',
        },
      },
    },
  };
}

interface Context {
  operations: readonly Operation[];
  schemas: Schemas;
  errorResponses: ErrorResponses;
  /** Components that are filled as operations use them. */
  parameters: JsonObject;
  /** The header fields that operations take. */
  fields: Record<RequestHeader, JsonObject>;
  baseUrl: string;
}

/** The components of header fields that some answer refers to. */
function onlyUsed(headers: JsonObject, answers: object[]): JsonObject {
  const text = JSON.stringify(answers);
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => text.includes(`"#/components/headers/${name}"`)),
  );
}

const namesOf = (tags: readonly { name: string }[]) => tags.map(({ name }) => name);

function describeOperation(operation: Operation, context: Context): JsonObject {
  const { id, tag, summary, stability, deprecated, hideTryItPanel, body } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [operation.description, ...notesOn(operation, context)].join('\n\n'),
    ...(deprecated && {
      deprecated: true,
      'x-deprecated-sunset': deprecated.sunset,
      'x-sunset': deprecated.sunset,
    }),
    ...(stability && { 'x-stability': stability }),
    ...(hideTryItPanel && { 'x-hideTryItPanel': true }),
    parameters: [
      ...describeParameters(operation.params, 'path', operation, context),
      ...describeParameters(operation.query, 'query', operation, context),
      ...requestHeadersOf(operation).map((name) => useRequestHeader(name, operation, context)),
    ],
    ...(body && { requestBody: describeBody(operation, body, context.schemas) }),
    responses: describeResponses(operation, context),
    ...(operation.sendsEvents && { callbacks: describeCallbacks(context.schemas) }),
    'x-codeSamples': codeSamples(operation, context.baseUrl),
  };
}

const stabilityNotes = {
  beta: '**Beta:** this operation may change, with notice.',
  experimental: '**Experimental:** this operation may change or be removed without notice.',
};

/** What developers should know before they use an operation. */
function notesOn(operation: Operation, { operations }: Context): string[] {
  const { stability, deprecated } = operation;
  const notes = stability ? [stabilityNotes[stability]] : [];
  if (!deprecated) return notes;
  const { since, sunset } = deprecated;
  const { method, path } = successorOf(operation, operations);
  return [
    `**Deprecated** since ${since}. Its sunset is ${sunset}: it may be removed from then on. Use \`${method} ${path}\` instead.`,
    ...notes,
  ];
}

/** A parameter that is the same wherever it is taken is a component. A filter or a cursor is of its operation alone. */
function describeParameters(
  properties: TProperties,
  place: 'path' | 'query',
  operation: Operation,
  context: Context,
): Json[] {
  const { sampleParams, success } = operation;
  return Object.entries(properties).map(([name, schema]) => {
    const own = place === 'path' ? sampleParams?.[name] : undefined;
    const { description, ...rest } = schema as TSchema & { description: string; title?: string };
    const parameter: JsonObject = {
      name,
      in: place,
      required: !Type.IsOptional(schema),
      description,
      schema: context.schemas.use(
        rest.title ? schema : ({ ...rest, ...(own !== undefined && { examples: [own] }) } as TSchema),
      ),
    };
    const isShared = place === 'path' ? own === undefined : success.kind === 'page' && name === 'limit';
    if (!isShared) return parameter;
    context.parameters[name] = parameter;
    return { $ref: `#/components/parameters/${name}` };
  });
}

/**
 * A header field is the same for all operations. Only the schema of an Idempotency-Key says for which it is: Postman makes up one
 * value for all parameters with equal schemas, and a key that two operations share is refused.
 */
function useRequestHeader(name: RequestHeader, { id }: Operation, { parameters, fields }: Context): Json {
  const parameter: JsonObject = { name, in: 'header', required: false, ...fields[name] };
  if (name === 'Idempotency-Key') {
    return {
      ...parameter,
      schema: { ...(parameter.schema as JsonObject), 'x-operation': id },
    };
  }
  const component = name.replaceAll('-', '');
  parameters[component] = parameter;
  return { $ref: `#/components/parameters/${component}` };
}

function describeBody(operation: Operation, body: TSchema, schemas: Schemas): JsonObject {
  const content = { schema: schemas.use(body), example: exampleOf(body, true) };
  return {
    required: true,
    content: Object.fromEntries(mediaTypesOf(operation).map((type) => [type, content])),
  };
}

/** Without parameters, as tools compare it with the `Content-Type` of an answer. */
const mediaTypeOf = ({ kind, mediaType = 'application/json' }: Operation['success']) =>
  kind === 'stream' ? 'text/event-stream' : (mediaType.split(';')[0] as string);

function describeResponses(operation: Operation, { schemas, errorResponses }: Context): JsonObject {
  const { success } = operation;
  const responses: JsonObject = {
    [success.status]: {
      description: success.description,
      headers: refs(successHeaders(operation)),
      ...(success.schema && {
        content: {
          [mediaTypeOf(success)]: {
            schema: schemas.use(success.schema),
            example: exampleOf(success.schema),
          },
        },
      }),
    },
  };
  if (isConditionalRead(operation)) {
    responses['304'] = {
      description: 'The caller has the current representation already.',
      headers: refs(successHeaders(operation)),
    };
  }
  return { ...responses, ...errorResponses.use(operation) };
}
