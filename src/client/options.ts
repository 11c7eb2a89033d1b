import type { PetstoreError } from './error.ts';
import type { Int64 } from './exact-json.ts';

/** How time passes and chance falls. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms`; rejects with the reason of the signal if that is aborted before. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** At least 0 and less than 1. */
  random(): number;
}

/** What a client is made of. All times are in milliseconds. */
export interface PetstoreOptions {
  /** Where the API is. It ends in `/v1`, as `PETSTORE_BASE_URL` does. */
  baseUrl: string;
  /** The API key. It is sent to `baseUrl` alone. */
  apiKey: string;
  /** How often a request is sent at most, the first time included. 5 by default. */
  attempts?: number | undefined;
  /** How long one attempt may take, with the reading of the answer. 60,000 by default. */
  attemptTimeoutMs?: number | undefined;
  /** How long a call may take in all, with all attempts and waits. 180,000 by default. */
  timeoutMs?: number | undefined;
  /**
   * How long a wait that the service asks for may be. 70,000 by default: the end of a minute is waited for, and the first ban. If it
   * would be longer, the call rejects at once, and `retryAt` of its error says when it may be sent again.
   */
  maxWaitMs?: number | undefined;
  /** How many bytes an answer may have, unpacked. 10,000,000 by default: no answer of the API is nearly as long. */
  maxAnswerBytes?: number | undefined;
  /** What sends; the `fetch` of the platform by default. */
  fetch?: typeof globalThis.fetch | undefined;
  /** For tests: parts of the clock that are not those of the platform. */
  clock?: Partial<Clock> | undefined;
}

export const defaults = {
  attempts: 5,
  attemptTimeoutMs: 60_000,
  timeoutMs: 180_000,
  maxWaitMs: 70_000,
  maxAnswerBytes: 10_000_000,
};

/** What every call takes. */
export interface CallOptions {
  /** Ends the call, also while it waits. It then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** How long the call may take in all, in milliseconds, in place of `timeoutMs` of the client. Of a list, it holds for each page. */
  timeoutMs?: number | undefined;
  /** `X-Request-Id`: 1 to 128 visible ASCII characters, by which the log of the service names it. Random by default. Of a change, leave it: by it
   * the client finds its own change in the history where an answer was lost. */
  requestId?: string | undefined;
}

/** What a call takes that reads. */
export interface ReadOptions extends CallOptions {
  /** What an earlier call gave. If nothing has changed since, it comes again, and no body is sent. Of a list, this is a page. */
  ifNoneMatch?: object | undefined;
}

/** What a call takes that creates. */
export interface CreateOptions extends CallOptions {
  /**
   * `Idempotency-Key`: the same key and body within 24 hours give the first answer again, and nothing happens twice. Random by default,
   * and the same for all attempts of a call. Give one to repeat a call after a crash of your program.
   */
  idempotencyKey?: string | undefined;
}

/** What a call takes that changes or removes. */
export interface ChangeOptions extends CallOptions {
  /**
   * What an earlier call gave, or an ETag: only that state of the resource is changed. Otherwise the call rejects with the code
   * `precondition_failed`.
   */
  ifMatch?: object | string | undefined;
}

/** What a stream of events takes. */
export interface StreamOptions {
  /** Ends the stream: the iteration rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** After how long without a sign of life the connection is taken for broken, in milliseconds. 40,000 by default. */
  silenceMs?: number | undefined;
  /**
   * Is called each time that the stream has begun, with the id behind which it goes on: what is read from now on, it keeps up to date. The
   * service always tells that id; something in between could take it away.
   */
  onOpen?: ((after: Int64 | undefined) => void) | undefined;
  /** Is called each time that the stream is not there for a while, with the reason unless it just ended, as streams do. */
  onBreak?: ((error: PetstoreError | undefined) => void) | undefined;
}
