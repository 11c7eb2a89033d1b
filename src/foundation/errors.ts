import { maxBodyBytes, maxHeaderBytes, maxValues } from './bounds.ts';
import type { Fields } from './field-names.ts';
import { withoutKeys } from './redact.ts';
import { grouped, kibibytes } from './words.ts';

/** Every error code, with its HTTP status and its meaning. */
export const errorCodes = {
  invalid_json: [400, 'The body is not valid JSON.'],
  invalid_request: [
    400,
    'The request breaks a rule of the description. The message names the wrong fields, at most ten.',
  ],
  invalid_reference: [400, 'The body names a category or pet that does not exist.'],
  unauthorized: [401, 'The API key is missing, malformed, unknown or revoked.'],
  key_banned: [403, 'The API key is banned for a while: a client kept sending after 429.'],
  invite_invalid: [403, 'The invite is unknown, has ended or has expired.'],
  invite_used_up: [403, 'All uses of the invite are taken.'],
  signup_closed: [403, 'Nobody can create a key without an invite, or not at the moment.'],
  plan_by_agreement: [403, 'The key cannot change to this plan by itself.'],
  account_kept: [403, 'Only the operator can delete this workspace, or change this secret.'],
  not_found: [404, 'The path or the id in it does not exist.'],
  method_not_allowed: [405, 'The path exists, but not with this method.'],
  request_timeout: [408, 'The request did not arrive in time.'],
  conflict: [409, 'The state of the resource does not allow the change.'],
  idempotency_key_in_use: [409, 'A request with this Idempotency-Key is still in progress.'],
  insufficient_stock: [409, 'The pet has too few units in stock.'],
  order_complete: [409, 'The order is complete and cannot change.'],
  gone: [410, 'The sunset of the operation has passed, and it is no longer served.'],
  events_expired: [410, 'The events after this position are no longer stored.'],
  precondition_failed: [412, 'The resource does not meet If-Match or If-None-Match.'],
  payload_too_large: [
    413,
    `The body is larger than ${kibibytes(maxBodyBytes)}, or has more than ${grouped(maxValues)} values.`,
  ],
  unsupported_media_type: [415, 'The operation does not accept this Content-Type.'],
  idempotency_key_reused: [422, 'The Idempotency-Key was used with another request.'],
  rate_limited: [
    429,
    'A limit of the plan is used up. Retry-After says when to try again. The guide "Rate limits" says how to get higher limits.',
  ],
  headers_too_large: [431, `The headers are larger than ${kibibytes(maxHeaderBytes)}.`],
  internal_error: [500, 'The service failed. The log has the failure under the request id.'],
  unavailable: [503, 'The storage is unavailable at the moment.'],
  http_version_not_supported: [505, 'The request is not HTTP/1.1 or HTTP/1.0.'],
} as const satisfies Record<string, readonly [status: number, when: string]>;

export type ErrorCode = keyof typeof errorCodes;

/** A message, or a function that makes it from a formatter of ids. */
type Message = string | ((id: (id: unknown) => string) => string);

/** The place of a value: its JSON Pointer in the body, as a URI fragment (RFC 6901, section 6), or its name elsewhere. */
export type ValuePlace = { pointer: string } | { parameter: string } | { header: string };

/** The name of a value in messages, and its place. */
export interface ValueSubject {
  subject: string;
  place: ValuePlace;
}

/** What is wrong with one value. */
export interface ValueProblem extends Partial<ValueSubject> {
  /** Follows the subject in a message. */
  detail: string;
}

interface ErrorDetails extends ErrorOptions {
  /** Wrong values. If one has no detail, the message says what is wrong. */
  problems?: readonly Partial<ValueProblem>[];
  /** The quota policies of `RateLimit-Policy` that are used up. */
  violatedPolicies?: readonly string[];
}

/** The most bytes of a refusal, with everything around its message. */
export const maxRefusalBytes = 2_000;
/** The most bytes of a message within JSON. */
export const maxMessageBytes = 1_700;
/** How many wrong values a message names. */
export const maxNamed = 10;

const sizeOf = (message: string) => Buffer.byteLength(JSON.stringify(message));

/** Cuts a message to a size within JSON, in bytes, whatever text of a caller it quotes. */
export function shortMessage(message: string, maxBytes = maxMessageBytes): string {
  const bytes = sizeOf(message);
  if (bytes <= maxBytes) return message;
  const kept = message.slice(0, (message.length * maxBytes) / bytes - 4);
  return shortMessage(`${kept}…`.toWellFormed(), maxBytes);
}

/** An error that is sent to the caller, by its code. Its message is cut and has no API key. Its `cause` is only logged. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly headers: Fields;
  readonly #says: Message;
  readonly problems: readonly Partial<ValueProblem>[];
  readonly violatedPolicies: readonly string[];
  readonly #details: ErrorDetails;

  constructor(code: ErrorCode, says: Message, headers: Fields = {}, details: ErrorDetails = {}) {
    super(shortMessage(withoutKeys(typeof says === 'string' ? says : says(String))), details);
    this.code = code;
    this.headers = headers;
    this.#says = says;
    this.problems = details.problems ?? [];
    this.violatedPolicies = details.violatedPolicies ?? [];
    this.#details = details;
  }

  /** The same error with its ids formatted by `show`. */
  withIds(show: (id: string) => string): ApiError {
    const says = this.#says;
    if (typeof says === 'string') return this;
    const shown = says((id) => show(String(id)));
    return new ApiError(this.code, shown, this.headers, this.#details);
  }

  /** The same error with other headers. */
  withHeaders(headers: Fields): ApiError {
    return new ApiError(this.code, this.#says, headers, this.#details);
  }

  get status(): number {
    return errorCodes[this.code][0];
  }

  /** The Error object that is sent. */
  get body() {
    return { code: this.code, message: this.message, status: this.status };
  }
}

/** The error for values that break rules of the description. Its message names the first ones, as many as fit. */
export function invalidRequest(problems: readonly ValueProblem[]): ApiError {
  const named = problems.slice(0, maxNamed);
  const messageOf = () => {
    const sentences = named.map(({ subject, detail }) => (subject ? `${subject} ${detail}` : detail));
    const more = problems.length - named.length;
    if (more > 0) sentences.push(`${more} more ${more === 1 ? 'value is' : 'values are'} wrong`);
    return `${sentences.join('. ')}.`;
  };
  while (named.length > 1 && sizeOf(messageOf()) > maxMessageBytes) named.pop();
  return new ApiError('invalid_request', messageOf(), {}, { problems: named });
}

/** An error about one value. */
export const errorAt = (
  place: ValuePlace,
  code: ErrorCode,
  says: Message,
  headers?: Fields,
  options?: ErrorOptions,
) => new ApiError(code, says, headers, { ...options, problems: [{ place }] });

/** A part of the body, at this path of names and indexes. */
export function bodyProperty(...path: (string | number)[]): ValueSubject {
  const name = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  const tokens = path.map((step) =>
    encodeURIComponent(String(step).replaceAll('~', '~0').replaceAll('/', '~1')),
  );
  return {
    subject: `Body property ${name.slice(1)}`,
    place: { pointer: ['#', ...tokens].join('/') },
  };
}

/** The challenge of a 401 (RFC 6750, section 3). */
export const bearerChallenge = 'Bearer realm="petstore"';

/** The error for a request without a valid key. `invalid_token`: a key was sent (RFC 6750, section 3.1). */
export function unauthorized(message: string, error?: 'invalid_token'): ApiError {
  const challenge = error ? `${bearerChallenge}, error="${error}"` : bearerChallenge;
  return new ApiError('unauthorized', message, { 'WWW-Authenticate': challenge });
}

/** The storage is unavailable: locked, full, unreadable or unreachable. A later retry may succeed. */
export class StorageUnavailableError extends Error {}

const retryUnavailableAfterSeconds = 1;

/** Errors of Fastify and Node.js, by their codes. */
const frameworkErrors: Record<string, [ErrorCode, string]> = {
  FST_ERR_BAD_URL: ['invalid_request', 'The request target is malformed. Check its percent-encoding.'],
  FST_ERR_MAX_PARAM_LENGTH: ['invalid_request', 'A segment of the path is too long.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', `The body must not exceed ${maxBodyBytes} bytes.`],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'invalid_request',
    'The length of the body differs from Content-Length.',
  ],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Content-Type must be a media type.'],
  ECONNRESET: ['invalid_request', 'The connection ended before the end of the body.'],
  HPE_HEADER_OVERFLOW: [
    'headers_too_large',
    `The headers must not exceed ${kibibytes(maxHeaderBytes)} in all.`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time.'],
};

/** Whether Fastify refused a request because of its body. */
export const isBodyError = (error: unknown) =>
  /^FST_ERR_(CTP_|ROUTE_MISSING_CONTENT_TYPE)/.test((error as { code?: string } | null)?.code ?? '');

/** The error that the caller gets for a thrown value. For an unexpected failure it contains the request id and no internals. */
export function toApiError(error: unknown, requestId: string): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StorageUnavailableError) {
    const headers = { 'Retry-After': String(retryUnavailableAfterSeconds) };
    const message = 'The storage is unavailable at the moment. Try again shortly.';
    return new ApiError('unavailable', message, headers, { cause: error });
  }
  const errorCode = (error as { code?: string } | null)?.code ?? '';
  const [code, message] = frameworkErrors[errorCode] ?? [
    'internal_error',
    `The service failed. This is not your fault. The log has the failure under the request id ${requestId}.`,
  ];
  return new ApiError(code, message, {}, { cause: error });
}

/** The registry of the problem types that the IETF draft on rate limit headers defines (section 5 of revision 11). */
const registry = 'https://iana.org/assignments/http-problem-types#';

/** A short name of an error code, such as `Not found`. It is the same for every error of the code. */
export const errorTitle = (code: ErrorCode) =>
  code
    .replaceAll('_', ' ')
    .replace('json', 'JSON')
    .replace(/^./, (letter) => letter.toUpperCase());

/** The type and title that the IETF draft on rate limit headers defines for this error, if any. */
function typeOfLimits({ code, violatedPolicies }: ApiError): { type: string; title: string } | undefined {
  if (violatedPolicies.length > 0) return { type: `${registry}quota-exceeded`, title: 'Quota exceeded' };
  if (code === 'key_banned')
    return { type: `${registry}abnormal-usage-detected`, title: 'Abnormal usage detected' };
  return undefined;
}

/** An error as a problem (RFC 9457), with as many `errors` as fit into a refusal. Each code has a page below `pages`. */
export function problemDetailsOf(error: ApiError, pages: string) {
  const { code, status, message, problems, violatedPolicies } = error;
  const { type, title } = typeOfLimits(error) ?? { type: `${pages}/${code}`, title: errorTitle(code) };
  const errors = problems.map(({ place, detail }) => ({ ...place, detail: withoutKeys(detail ?? message) }));
  const problem = () => ({
    ...{ type, title, status, detail: message, code },
    ...(errors.length > 0 && { errors }),
    ...(violatedPolicies.length > 0 && { 'violated-policies': violatedPolicies }),
  });
  while (errors.length > 0 && Buffer.byteLength(JSON.stringify(problem())) > maxRefusalBytes) errors.pop();
  return problem();
}
