import type { ErrorCode } from './description.ts';

/**
 * The values of `code` in a PetstoreError: a code of the API, also of a later version, or one of the client. `no_answer`: the connection
 * broke or the response is not complete. `timed_out`. `unexpected_answer`: another service responded. `bad_signature`: a webhook message
 * is not genuine.
 */
export type PetstoreErrorCode =
  | ErrorCode
  | 'no_answer'
  | 'timed_out'
  | 'unexpected_answer'
  | 'bad_signature'
  | (string & Record<never, never>);

export interface Failure {
  code: PetstoreErrorCode;
  message: string;
  status?: number | undefined;
  requestId?: string | undefined;
  headers?: Headers | undefined;
  attempts?: number | undefined;
  retryAt?: Date | undefined;
  isTemporary?: boolean;
  mayBeDone?: boolean;
  details?: Readonly<Record<string, unknown>> | undefined;
  cause?: unknown;
}

/** The error for a response that this API does not give. */
export const unexpected = (message: string, failure: Partial<Failure> = {}) =>
  new PetstoreError({ ...failure, code: 'unexpected_answer', message });

/**
 * Every call rejects with this error when attempts are used up, or another attempt would not help. A call that its caller aborts rejects
 * with the reason of the signal instead. Decide by `code`.
 */
export class PetstoreError extends Error {
  override readonly name = 'PetstoreError';
  /** What went wrong, for programs. */
  readonly code: PetstoreErrorCode;
  /** The HTTP status; absent without a response. */
  readonly status: number | undefined;
  /** `X-Request-Id` of the response: support asks for it. */
  readonly requestId: string | undefined;
  /** The headers of the response; absent without a response. */
  readonly headers: Headers | undefined;
  /** How many attempts were sent. 0 if the request was not sent. */
  readonly attempts: number;
  /** When the request may be sent again, by the clock of this machine. Absent without `Retry-After`. */
  readonly retryAt: Date | undefined;
  /** Whether the same request may succeed later. */
  readonly isTemporary: boolean;
  /** Whether the change may have been made although the call failed: an attempt was sent, and its response did not come. */
  readonly mayBeDone: boolean;
  /** The whole body of the error, with fields of later versions of the API. */
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(failure: Failure) {
    const { code, message, status, requestId, headers, attempts, retryAt, details } = failure;
    super(message, failure.cause === undefined ? {} : { cause: failure.cause });
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.headers = headers;
    this.attempts = attempts ?? 0;
    this.retryAt = retryAt;
    this.isTemporary = failure.isTemporary ?? false;
    this.mayBeDone = failure.mayBeDone ?? false;
    this.details = details;
  }
}
