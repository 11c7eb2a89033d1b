/** What is known of a failure. */
export interface Failure {
  code: string;
  message: string;
  status?: number | undefined;
  requestId?: string | undefined;
  retryAt?: Date | undefined;
  isTemporary?: boolean;
  mayBeDone?: boolean;
  details?: Readonly<Record<string, unknown>> | undefined;
  cause?: unknown;
}

/** An answer that is not as those of the API are. */
export const unexpected = (message: string, failure: Partial<Failure> = {}) =>
  new PetstoreError({ ...failure, code: 'unexpected_answer', message });

/**
 * What every call rejects with, but for one that its caller aborts, which rejects with the reason of the signal. It comes when
 * attempts are used up, or another would not help. Decide by `code`.
 */
export class PetstoreError extends Error {
  override readonly name = 'PetstoreError';
  /**
   * A code of the API, such as `not_found`, to which new ones may be added, or one of the client: `no_answer` (the connection broke,
   * or the answer is not whole), `timed_out`, `unexpected_answer` (it is not as those of this API are), `bad_signature` (a webhook is not genuine).
   */
  readonly code: string;
  /** The HTTP status; absent without an answer. */
  readonly status: number | undefined;
  /** `X-Request-Id` of the answer: support asks for it. */
  readonly requestId: string | undefined;
  /** From when on the request could be sent again, by the clock of this machine, where the service told. */
  readonly retryAt: Date | undefined;
  /** Whether the same request may succeed later. */
  readonly isTemporary: boolean;
  /** Whether the change may have been made although the call failed: an attempt was sent whose answer did not come. */
  readonly mayBeDone: boolean;
  /** The whole body of the error, with what a later version of the API adds. */
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(failure: Failure) {
    const { code, message, status, requestId, retryAt, details } = failure;
    super(message, failure.cause === undefined ? {} : { cause: failure.cause });
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.retryAt = retryAt;
    this.isTemporary = failure.isTemporary ?? false;
    this.mayBeDone = failure.mayBeDone ?? false;
    this.details = details;
  }
}
