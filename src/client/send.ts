import { PetstoreError } from './error.ts';
import { parseExactly } from './exact-json.ts';
import type { CallOptions, Clock, PetstoreOptions } from './options.ts';
import type { Pace } from './pace.ts';
import { randomId } from './random-id.ts';
import { backoffMs, Limit, toldMs } from './time.ts';

/** What all calls of a client share. */
export interface Connection {
  options: {
    [Name in Exclude<keyof PetstoreOptions, 'baseUrl' | 'clock'>]-?: NonNullable<PetstoreOptions[Name]>;
  };
  clock: Clock;
  pace: Pace;
}

/** A request, which is the same in every attempt. */
export interface Sent {
  method: string;
  url: URL;
  headers?: Record<string, string>;
  body?: string | undefined;
  /** Whether the body of its answer is read later, as a stream. */
  isStream?: boolean;
}

/** An answer to go by. */
export interface Received {
  status: number;
  headers: Headers;
  /** The value of its body; undefined without one. */
  data: unknown;
  /** What is read as a stream, and what ends it. */
  stream: { body: ReadableStream<Uint8Array<ArrayBuffer>>; limit: Limit } | undefined;
}

/** After these the same request may succeed later, beside a ban. */
const temporary = new Set([408, 429, 500, 502, 503, 504]);
/** After these nobody knows whether a change was made. */
const unclear = new Set([408, 500, 502, 503, 504]);

/**
 * Sends a request until there is an answer to go by. Every attempt reads its answer to the end, so one that is cut short is noticed.
 *
 * @throws PetstoreError if attempts, time or patience are used up, or another attempt would not help.
 */
export async function send(connection: Connection, sent: Sent, options: CallOptions = {}): Promise<Received> {
  const { clock, pace } = connection;
  const { attempts, maxWaitMs, apiKey, timeoutMs: usualMs } = connection.options;
  const { timeoutMs = usualMs, requestId = randomId() } = options;
  const headers = new Headers({
    ...sent.headers,
    authorization: `Bearer ${apiKey}`,
    'x-request-id': requestId,
  });
  const endsAtMs = clock.now() + timeoutMs;
  const changes = sent.method !== 'GET' && sent.method !== 'HEAD';
  let mayBeDone = false;
  const call = new Limit(options.signal);
  call.arm(timeoutMs, () => timedOut(timeoutMs));
  let isOpen = false;
  try {
    for (let tries = 1; ; tries++) {
      const number = await pace.enter({ maxWaitMs, endsAtMs, signal: call.signal });
      try {
        const received = await attempt(connection, sent, headers, call, number);
        isOpen = received.stream !== undefined;
        return received;
      } catch (error) {
        if (!(error instanceof PetstoreError)) throw error;
        mayBeDone ||= changes && error.mayBeDone;
        if (mayBeDone && sent.method === 'DELETE' && error.status === 404)
          return { status: 204, headers: new Headers(), data: undefined, stream: undefined };
        // The attempt before, whose answer did not come, may still be under way.
        const isTwin = mayBeDone && sent.method === 'POST' && error.code === 'conflict';
        const nowMs = clock.now();
        const askedMs = error.retryAt ? error.retryAt.getTime() - nowMs : 0;
        const waitMs = askedMs + backoffMs(tries, clock.random());
        const isLast = tries >= attempts || askedMs > maxWaitMs || nowMs + waitMs > endsAtMs;
        if (call.signal.aborted || isLast || !(error.isTemporary || isTwin)) throw error;
        await clock.sleep(waitMs, call.signal);
      }
    }
  } catch (error) {
    if (!(error instanceof PetstoreError) || error.mayBeDone === mayBeDone) throw error;
    throw new PetstoreError({ ...error, message: error.message, cause: error.cause, mayBeDone });
  } finally {
    if (isOpen) call.disarm();
    else call.end();
  }
}

async function attempt(
  { options, clock, pace }: Connection,
  { method, url, body, isStream }: Sent,
  headers: Headers,
  call: Limit,
  number: number,
): Promise<Received> {
  const { fetch, attemptTimeoutMs } = options;
  const limit = new Limit(call.signal);
  limit.arm(attemptTimeoutMs, () => timedOut(attemptTimeoutMs));
  let response: Response | undefined;
  let isOpen = false;
  try {
    response = await fetch(url, {
      method,
      headers,
      signal: limit.signal,
      redirect: 'manual',
      ...(body !== undefined && { body }),
    });
    pace.leave(number, response.headers);
    const { status } = response;
    if (isStream && response.ok && response.body) {
      isOpen = true;
      return {
        status,
        headers: response.headers,
        data: undefined,
        stream: { body: response.body, limit: call },
      };
    }
    const text = await response.text();
    if (!response.ok && status !== 304) throw refusalOf(response, text, clock.now());
    const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
    const data = hasBody ? parseExactly(text) : undefined;
    return { status, headers: response.headers, data, stream: undefined };
  } catch (cause) {
    if (!response) pace.leave(number);
    if (limit.signal.aborted) throw limit.signal.reason;
    if (!(cause instanceof PetstoreError)) throw noAnswer(cause, method, url);
    if (cause.retryAt && (cause.status === 429 || cause.code === 'key_banned')) {
      const askedMs = cause.retryAt.getTime() - clock.now();
      pace.pause(askedMs + backoffMs(1, clock.random()), cause);
    }
    throw cause;
  } finally {
    if (isOpen) limit.disarm();
    else limit.end();
  }
}

/** What an answer of refusal says. */
function refusalOf({ status, headers, url }: Response, text: string, nowMs: number): PetstoreError {
  let details: Record<string, unknown> = {};
  try {
    details = Object(parseExactly(text));
  } catch {
    // Something else than the API has answered.
  }
  const { code = 'unexpected_answer', message = `The answer has the status ${status}: ${url}` } = details;
  const askedMs = toldMs(headers, nowMs);
  return new PetstoreError({
    code: String(code),
    message: String(message),
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAt: askedMs === undefined ? undefined : new Date(nowMs + askedMs),
    isTemporary: temporary.has(status) || code === 'key_banned',
    // The service does nothing while it is unavailable; what stands before it may have passed the request on.
    mayBeDone: unclear.has(status) && code !== 'unavailable',
    details,
  });
}

const noAnswer = (cause: unknown, method: string, url: URL) =>
  new PetstoreError({
    code: 'no_answer',
    message: `No whole answer came to ${method} ${url.pathname}.`,
    cause,
    isTemporary: true,
    mayBeDone: true,
  });

const timedOut = (ms: number) =>
  new PetstoreError({
    code: 'timed_out',
    message: `It took longer than ${ms} ms.`,
    isTemporary: true,
    mayBeDone: true,
  });
