import type { Answer } from './answers.ts';
import type { PetstoreError } from './error.ts';
import type { Int64 } from './exact-json.ts';
import type { Clock } from './platform.ts';

/** Options of a client. All times are in milliseconds. */
export interface PetstoreOptions {
  /** The address of the API. It ends in `/v1`, as `PETSTORE_BASE_URL` does. */
  baseUrl: string;
  /** The API key. It is sent to `baseUrl` alone. */
  apiKey: string;
  /** The largest number of attempts of a call. 5 by default. */
  attempts?: number | undefined;
  /** How long one attempt may take, until its response is read. 20,000 by default. */
  attemptTimeoutMs?: number | undefined;
  /** How long a call may take in all, with all attempts and waits. 180,000 by default. */
  timeoutMs?: number | undefined;
  /**
   * The longest wait that the service may ask for. 70,000 by default: enough for the end of a minute, and for a first ban. If the wait
   * would be longer, the call rejects at once, and `retryAt` of its error says when to send it again.
   */
  maxWaitMs?: number | undefined;
  /** How many bytes a response may have, decompressed. 10,000,000 by default: no response of the API is nearly as long. */
  maxAnswerBytes?: number | undefined;
  /** Sends the requests. The `fetch` of the platform by default. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Is called before each wait for another attempt, such as to log it. If it throws, the call rejects with that. */
  onRetry?: ((retry: Retry) => void) | undefined;
  /** For tests: replaces parts of the clock of the platform. */
  clock?: Partial<Clock> | undefined;
}

/** Another attempt that is about to be made. */
export interface Retry {
  /** The request. All its attempts are equal. */
  request: { method: string; url: string; requestId: string };
  /** The number of the attempt that failed, from 1 on. */
  attempt: number;
  /** How long the client waits before the next one, in milliseconds. */
  waitMs: number;
  /** Why the attempt failed. */
  cause: PetstoreError;
}

export const defaults = {
  attempts: 5,
  attemptTimeoutMs: 20_000,
  timeoutMs: 180_000,
  maxWaitMs: 70_000,
  maxAnswerBytes: 10_000_000,
};

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, also while it waits. The call rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** How long the call may take in all, in milliseconds, in place of `timeoutMs` of the client. For a list: each page. */
  timeoutMs?: number | undefined;
  /**
   * `X-Request-Id`: 1 to 128 visible ASCII characters, which appear in the log of the service. Random by default. Do not set it for a
   * change: after a lost response the client looks for this id in the history.
   */
  requestId?: string | undefined;
  /** Is called with status, headers and attempts of the response. For a list: of each page. */
  onAnswer?: ((answer: Answer) => void) | undefined;
}

/** Options of a call that reads. */
export interface ReadOptions extends CallOptions {
  /** What an earlier call returned. If nothing has changed since, the call returns it again, and no body is sent. For a list: a page. */
  ifNoneMatch?: object | undefined;
}

/** Options of a call that creates. */
export interface CreateOptions extends CallOptions {
  /**
   * `Idempotency-Key`: the same key and body within 24 hours get the first response again, and nothing happens twice. Random by default,
   * and the same for all attempts of a call. Set one to repeat a call after a crash of your program.
   */
  idempotencyKey?: string | undefined;
}

/** Options of a call that changes or removes. */
export interface ChangeOptions extends CallOptions {
  /** What an earlier call returned, or an ETag. If it is outdated, the call rejects with `precondition_failed`. */
  ifMatch?: object | string | undefined;
}

/** Options of `request`. */
export interface RawOptions extends ReadOptions, CreateOptions, ChangeOptions {
  /** The query. A list becomes a parameter that is repeated. */
  query?: Readonly<Record<string, unknown>> | undefined;
  /** The body, which is sent as JSON. */
  body?: unknown;
}

/** Options of a stream of events. */
export interface StreamOptions {
  /** Ends the stream: the iteration rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** The connection counts as broken after this time without any data, in milliseconds. 40,000 by default. */
  silenceMs?: number | undefined;
  /**
   * Is called each time that the stream has begun, with the id after which it continues. If you read a list after this call, the stream
   * reports every later change of it. The service always sends that id, but a proxy might remove it.
   */
  onOpen?: ((after: Int64 | undefined) => void) | undefined;
  /** Is called each time that the stream is interrupted: with the reason, or without one if the stream ended normally. */
  onBreak?: ((error: PetstoreError | undefined) => void) | undefined;
}

/** The names of all options of a type. */
const namesOf = <Options>(all: Record<keyof Options, true>): string[] => Object.keys(all);

const ofCalls = { signal: true, timeoutMs: true, requestId: true, onAnswer: true } as const;
const ifNoneMatch = true;
const idempotencyKey = true;
const ifMatch = true;

/** The names of the options of a client, and of each kind of call. */
export const optionNames = {
  client: namesOf<PetstoreOptions>({
    ...{ baseUrl: true, apiKey: true, attempts: true, attemptTimeoutMs: true, timeoutMs: true },
    ...{ maxWaitMs: true, maxAnswerBytes: true, fetch: true, onRetry: true, clock: true },
  }),
  GET: namesOf<ReadOptions>({ ...ofCalls, ifNoneMatch }),
  POST: namesOf<CreateOptions>({ ...ofCalls, idempotencyKey }),
  change: namesOf<ChangeOptions>({ ...ofCalls, ifMatch }),
  request: namesOf<RawOptions>({ ...ofCalls, ifNoneMatch, idempotencyKey, ifMatch, query: true, body: true }),
  stream: namesOf<StreamOptions>({ signal: true, silenceMs: true, onOpen: true, onBreak: true }),
};

/**
 * Refuses unknown names: a mistyped option would have no effect.
 *
 * @throws TypeError that names them, and those that there are.
 */
export function assertKnown(given: object, known: readonly string[], of: string): void {
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new TypeError(`${of} has no option ${unknown.join(', ')}. Its options are ${known.join(', ')}.`);
}
