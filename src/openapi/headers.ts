import { bearerChallenge } from '../errors.ts';
import type { Fields } from '../field-names.ts';
import { entityTagsPattern, etagOf } from '../http/etag.ts';
import { keyPattern, maxKeyLength, rememberHours } from '../http/idempotency.ts';
import { jsonText } from '../http/json-text.ts';
import { requestIdPattern } from '../http/request-id.ts';
import { lifecycleHeaders } from '../lifecycle.ts';
import type { Quota } from '../limits/plans.ts';
import type { Operation } from '../operation.ts';
import { writeCursor } from '../page.ts';
import { exampleParams, examplePath } from './samples.ts';
import { exampleOf, type JsonObject } from './schemas.ts';

const text = (description: string, example: string): JsonObject => ({
  description,
  schema: { type: 'string' },
  example,
});

/** Text of a form, with or without an example. */
const formed = (description: string, pattern: string, example?: string): JsonObject => ({
  description,
  schema: { type: 'string', pattern },
  ...(example !== undefined && { example }),
});

/** The example of what the first operation that creates something answers. Nothing, if none does. */
function exampleResource(operations: readonly Operation[]): JsonObject {
  const schema = firstCreation(operations)?.schema;
  return schema ? (exampleOf(schema) as JsonObject) : {};
}

const firstCreation = (operations: readonly Operation[]): Operation['success'] | undefined =>
  operations.find(({ success }) => success.kind === 'created')?.success;

export type RequestHeader =
  | 'If-Match'
  | 'If-None-Match'
  | 'Idempotency-Key'
  | 'Last-Event-ID'
  | 'X-Request-Id';

/**
 * Header fields that operations take, by their names. Many tools send the example of each, so it must do no harm: `*`
 * is every state, the tag is none that the example resource is in, and a key that all use would be refused.
 */
export const requestHeaders = (operations: readonly Operation[]): Record<RequestHeader, JsonObject> => ({
  'If-Match': formed(
    'Change the resource only if its ETag is among these, or `*`; otherwise 412.',
    entityTagsPattern,
    '*',
  ),
  'If-None-Match': formed(
    'When reading, answer 304 if the ETag is among these, or `*`; when changing, refuse with 412.',
    entityTagsPattern,
    etagOf(jsonText({ ...exampleResource(operations), status: 'pending' })),
  ),
  'Idempotency-Key': formed(
    `Makes the request safe to repeat: for ${rememberHours} hours the same key with the same body gets the first answer again. It belongs to the API key that sends it. Take a new one for each request, such as a UUID: at most ${maxKeyLength} characters, bare or in double quotes. A refused request leaves the key unused.`,
    keyPattern,
  ),
  'Last-Event-ID': {
    description: 'The `id` that was received last, or 0: the stream goes on after it.',
    schema: { type: 'integer', format: 'int64', minimum: 0 },
    example: 0,
  },
  'X-Request-Id': formed(
    'An id for this request, in visible ASCII characters. The answer carries it, or a new one if this is none.',
    requestIdPattern,
    'walk-1',
  ),
});

/** Header fields of answers, for an API at `baseUrl` and a caller with these limits. */
export function answerHeaders(
  operations: readonly Operation[],
  baseUrl: string,
  { perMinute, perDay }: Quota,
): JsonObject {
  const hasBans = operations.some(({ errors }) => errors.includes('key_banned'));
  return {
    ...lifecycleComponents(operations, baseUrl),
    ETag: required(
      'A strong entity tag of the representation.',
      etagOf(jsonText(exampleResource(operations))),
    ),
    IdempotencyReplayed: text(
      '`true` when this repeats the first answer to the same Idempotency-Key.',
      'true',
    ),
    LastEventID: required(
      'The position in the history up to which the page has looked. As `after` it asks for what is new.',
      '20',
    ),
    LinkToFirst: text(
      'Where the oldest events are, with `rel="first"` (RFC 8288).',
      `<${baseUrl}/store/events>; rel="first"`,
    ),
    Link: text(
      'The next page, with `rel="next"` (RFC 8288); absent on the last page.',
      linkExample(operations, baseUrl),
    ),
    Location: required('Where the new resource is.', locationExample(operations, baseUrl)),
    RateLimit: required(
      'What is left in each window, and the seconds until it ends (draft-ietf-httpapi-ratelimit-headers).',
      `"minute";r=${perMinute - 1};t=42,"day";r=${perDay - 60};t=3600`,
    ),
    RateLimitPolicy: required(
      'The quota of each window and its length in seconds (draft-ietf-httpapi-ratelimit-headers).',
      `"minute";q=${perMinute};w=60,"day";q=${perDay};w=86400`,
    ),
    RetryAfter: requiredCount('Whole seconds after which to try again.', 1),
    WWWAuthenticate: required('How to authenticate (RFC 6750).', bearerChallenge),
    XRateLimitLimit: requiredCount('The limit of the window with the fewest requests left.', perMinute),
    XRateLimitRemaining: requiredCount('Requests remaining in that window.', perMinute - 1),
    XRateLimitReset: requiredCount(
      `Unix timestamp, in seconds, at which that limit resets${hasBans ? '; the end of a ban during one' : ''}.`,
      1_764_892_860,
    ),
    XRequestId: required(
      "The id of this request in the log: the caller's own X-Request-Id, or a new one.",
      'walk-1',
    ),
  };
}

/** Header fields of deprecated operations; the examples are what the first of them really sends. */
function lifecycleComponents(operations: readonly Operation[], baseUrl: string): JsonObject {
  const deprecated = operations.find((operation) => operation.deprecated);
  const headers = deprecated && lifecycleHeaders(deprecated, operations, baseUrl);
  if (!headers) return {};
  const example = headers(exampleParams(deprecated)) as Record<'Deprecation' | 'Sunset' | 'Link', string>;
  return {
    Deprecation: required(
      'When the operation was deprecated, as `@` and Unix seconds (RFC 9745).',
      example.Deprecation,
    ),
    LifecycleLink: required(
      'What to use instead, with `rel="successor-version"`, and what deprecation and sunset mean here, with `rel="deprecation"` (RFC 9745) and `rel="sunset"` (RFC 8594).',
      example.Link,
    ),
    ...(operations.some(isDeprecatedPage) && {
      LifecyclePageLink: required(
        'As LifecycleLink, and the next page, with `rel="next"` (RFC 8288), while more follows.',
        example.Link,
      ),
    }),
    Sunset: required('When the operation may be removed (RFC 8594).', example.Sunset),
  };
}

/** Where the example of the first operation that creates something would be. */
function locationExample(operations: readonly Operation[], baseUrl: string): string {
  return baseUrl + (firstCreation(operations)?.locationOf?.(exampleResource(operations)) ?? '');
}

/** How the example of the first list goes on. */
function linkExample(operations: readonly Operation[], baseUrl: string): string {
  const list = operations.find(({ success }) => success.kind === 'page');
  return list ? `<${baseUrl}${examplePath(list)}?cursor=${writeCursor(list.id, 20)}>; rel="next"` : baseUrl;
}

function required(description: string, example: string): JsonObject {
  return { ...text(description, example), required: true };
}

function requiredCount(description: string, example: number): JsonObject {
  return { description, schema: { type: 'integer', format: 'int64', minimum: 0 }, example, required: true };
}

/** Header fields, each with the component that describes it. */
const onEveryAnswer: Fields = {
  'X-Request-Id': 'XRequestId',
  'X-RateLimit-Limit': 'XRateLimitLimit',
  'X-RateLimit-Remaining': 'XRateLimitRemaining',
  'X-RateLimit-Reset': 'XRateLimitReset',
  RateLimit: 'RateLimit',
  'RateLimit-Policy': 'RateLimitPolicy',
};

const isDeprecatedPage = ({ deprecated, success }: Operation) =>
  deprecated !== undefined && success.kind === 'page';

const ofDeprecated: Fields = { Deprecation: 'Deprecation', Sunset: 'Sunset', Link: 'LifecycleLink' };

const ofSuccess: Record<Operation['success']['kind'], Fields> = {
  resource: { ETag: 'ETag' },
  created: { ETag: 'ETag', Location: 'Location' },
  accepted: {},
  page: { ETag: 'ETag', Link: 'Link' },
  empty: {},
  text: { ETag: 'ETag' },
  stream: {},
};

const ofError: Record<number, Fields> = {
  401: { 'WWW-Authenticate': 'WWWAuthenticate' },
  403: { 'Retry-After': 'RetryAfter' },
  410: { Link: 'LinkToFirst' },
  429: { 'Retry-After': 'RetryAfter' },
  503: { 'Retry-After': 'RetryAfter' },
};

/** The header fields of an operation's success. */
export function successHeaders(operation: Operation): Fields {
  const { success, deprecated, method } = operation;
  return {
    ...onEveryAnswer,
    ...ofSuccess[success.kind],
    ...(method === 'POST' && { 'Idempotency-Replayed': 'IdempotencyReplayed' }),
    ...Object.fromEntries((success.headers ?? []).map((name) => [name, name.replaceAll('-', '')])),
    ...(deprecated && ofDeprecated),
    ...(isDeprecatedPage(operation) && { Link: 'LifecyclePageLink' }),
  };
}

/** The header fields of an error, of any operation or of this one. */
export function errorHeaders(status: number, operation?: Operation): Fields {
  return { ...onEveryAnswer, ...ofError[status], ...(operation?.deprecated && ofDeprecated) };
}

/** Whether an operation answers 304 to a caller that has what it would send. */
export const isConditionalRead = ({ method, success }: Operation) =>
  method === 'GET' && 'ETag' in ofSuccess[success.kind];

/** References to the components of header fields. */
export const refs = (headers: Fields): JsonObject =>
  Object.fromEntries(
    Object.entries(headers).map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }]),
  );

/** The header fields that an operation takes. */
export function requestHeadersOf(operation: Operation): RequestHeader[] {
  const { method, success } = operation;
  const isChange = method === 'PUT' || method === 'PATCH' || method === 'DELETE';
  return [
    ...(isChange ? (['If-Match'] as const) : []),
    ...(isChange || isConditionalRead(operation) ? (['If-None-Match'] as const) : []),
    ...(method === 'POST' ? (['Idempotency-Key'] as const) : []),
    ...(success.kind === 'stream' ? (['Last-Event-ID'] as const) : []),
    'X-Request-Id',
  ];
}
