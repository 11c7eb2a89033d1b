import assert from 'node:assert/strict';
import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { accountsOperations } from '../../src/accounts/operations.ts';
import { operations } from '../../src/api/operations.ts';
import { type ErrorCode, errorCodes } from '../../src/foundation/errors.ts';
import type { Operation } from '../../src/http/operation.ts';
import { labUrlOf, rootUrlOf } from '../../src/http/target.ts';
import { faultNamed } from '../../src/lab/faults/list.ts';
import type { Fault } from '../../src/lab/faults/shared/fault.ts';
import { labOperations } from '../../src/lab/petstore/petstore-api.ts';
import { describeAccounts, describeLab, describeStore } from '../../src/reference/description/apis.ts';
import type { JsonObject, OpenapiVersion } from '../../src/reference/description/schemas.ts';

export const baseUrl = 'http://localhost:8080/v1';

/** The served description of a version. Responses are checked against it with Ajv, which the service does not use. */
export const storeIn = (version: OpenapiVersion) =>
  JSON.parse(JSON.stringify(describeStore(operations, baseUrl, { version })));
export const description = storeIn('3.0');

/** The served description of the lab of a version. */
export const labIn = (version: OpenapiVersion) =>
  JSON.parse(JSON.stringify(describeLab(baseUrl, { version })));
export const labDescription = labIn('3.0');

/** The served description of the accounts of a version. */
export const accountsIn = (version: OpenapiVersion) =>
  JSON.parse(JSON.stringify(describeAccounts(baseUrl, { version })));
export const accountsDescription = accountsIn('3.0');

/** The same descriptions in OpenAPI 3.1. */
export const inJsonSchema = new Map<Described, Described>([
  [description, storeIn('3.1')],
  [labDescription, labIn('3.1')],
  [accountsDescription, accountsIn('3.1')],
]);

/** An API of the service: its operations, and its own description. */
export interface Api {
  start: string;
  url: string;
  operations: readonly Operation[];
  description: Described;
}

/** The store and the lab, whose operations all take a key. */
export const apis: readonly [store: Api, lab: Api] = [
  { start: '/v1', url: baseUrl, operations, description },
  { start: '/lab', url: labUrlOf(baseUrl), operations: labOperations, description: labDescription },
];

/** The API about accounts. Its operations create, change and delete the key that calls them. */
export const accountsApi: Api = {
  start: '/accounts',
  url: rootUrlOf(baseUrl),
  operations: accountsOperations,
  description: accountsDescription,
};

type Described = typeof description;

export interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

const options = { strict: false, allErrors: true, validateSchema: false };
const [ajv, ajv2020] = [new Ajv(options), new Ajv2020(options)];
for (const one of [ajv, ajv2020]) addFormats.default(one);
const ajvOf = ({ openapi }: Described) => (openapi.startsWith('3.0') ? ajv : ajv2020);

/** A schema for Ajv: its references name the API. Each component is compiled once, when the first response needs it. */
const named = (document: Described, schema: object) =>
  JSON.parse(
    JSON.stringify(schema).replaceAll('"#/components/schemas/', `"${document.servers[0].url}/schemas/`),
  );

for (const document of [...inJsonSchema].flat()) {
  for (const [name, schema] of Object.entries<JsonObject>(document.components.schemas)) {
    // Responses must have only declared properties.
    const closed = { ...schema, ...(schema.type === 'object' && { additionalProperties: false }) };
    ajvOf(document).addSchema(named(document, closed), `${document.servers[0].url}/schemas/${name}`);
  }
}

/** Whether a fault of a response deliberately violates the description. */
export const isUndescribed = (part: 'values' | 'body' | 'Retry-After', answer: Answer): boolean =>
  faultsIn(answer).some(({ undescribed }) => undescribed?.includes(part));

/** The faults of a response. */
const faultsIn = ({ headers }: Answer): Fault[] =>
  (headers['petstore-rehearsal'] ?? '')
    .split(', ')
    .flatMap((member) => faultNamed(member.split('; fault=')[1] ?? '') ?? []);

/** Asserts that the description allows this response to this request, except for changes by faults. */
export function assertAsDescribed(method: string, url: string, given: Answer): void {
  const answer = isUndescribed('Retry-After', given)
    ? { ...given, headers: { ...given.headers, 'retry-after': '1' } }
    : given;
  const encoded = url.replace(/^https?:\/\/[^/]*/, '').split(/[?#]/, 1)[0] as string;
  const path = encoded
    .split('/')
    .map((segment) => decoded(segment) ?? segment)
    .join('/')
    // A redirected operation responds as described.
    .replace(/^\/v1\/moved\/[\w-]{8,64}(?=\/)/, '/v1');
  const { status, text } = answer;
  const isWhole = method !== 'HEAD' && status !== 304 && !isUndescribed('body', answer);
  if (isJson(answer) && isWhole)
    assert.match(text, /\S\n$/, `${method} ${url}: the text does not end with a newline`);
  const isLabPage = /^\/lab(\/|\/([\w-]{27}\/)?page\.(js|css))?$/.test(path);
  const isForAccounts = /^\/accounts(\/|$)/.test(path);
  const isForApi = (/^\/(v1|lab)\//.test(path) || isForAccounts) && !isLabPage;
  const ofKeys = path.startsWith('/lab') ? labDescription : description;
  const document = isForAccounts ? accountsDescription : ofKeys;
  if (!isForApi) {
    // Web pages of other origins must not read anything outside the API.
    const permissions = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));
    assert.deepEqual(permissions, [], `${method} ${url}`);
  }
  if (!isForApi || /^\/(v1|lab|accounts)\/(openapi(-3\.\d)?|asyncapi|arazzo)\.(json|yaml)$/.test(path))
    return;
  const what = `${method} ${url} -> ${status} ${text}`;
  assert.ok(answer.headers['x-request-id'], `${what}: no X-Request-Id`);
  assert.equal(answer.headers['access-control-allow-origin'], '*', what);
  const isPublic = path === '/accounts';
  if ((status !== 204 || method !== 'OPTIONS') && !isPublic) assertLimitHeaders(what, answer, isForAccounts);
  if (faultsIn(answer).some(({ gatewayStatus }) => gatewayStatus === status)) {
    assert.equal(answer.headers['content-type'], 'text/html', what);
    return;
  }
  if (faultsIn(answer).some(({ redirects }) => redirects) && [307, 308].includes(status)) {
    assert.ok(answer.headers.location, what);
    return;
  }
  const isDecodable = decoded(encoded) !== undefined;
  const find = (document: Described) =>
    isDecodable ? findResponse(document, method, path, status) : undefined;
  const response = find(document);
  // Every 401 has the challenge that the guide to authentication shows, from any part of the service.
  if (status === 401)
    assert.match(
      answer.headers['www-authenticate'] ?? '',
      /^Bearer realm="petstore"(, error="invalid_token")?$/,
      what,
    );
  if (!response) {
    assertUndescribed(what, method, answer);
    return;
  }
  // OpenAPI 3.0 describes one form of errors.
  if (!isProblem(answer)) assertResponse(what, document, response, method, answer);
  const other = inJsonSchema.get(document);
  assertResponse(`${what} in OpenAPI 3.1`, other, find(other) as JsonObject, method, answer);
}

/** The paths of each document with their patterns. A path without parameters precedes those with parameters that match it. */
const pathsOf = new Map(
  [...inJsonSchema].flat().map((document) => {
    const start = new URL(document.servers[0].url).pathname.replace(/^\/$/, '');
    const paths = Object.entries<JsonObject>(document.paths)
      .sort(([a], [b]) => Number(a.includes('{')) - Number(b.includes('{')))
      .map(([template, item]) => ({
        pattern: new RegExp(`^${start}${template.replace(/{\w+}/g, '[^/]+')}$`),
        item,
      }));
    return [document, paths];
  }),
);

/** The Response Object for this response; undefined if the description has no such operation. */
function findResponse(
  document: Described,
  method: string,
  path: string,
  status: number,
): JsonObject | undefined {
  const item = pathsOf.get(document)?.find(({ pattern }) => pattern.test(path))?.item;
  const operation = item?.[method === 'HEAD' ? 'get' : method.toLowerCase()] as Described | undefined;
  if (!operation) return undefined;
  const response = operation.responses[status];
  assert.ok(response, `${operation.operationId} does not describe status ${status}`);
  return resolve(response, document);
}

function assertResponse(
  what: string,
  document: Described,
  response: JsonObject,
  method: string,
  answer: Answer,
): void {
  assertHeaders(what, document, (response.headers ?? {}) as Record<string, JsonObject>, answer.headers);
  const content = response.content as Record<string, { schema: JsonObject }> | undefined;
  if (!content || method === 'HEAD') {
    assert.equal(answer.text, '', `${what}: no body is described`);
    return;
  }
  const mediaType = answer.headers['content-type']?.split(';')[0] as string;
  assert.ok(content[mediaType], `${what}: ${mediaType} is not described`);
  if (isUndescribed('values', answer) || isUndescribed('body', answer)) return;
  if (mediaType === 'text/event-stream') {
    assertStream(what, document, answer.text);
    return;
  }
  if (!isJson(answer)) return;
  const body = JSON.parse(answer.text);
  const validate = validator(content[mediaType].schema, document);
  assert.ok(validate(body), `${what}: ${ajv.errorsText(validate.errors)}`);
  if (answer.status < 400) return;
  assertError(what, answer);
  const { examples } = content[mediaType] as { examples?: object };
  const { code } = body as { code: string };
  assert.ok(code in (examples ?? {}), `${what}: the operation does not describe ${code}`);
}

/** The complete blocks of a stream, without the lines that belong to none: the reconnection time and comments. */
export const eventBlocksOf = (text: string) =>
  text
    .replaceAll(/^(?:retry: \d+|:)\n/gm, '')
    .split('\n\n')
    .slice(0, -1);

/** The received part of a stream begins with `retry`. Complete events have an id, a type and the event on one line, in the order of ids. */
function assertStream(what: string, document: Described, text: string): void {
  assert.match(text, /^retry: \d+\n/, what);
  let last = 0;
  for (const block of eventBlocksOf(text)) {
    const [, id, type, data] = /^id: (\d+)(?:\nevent: (\S+)\ndata: (.+))?$/.exec(block) ?? [];
    assert.ok(Number(id) > last, `${what}: ${block} after ${last}`);
    last = Number(id);
    if (data === undefined) continue;
    const event = JSON.parse(data);
    assert.deepEqual([String(event.id), event.type], [id, type], `${what}: ${block}`);
    const validate = validator({ $ref: '#/components/schemas/Event' }, document);
    assert.ok(validate(event), `${what}: ${block}: ${ajv.errorsText(validate.errors)}`);
  }
}

/** Every required header of the description is present, and no described header appears where it is not described. */
function assertHeaders(
  what: string,
  document: Described,
  described: Record<string, JsonObject>,
  headers: Record<string, string>,
): void {
  for (const [name, reference] of Object.entries(described)) {
    const { required, schema } = resolve(reference, document) as { required?: boolean; schema: JsonObject };
    const value = headers[name.toLowerCase()];
    if (required) assert.ok(value, `${what}: ${name} is missing`);
    const parsed = schema.type === 'integer' ? Number(value) : value;
    if (value !== undefined) assert.ok(validator(schema, document)(parsed), `${what}: ${name} is ${value}`);
  }
  const names = Object.keys(described).map((name) => name.toLowerCase());
  for (const name of knownHeaders) {
    assert.ok(names.includes(name) || !(name in headers), `${what}: ${name} is not described`);
  }
}

const knownHeaders =
  'etag location link idempotency-replayed deprecation sunset retry-after www-authenticate'.split(' ');

/** Responses outside operations: OPTIONS, and errors about the path or the method. */
function assertUndescribed(what: string, method: string, answer: Answer): void {
  if (method === 'OPTIONS' && answer.status === 204) {
    // A preflight is not counted; any other OPTIONS is.
    if ('x-ratelimit-limit' in answer.headers) assertLimitHeaders(what, answer);
    assert.ok(answer.headers.allow, `${what}: Allow is missing`);
    assert.equal(answer.text, '');
    return;
  }
  assert.ok([400, 401, 403, 404, 405, 429].includes(answer.status), what);
  for (const name of ['deprecation', 'sunset']) assert.ok(!(name in answer.headers), `${what}: ${name}`);
  if (answer.status === 405) assert.ok(answer.headers.allow, `${what}: Allow is missing`);
  if (method !== 'HEAD') assertError(what, answer);
}

/** Without an operation, the limit headers are still the usual ones. */
export function assertLimitHeaders(what: string, { status, headers }: Answer, isForAccounts = false): void {
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
    assert.match(headers[name] ?? '', /^\d+$/, `${what}: ${name}`);
  }
  assert.match(headers['ratelimit-policy'] ?? '', /^"minute";q=\d+;w=60,"day";q=\d+;w=86400$/, what);
  assert.match(headers.ratelimit ?? '', /^"minute";r=\d+;t=\d+,"day";r=\d+;t=\d+$/, what);
  if (status === 429 || (status === 403 && !isForAccounts))
    assert.match(headers['retry-after'] ?? '', /^[1-9]\d*$/, what);
}

const isProblem = ({ headers }: Answer) => headers['content-type'] === 'application/problem+json';

/** Whether the body of a response is JSON. */
export const isJson = (answer: Answer) =>
  isProblem(answer) || /^application\/json/.test(answer.headers['content-type'] ?? '');

/** An error is an Error object or a problem, and Vary names the request header that chose it. */
export function assertError(what: string, answer: Answer): void {
  const body: { code: ErrorCode; status: number } = JSON.parse(answer.text);
  const [document, schema] = isProblem(answer)
    ? [inJsonSchema.get(description), 'Problem']
    : [description, 'Error'];
  const validate = validator({ $ref: `#/components/schemas/${schema}` }, document);
  assert.ok(validate(body), `${what}: ${ajv.errorsText(validate.errors)}`);
  assert.equal(body.status, answer.status, what);
  assert.equal(errorCodes[body.code]?.[0], answer.status, `${what}: unknown code`);
  assert.ok(isJson(answer), what);
  assert.equal(answer.headers.vary?.toLowerCase(), 'accept', what);
}

const validators = new Map<string, ValidateFunction>();

/** A validator for a schema of the description, compiled once. */
export function validator(schema: JsonObject, document: Described = description): ValidateFunction {
  const { openapi, servers } = document;
  const key = `${openapi} ${servers[0].url} ${JSON.stringify(schema)}`;
  let validate = validators.get(key);
  if (!validate) {
    validate = ajvOf(document).compile(named(document, schema));
    validators.set(key, validate);
  }
  return validate;
}

/** Resolves a `$ref` within a description. */
export function resolve(value: JsonObject, document: Described = description): JsonObject {
  if (typeof value.$ref !== 'string') return value;
  return value.$ref
    .slice(2)
    .split('/')
    .reduce((at: JsonObject, name) => at[name] as JsonObject, document);
}

/** The properties of a schema that a request may have: all but the read-only ones. */
export const writableIn = ({ properties }: JsonObject) =>
  Object.entries(properties as Record<string, JsonObject>).filter(([, property]) => !property.readOnly);

/** A decoded path, in which encoded slashes separate nothing; undefined if it is malformed. */
export function decoded(path: string): string | undefined {
  try {
    return decodeURI(path);
  } catch {
    return undefined;
  }
}
