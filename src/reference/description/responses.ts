import type { TSchema } from 'typebox';
import {
  ApiError,
  bearerChallenge,
  type ErrorCode,
  errorCodes,
  problemDetailsOf,
} from '../../foundation/errors.ts';
import type { Fields } from '../../foundation/field-names.ts';
import { ErrorBody, ProblemBody } from '../../foundation/schema.ts';
import type { Quota } from '../../foundation/settings/plans.ts';
import { etagOf } from '../../http/etag.ts';
import { maxRequestIdLength } from '../../http/headers.ts';
import { jsonText } from '../../http/json.ts';
import { type Operation, pathOfCreated } from '../../http/operation.ts';
import { maxLimit, writeCursor } from '../../http/pagination.ts';
import { reasonPhrase } from '../../http/server-response.ts';
import type { Fault } from '../../lab/faults/shared/fault.ts';
import { petstoreApi } from '../../lab/petstore/petstore-api.ts';
import { lifecycleHeaders } from '../../observe/deprecation.ts';
import { StreamedEvent } from './messages.ts';
import { exampleParams, examplePath } from './samples.ts';
import { exampleOf, type JsonObject, type Schemas } from './schemas.ts';

/** Errors of requests that fail before their operation is known. */
const statusesBeforeRouting = [408, 431, 505];

/** The form in which responses are described. */
interface Forms {
  /** Streams are described by their items, as OpenAPI 3.2 can. */
  hasItems: boolean;
  /** Errors are described as problems too. Generators that read OpenAPI 3.0 expect one form. */
  hasProblems: boolean;
}

/**
 * Describes the responses of operations. Each set of error codes with one status is a component, named after the codes. Deprecated
 * operations have more headers, and so error responses of their own.
 */
export class ResponseDescriptions {
  /** Error responses. */
  readonly components: JsonObject = {};
  readonly #schemas: Schemas;
  readonly #faults: readonly Fault[];
  readonly #errorPages: string;
  readonly #forms: Forms;

  constructor(schemas: Schemas, faults: readonly Fault[], errorPages: string, forms: Forms) {
    this.#schemas = schemas;
    this.#faults = faults;
    this.#errorPages = errorPages;
    this.#forms = forms;
  }

  /** The responses of an operation, by their statuses. They link to other `operations`. */
  use(operation: Operation, operations: readonly Operation[]): JsonObject {
    const { success } = operation;
    const headers = refs(successHeaders(operation));
    const content = success.schema && { [mediaTypeOf(success)]: this.#content(success.kind, success.schema) };
    return {
      [success.status]: {
        description: success.description,
        headers,
        ...(content && { content }),
        ...linksOf(operation, operations),
      },
      ...(isConditionalRead(operation) && {
        '304': { description: 'The client already has the current representation.', headers },
      }),
      ...this.#errors(operation),
    };
  }

  #content(kind: Operation['success']['kind'], schema: TSchema): JsonObject {
    const example = exampleOf(schema);
    if (kind === 'page')
      return { schema: this.#schemas.use({ ...schema, maxItems: maxLimit } as TSchema), example };
    return kind === 'stream' && this.#forms.hasItems
      ? {
          itemSchema: this.#schemas.use(StreamedEvent),
          examples: { stream: { summary: 'The start of a stream', serializedValue: example } },
        }
      : { schema: this.#schemas.use(schema), example };
  }

  /** Its own errors, and those of the faults that fit it. */
  #errors(operation: Operation): JsonObject {
    const ofFaults = this.#faults.flatMap(({ fits, errors = [] }) =>
      fits(operation, petstoreApi) ? errors : [],
    );
    const responses = [...codesByStatus([...operation.errors, ...ofFaults])].map(([status, codes]) => {
      const isOwn = (operation.deprecated && !statusesBeforeRouting.includes(status)) || operation.isPublic;
      return [status, isOwn ? this.#error(status, codes, operation) : this.#component(status, codes)];
    });
    return Object.fromEntries(responses);
  }

  #component(status: number, codes: ErrorCode[]): JsonObject {
    const name = codes.map(inPascalCase).join('Or');
    this.components[name] ??= this.#error(status, codes);
    return { $ref: `#/components/responses/${name}` };
  }

  /** The examples and the guide on errors explain each code, so the description is short. */
  #error(status: number, codes: ErrorCode[], operation?: Operation): JsonObject {
    const errors = codes.map((code) => exampleError(code));
    const examples = (bodyOf: (error: ApiError) => object) =>
      Object.fromEntries(errors.map((error) => [error.code, { value: bodyOf(error) as JsonObject }]));
    return {
      description: `${reasonPhrase(status)}.`,
      headers: refs(errorHeaders(status, codes, operation)),
      content: {
        'application/json': {
          schema: this.#schemas.use(ErrorBody),
          examples: examples(({ body }) => body),
        },
        ...(this.#forms.hasProblems && {
          'application/problem+json': {
            schema: this.#schemas.use(ProblemBody),
            examples: examples((error) => problemDetailsOf(error, this.#errorPages)),
          },
        }),
      },
    };
  }
}

/** An error of this code, as examples show it. */
export function exampleError(code: ErrorCode): ApiError {
  const facts = code === 'rate_limited' ? { violatedPolicies: ['minute'] } : {};
  return new ApiError(code, errorCodes[code][1], {}, facts);
}

/** The codes in the order of their declaration. */
const codesByStatus = (errors: readonly ErrorCode[]): Map<number, ErrorCode[]> =>
  Map.groupBy(
    (Object.keys(errorCodes) as ErrorCode[]).filter((code) => errors.includes(code)),
    (code) => errorCodes[code][0],
  );

/** `NotFound` for `not_found`. */
const inPascalCase = (code: string) => code.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());

/** Without parameters, since tools compare it with the `Content-Type` of a response. */
const mediaTypeOf = ({ kind, mediaType = 'application/json' }: Operation['success']) =>
  kind === 'stream' ? 'text/event-stream' : (mediaType.split(';')[0] as string);

export const textHeader = (description: string, example: string): JsonObject => ({
  description,
  schema: { type: 'string' },
  example,
});

/** The example resource of the first operation that creates one, or an empty object. */
export function exampleResource(operations: readonly Operation[]): JsonObject {
  const schema = firstCreation(operations)?.success.schema;
  return schema ? (exampleOf(schema) as JsonObject) : {};
}

const firstCreation = (operations: readonly Operation[]): Operation | undefined =>
  operations.find(({ success }) => success.kind === 'created');

/** The components of response headers that `use` refers to, for an API at `baseUrl` and a caller with this quota. */
export function responseHeaders(
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
    IdempotencyReplayed: textHeader(
      '`true` if this is a replay of the first response for the same Idempotency-Key.',
      'true',
    ),
    LastEventID: required(
      'The last position in the history that the page has scanned. Send it as `after` to get newer events.',
      '20',
    ),
    LinkToFirst: textHeader(
      'The URL of the oldest events, with `rel="first"` (RFC 8288).',
      `<${baseUrl}/store/events>; rel="first"`,
    ),
    Link: textHeader(
      'The next page, with `rel="next"` (RFC 8288); absent on the last page.',
      linkExample(operations, baseUrl),
    ),
    Location: required('The URL of the new resource.', locationExample(operations, baseUrl)),
    RateLimit: required(
      'Requests remaining in each window, and seconds until it ends (draft-ietf-httpapi-ratelimit-headers).',
      `"minute";r=${perMinute - 1};t=42,"day";r=${perDay - 60};t=3600`,
    ),
    RateLimitPolicy: required(
      'The quota of each window and its length in seconds (draft-ietf-httpapi-ratelimit-headers).',
      `"minute";q=${perMinute};w=60,"day";q=${perDay};w=86400`,
    ),
    RetryAfter: requiredCount('Whole seconds to wait before a retry.', 1),
    RetryAfterInUse: {
      ...requiredCount('Whole seconds to wait before a retry, with `idempotency_key_in_use`.', 1),
      required: false,
    },
    RetryAfterIfTemporary: {
      ...requiredCount('Whole seconds to wait before a retry, if the refusal is temporary.', 1),
      required: false,
    },
    WWWAuthenticate: required('How to authenticate (RFC 6750).', bearerChallenge),
    XRateLimitLimit: requiredCount('The limit of the window with the fewest requests left.', perMinute),
    XRateLimitRemaining: requiredCount('Requests remaining in that window.', perMinute - 1),
    XRateLimitReset: requiredCount(
      `Unix timestamp, in seconds, at which that limit resets${hasBans ? '; during a ban, the end of the ban' : ''}.`,
      1_764_892_860,
    ),
    XRequestId: {
      ...required(
        "The id of this request in the log: the caller's own X-Request-Id, or a new one.",
        'walk-1',
      ),
      schema: { type: 'string', minLength: 1, maxLength: maxRequestIdLength },
    },
  };
}

/** Headers of deprecated operations, with the examples of the first one. */
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
      'The successor, with `rel="successor-version"`, and documentation of the deprecation and the sunset, with `rel="deprecation"` (RFC 9745) and `rel="sunset"` (RFC 8594).',
      example.Link,
    ),
    ...(operations.some(isDeprecatedPage) && {
      LifecyclePageLink: required(
        'Like LifecycleLink. If more items follow, also the next page, with `rel="next"` (RFC 8288).',
        example.Link,
      ),
    }),
    Sunset: required('When the operation may be removed (RFC 8594).', example.Sunset),
  };
}

function locationExample(operations: readonly Operation[], baseUrl: string): string {
  const creation = firstCreation(operations);
  return baseUrl + (creation ? pathOfCreated(creation, exampleResource(operations) as { id: number }) : '');
}

function linkExample(operations: readonly Operation[], baseUrl: string): string {
  const list = operations.find(({ success }) => success.kind === 'page');
  return list ? `<${baseUrl}${examplePath(list)}?cursor=${writeCursor(list.id, 20)}>; rel="next"` : baseUrl;
}

function required(description: string, example: string): JsonObject {
  return { ...textHeader(description, example), required: true };
}

function requiredCount(description: string, example: number): JsonObject {
  return { description, schema: { type: 'integer', format: 'int64', minimum: 0 }, example, required: true };
}

/** Headers, each with the name of its component. */
const onEveryResponse: Fields = {
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
  untagged: {},
  page: { ETag: 'ETag', Link: 'Link' },
  empty: {},
  text: { ETag: 'ETag' },
  stream: {},
};

const ofError: Record<number, Fields> = {
  401: { 'WWW-Authenticate': 'WWWAuthenticate' },
  410: { Link: 'LinkToFirst' },
  429: { 'Retry-After': 'RetryAfter' },
  503: { 'Retry-After': 'RetryAfter' },
};

/** Headers of every response of an operation. */
const commonHeadersOf = ({ isPublic }: Pick<Operation, 'isPublic'>): Fields =>
  isPublic ? { 'X-Request-Id': 'XRequestId' } : onEveryResponse;

function successHeaders(operation: Operation): Fields {
  const { success, deprecated, method } = operation;
  return {
    ...commonHeadersOf(operation),
    ...ofSuccess[success.kind],
    ...(method === 'POST' && { 'Idempotency-Replayed': 'IdempotencyReplayed' }),
    ...Object.fromEntries((success.headers ?? []).map((name) => [name, name.replaceAll('-', '')])),
    ...(deprecated && ofDeprecated),
    ...(isDeprecatedPage(operation) && { Link: 'LifecyclePageLink' }),
  };
}

function errorHeaders(status: number, codes: ErrorCode[], operation?: Operation): Fields {
  return {
    ...commonHeadersOf(operation ?? {}),
    ...ofError[status],
    ...(status === 403 && {
      'Retry-After': codes.every((code) => code === 'key_banned') ? 'RetryAfter' : 'RetryAfterIfTemporary',
    }),
    ...(codes.includes('idempotency_key_in_use') && { 'Retry-After': 'RetryAfterInUse' }),
    ...(operation?.deprecated && ofDeprecated),
  };
}

/** Whether an operation returns 304 to a client that has the current representation. */
export const isConditionalRead = ({ method, success }: Operation) =>
  method === 'GET' && 'ETag' in ofSuccess[success.kind];

const refs = (headers: Fields): JsonObject =>
  Object.fromEntries(
    Object.entries(headers).map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }]),
  );

/** Links from a new resource to the operations on it, by its id. */
function linksOf({ path, success }: Operation, operations: readonly Operation[]): JsonObject {
  if (success.kind !== 'created') return {};
  const onIt = operations.filter(
    (other) => other.path.replace(/\/\{\w+\}$/, '') === path && other.path !== path,
  );
  const links = onIt.map(({ id, params }) => {
    const parameters = Object.keys(params).map((name) => [name, '$response.body#/id']);
    return [id, { operationId: id, parameters: Object.fromEntries(parameters) }];
  });
  return { links: Object.fromEntries(links) };
}
