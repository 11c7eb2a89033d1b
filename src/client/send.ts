import { type Failure, PetstoreError, unexpected } from './error.ts';
import { endsEarly, parseExactly } from './exact-json.ts';
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
  /** The media type of an answer that is text and no JSON. */
  textType?: string | undefined;
  /** Whether the value of its answer is of the kind that the API gives. */
  isExpected?: ((value: unknown) => boolean) | undefined;
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
        if (mayBeDone && sent.method === 'DELETE' && !sent.isExpected && error.status === 404)
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
  sent: Sent,
  headers: Headers,
  call: Limit,
  number: number,
): Promise<Received> {
  const { fetch, attemptTimeoutMs, maxAnswerBytes } = options;
  const { method, url, body, isStream } = sent;
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
    if (isStream && response.body && isEventStream(response)) {
      isOpen = true;
      return {
        status,
        headers: response.headers,
        data: undefined,
        stream: { body: response.body, limit: call },
      };
    }
    const text = await textOf(response, maxAnswerBytes);
    const isUnchanged = status === 304 && headers.has('if-none-match');
    if (!response.ok && !isUnchanged) throw refusalOf(response, text, clock.now());
    const data = isUnchanged ? undefined : dataOf(response, text, sent);
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

const isEventStream = (response: Response): boolean =>
  response.ok && mediaTypeOf(response) === 'text/event-stream';

const mediaTypeOf = ({ headers }: Response) =>
  headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();

/** The text of an answer. It is read piece by piece: a short one may unpack to one that no memory holds. */
async function textOf(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let text = '';
  for (let bytes = 0; ; ) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > maxBytes) throw strange(response, `It has more than ${maxBytes} bytes.`);
    text += decoder.decode(value, { stream: true });
  }
}

/** The value of an answer that is not one of refusal. */
function dataOf(response: Response, text: string, sent: Sent): unknown {
  const { method, isStream, textType, isExpected } = sent;
  if (isStream) throw strange(response, 'It is no stream of events.');
  if (textType) {
    if (mediaTypeOf(response) === textType) return text;
    throw strange(response, `It is not ${textType}.`);
  }
  const hasBody = method !== 'HEAD' && response.status !== 204;
  let value: unknown;
  try {
    value = hasBody ? parseExactly(text) : undefined;
  } catch (cause) {
    // Then it is not whole, and another attempt may bring all of it.
    if (endsEarly(text)) throw cause;
    throw strange(response, 'It is not JSON.', { cause });
  }
  if (isExpected && !isExpected(value)) throw strange(response, 'It holds something else.');
  return value;
}

/** The error for an answer that cannot be one of the API, such as a page of a proxy. What was sent may have been done. */
function strange({ status, headers }: Response, why: string, failure: Partial<Failure> = {}): PetstoreError {
  const type = headers.get('content-type') ?? 'no type';
  const requestId = headers.get('x-request-id') ?? undefined;
  const message = `The answer, of status ${status} and ${type}, is not as the API gives it. ${why}`;
  return unexpected(message, { ...failure, status, requestId, mayBeDone: true });
}

/** What an answer of refusal says. */
function refusalOf({ status, headers, url }: Response, text: string, nowMs: number): PetstoreError {
  let details: Record<string, unknown> = {};
  try {
    details = Object(parseExactly(text));
  } catch {
    // Something else than the API has answered.
  }
  const { code, message } = details;
  // Browsers show of a redirect that it is one, and nothing else.
  const otherwise = /^[03]/.test(`${status}`)
    ? `The answer leads to ${headers.get('location') ?? 'another address'}, which the key is not sent to: check baseUrl.`
    : `The answer has the status ${status}: ${url}`;
  const askedMs = toldMs(headers, nowMs);
  return new PetstoreError({
    code: typeof code === 'string' ? code : 'unexpected_answer',
    message: typeof message === 'string' ? message : otherwise,
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
