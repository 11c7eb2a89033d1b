import type { TSchema } from 'typebox';
import type { Quota } from '../../foundation/settings/plans.ts';
import { version as ownVersion } from '../../foundation/version.ts';
import { mediaTypesOf, type Operation } from '../../http/operation.ts';
import type { Fault } from '../../lab/faults/shared/fault.ts';
import { successorOf } from '../../observe/deprecation.ts';
import type { Guide } from './guide-names.ts';
import { describeCallbacks, describeWebhooks } from './messages.ts';
import { ParameterDescriptions } from './parameters.ts';
import { ResponseDescriptions, responseHeaders } from './responses.ts';
import { codeSamples } from './samples.ts';
import { exampleOf, type JsonObject, type OpenapiVersion, Schemas } from './schemas.ts';

const fullVersions: Record<OpenapiVersion, string> = { '3.0': '3.0.3', '3.1': '3.1.1', '3.2': '3.2.0' };

/** The parts of a description that do not follow from operations. */
export interface ApiInfo {
  title: string;
  introduction: string;
  guides: readonly Guide[];
  /** The faults whose errors its operations may answer, too. */
  faults: readonly Fault[];
  /** Where each error code has a page, below. */
  errorPages: string;
  /** The quota in examples. */
  quota: Quota;
  /** How many Idempotency-Keys an API key may have, in words. */
  keptKeys: string;
  /** Tags with operations. The other tags are guides. */
  tags: { name: string; summary: string; description: string }[];
}

/** The OpenAPI document of the operations, for an API at `baseUrl`. */
export function describeApi(
  operations: readonly Operation[],
  baseUrl: string,
  info: ApiInfo,
  version: OpenapiVersion = '3.0',
): JsonObject {
  const { title, introduction, quota, keptKeys } = info;
  const schemas = new Schemas(version === '3.0' ? 'openapi-3.0' : 'json-schema');
  const parameters = new ParameterDescriptions(schemas, operations, keptKeys);
  const responses = new ResponseDescriptions(schemas, info.faults, info.errorPages, {
    hasItems: version === '3.2',
    hasProblems: version !== '3.0',
  });
  const hasWebhooks = version !== '3.0';
  const context = { operations, schemas, parameters, responses, baseUrl, hasWebhooks };
  const paths: Record<string, JsonObject> = {};
  for (const operation of operations) {
    const method = operation.method.toLowerCase();
    paths[operation.path] = { ...paths[operation.path], [method]: describeOperation(operation, context) };
  }
  const headers = responseHeaders(operations, baseUrl, quota);
  return {
    openapi: fullVersions[version],
    info: { title, version: ownVersion, description: introduction, contact, license },
    servers: [{ url: baseUrl }],
    security: [{ bearerAuth: [] }, { apiKeyAuth: [] }],
    ...(version === '3.2' ? tagTree(info) : tagGroups(info)),
    paths,
    ...(operations.some(({ sendsEvents }) => sendsEvents) && {
      [hasWebhooks ? 'webhooks' : 'x-webhooks']: describeWebhooks(schemas),
    }),
    components: {
      schemas: schemas.components,
      parameters: parameters.components,
      headers: usedHeaders(headers, [paths, responses.components]),
      responses: responses.components,
      securitySchemes,
    },
  };
}

export const contact = { name: 'The developers of Petstore' };
export const license = { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' };

/** How a request carries an API key. */
export const securitySchemes = {
  bearerAuth: { type: 'http', scheme: 'bearer', description: 'An API key as `Authorization: Bearer KEY`.' },
  apiKeyAuth: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'An API key as `X-API-Key: KEY`.',
  },
};

interface Context {
  operations: readonly Operation[];
  schemas: Schemas;
  parameters: ParameterDescriptions;
  responses: ResponseDescriptions;
  baseUrl: string;
  /** Whether the document has messages to webhooks under `webhooks`, not as callbacks of an operation. */
  hasWebhooks: boolean;
}

/** The header components that a response refers to. */
function usedHeaders(headers: JsonObject, responses: object[]): JsonObject {
  const text = JSON.stringify(responses);
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => text.includes(`"#/components/headers/${name}"`)),
  );
}

const namesOf = (tags: readonly { name: string }[]) => tags.map(({ name }) => name);

/** Viewers show tags in groups by an extension. OpenAPI 3.2 has a hierarchy instead. */
const tagGroups = ({ guides, tags }: ApiInfo): JsonObject => ({
  tags: [...guides, ...tags.map(({ name, description }) => ({ name, description }))],
  'x-tagGroups': [
    ...(guides.length > 0 ? [{ name: 'Guides', tags: namesOf(guides) }] : []),
    { name: 'API', tags: namesOf(tags) },
  ],
});

function tagTree({ guides, tags }: ApiInfo): JsonObject {
  const nav = { kind: 'nav' };
  const group = { name: 'Guides', description: 'What all operations have in common.', ...nav };
  return {
    tags: [
      ...(guides.length > 0 ? [group] : []),
      { name: 'API', description: 'All operations.', ...nav },
      ...guides.map((guide) => ({ ...guide, parent: 'Guides', ...nav })),
      ...tags.map((tag) => ({ ...tag, parent: 'API', ...nav })),
    ],
  };
}

function describeOperation(operation: Operation, context: Context): JsonObject {
  const { id, tag, summary, stability, deprecated, hideTryItPanel, body, sendsEvents } = operation;
  const { schemas, parameters, responses, baseUrl, hasWebhooks } = context;
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
    ...marksForViewers(operation),
    ...(hideTryItPanel && { 'x-hideTryItPanel': true }),
    parameters: parameters.use(operation),
    ...(body && { requestBody: describeBody(operation, body, schemas) }),
    responses: responses.use(operation, context.operations),
    ...(sendsEvents && !hasWebhooks && { callbacks: describeCallbacks(schemas) }),
    ...(operation.isPublic && { security: [] }),
    'x-codeSamples': codeSamples(operation, baseUrl),
  };
}

/** Extensions of other tools about the stability of an operation: badges for Redoc, Scalar (`name`) and RapiDoc (`label`), the rest for Scalar and oasdiff. */
function marksForViewers({ stability, deprecated }: Operation): JsonObject {
  const texts = [...(stability ? [stability] : []), ...(deprecated ? [`sunset ${deprecated.sunset}`] : [])];
  if (texts.length === 0) return {};
  return {
    'x-badges': texts.map((text) => ({ name: text, label: text, color: '#9a6700' })),
    'x-scalar-stability': deprecated ? 'deprecated' : 'experimental',
    ...(stability && { 'x-stability-level': stability === 'beta' ? 'beta' : 'alpha' }),
  };
}

const stabilityNotes = {
  beta: '**Beta:** this operation may change, with notice.',
  experimental: '**Experimental:** this operation may change or be removed without notice.',
};

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

function describeBody(operation: Operation, body: TSchema, schemas: Schemas): JsonObject {
  const described = { schema: schemas.use(body), example: exampleOf(body, true) };
  const content = Object.fromEntries(mediaTypesOf(operation).map((type) => [type, described]));
  return { required: true, content };
}
