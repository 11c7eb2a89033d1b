import { type Failure, PetstoreError, unexpected } from './error.ts';
import { endsEarly, parseExactly } from './exact-json.ts';
import type { CallOptions, PetstoreOptions } from './options.ts';
import { type Clock, Deadline, randomId } from './platform.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { askedWaitMs, backoffMs } from './retry-delays.ts';

/** What all calls of a client share. */
export interface Connection {
  options: {
    [Name in Exclude<keyof PetstoreOptions, 'baseUrl' | 'clock' | 'onRetry'>]-?: NonNullable<
      PetstoreOptions[Name]
    >;
  } & Pick<PetstoreOptions, 'onRetry'>;
  clock: Clock;
  rateLimiter: RateLimiter;
  /** Whether the last response said that the key is invalid, twice in a row. */
  isKeyRefused: boolean;
}

/** A request. All its attempts are equal. */
export interface RequestSpec {
  method: string;
  url: URL;
  headers?: Record<string, string>;
  body?: string | undefined;
  /** Whether the response is a stream of events. */
  isStream?: boolean;
  /** The media type of a response that is text, not JSON. */
  textType?: string | undefined;
  /** Whether any response is accepted: JSON is parsed, and everything else is text. */
  isRaw?: boolean;
  /** Whether the value of the response has the right kind. */
  isExpected?: ((value: unknown) => boolean) | undefined;
}

/** A successful response, or a 304. */
export interface Received {
  status: number;
  headers: Headers;
  /** The value of its body; undefined without one. */
  data: unknown;
  stream: { body: ReadableStream<Uint8Array<ArrayBuffer>>; deadline: Deadline } | undefined;
  /** How many attempts were sent. */
  attempts: number;
}

/** A successful response, or the target of a redirect. */
type Outcome = Omit<Received, 'attempts'> & { movedTo?: URL | undefined };

/** The most redirects of one attempt. */
const mostRedirects = 5;

/** After these statuses, and after a ban, the same request may succeed later. */
const temporary = new Set([408, 429, 500, 502, 503, 504]);
/** After these statuses a change may or may not have taken effect. */
const unclear = new Set([408, 500, 502, 503, 504]);

/**
 * Sends a request, with further attempts after temporary failures. Every attempt reads its response to the end, because a truncated response is
 * a failure.
 *
 * @throws PetstoreError if attempts or time are used up, a wait would be too long, or another attempt would not help.
 */
export async function send(
  connection: Connection,
  spec: RequestSpec,
  options: CallOptions = {},
): Promise<Received> {
  const { clock, rateLimiter } = connection;
  const { attempts, maxWaitMs, apiKey, timeoutMs: usualMs, onRetry } = connection.options;
  const { timeoutMs = usualMs, requestId = randomId() } = options;
  const own = { ...(apiKey && { authorization: `Bearer ${apiKey}` }), 'x-request-id': requestId };
  const headers = new Headers({ ...spec.headers, ...own });
  const endsAtMs = clock.now() + timeoutMs;
  const changes = spec.method !== 'GET' && spec.method !== 'HEAD';
  const limits = { maxWaitMs, endsAtMs };
  let mayBeDone = false;
  let wasUnauthorized = false;
  let sent = 0;
  const call = new Deadline(options.signal);
  call.arm(timeoutMs, () => timedOut(timeoutMs));
  let isOpen = false;
  try {
    for (;;) {
      const number = await rateLimiter.enter({ ...limits, signal: call.signal });
      sent++;
      try {
        let received: Outcome = await attempt(connection, spec, headers, call, number);
        for (let redirects = 1; received.movedTo; redirects++) {
          if (redirects > mostRedirects) throw unexpected(`There are more than ${mostRedirects} redirects.`);
          const moved = { ...spec, url: received.movedTo };
          const next = await rateLimiter.enter({ ...limits, signal: call.signal });
          received = await attempt(connection, moved, headers, call, next);
        }
        isOpen = received.stream !== undefined;
        connection.isKeyRefused = false;
        return { ...received, attempts: sent };
      } catch (error) {
        if (!(error instanceof PetstoreError)) throw error;
        mayBeDone ||= changes && error.mayBeDone;
        if (mayBeDone && spec.method === 'DELETE' && !spec.isExpected && error.status === 404)
          return { ...withoutBody(204, new Headers()), attempts: sent };
        // A valid key may be refused once, such as by an instance that does not know it yet.
        const isFirst401 = error.status === 401 && !wasUnauthorized && !connection.isKeyRefused;
        if (error.status === 401) {
          connection.isKeyRefused ||= wasUnauthorized;
          wasUnauthorized = true;
        }
        const nowMs = clock.now();
        const askedMs = error.retryAt ? error.retryAt.getTime() - nowMs : 0;
        if (askedMs > maxWaitMs) throw tooLong(error, maxWaitMs);
        const waitMs = askedMs + backoffMs(sent, clock.random());
        const isLast = sent >= attempts || nowMs + waitMs > endsAtMs;
        if (call.signal.aborted || isLast || !(error.isTemporary || isFirst401)) throw error;
        const request = { method: spec.method, url: spec.url.href, requestId };
        onRetry?.({ request, attempt: sent, waitMs, cause: error });
        await (error.status === 429
          ? rateLimiter.rest(waitMs, call.signal)
          : clock.sleep(waitMs, call.signal));
      }
    }
  } catch (error) {
    if (!(error instanceof PetstoreError) || error === options.signal?.reason) throw error;
    throw altered(error, { mayBeDone, attempts: sent });
  } finally {
    if (isOpen) call.disarm();
    else call.end();
  }
}

/** The same error with other facts. */
const altered = (error: PetstoreError, facts: Partial<Failure>) =>
  new PetstoreError({ ...error, message: error.message, cause: error.cause, ...facts });

const withoutBody = (status: number, headers: Headers) => {
  return { status, headers, data: undefined, stream: undefined };
};

const tooLong = (error: PetstoreError, maxWaitMs: number) =>
  altered(error, {
    message: `${error.message} The service asks to wait until ${error.retryAt?.toISOString()}, longer than maxWaitMs allows (${maxWaitMs} ms).`,
  });

async function attempt(
  { options, clock, rateLimiter }: Connection,
  spec: RequestSpec,
  headers: Headers,
  call: Deadline,
  number: number,
): Promise<Outcome> {
  const { fetch, attemptTimeoutMs, maxAnswerBytes } = options;
  const { method, url, body, isStream } = spec;
  const deadline = new Deadline(call.signal);
  deadline.arm(attemptTimeoutMs, () => timedOut(attemptTimeoutMs));
  let response: Response | undefined;
  let isOpen = false;
  try {
    response = await fetch(url, {
      method,
      headers,
      signal: deadline.signal,
      redirect: 'manual',
      ...(body !== undefined && { body }),
    });
    rateLimiter.leave(number, response.headers);
    const { status } = response;
    const received = withoutBody(status, response.headers);
    if (isStream && response.ok && response.body && mediaTypeOf(response) === 'text/event-stream') {
      isOpen = true;
      return { ...received, stream: { body: response.body, deadline: call } };
    }
    const movedTo = movedFrom(url, response);
    if (movedTo) {
      await response.body?.cancel();
      return { ...received, movedTo };
    }
    const text = await textOf(response, maxAnswerBytes);
    const isUnchanged = status === 304 && headers.has('if-none-match');
    if (!response.ok && !isUnchanged) throw refusalOf(response, text, clock.now());
    return isUnchanged ? received : { ...received, data: dataOf(response, text, spec) };
  } catch (cause) {
    if (!response) rateLimiter.leave(number);
    if (deadline.signal.aborted) throw deadline.signal.reason;
    if (!(cause instanceof PetstoreError))
      throw unclearEnd('no_answer', `There was no complete response to ${method} ${url.pathname}.`, cause);
    if (cause.retryAt && (cause.status === 429 || cause.code === 'key_banned')) {
      const askedMs = cause.retryAt.getTime() - clock.now();
      rateLimiter.pause(askedMs + backoffMs(1, clock.random()), cause);
    }
    throw cause;
  } finally {
    if (isOpen) deadline.disarm();
    else deadline.end();
  }
}

/** The target of a 307 or 308. Redirects to another origin are not followed, so that the key stays at its origin. */
function movedFrom(url: URL, { status, headers }: Response): URL | undefined {
  const location = headers.get('location');
  if ((status !== 307 && status !== 308) || !location || !URL.canParse(location, url)) return undefined;
  const target = new URL(location, url);
  return target.origin === url.origin ? target : undefined;
}

const mediaTypeOf = ({ headers }: Response) =>
  headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();

/** The text of a response. Its length is checked while it is read: a short body may decompress to a huge one. */
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

/** The value of a successful response. */
function dataOf(response: Response, text: string, spec: RequestSpec): unknown {
  const { method, isStream, isRaw, textType, isExpected } = spec;
  if (isStream) throw strange(response, 'It is no stream of events.');
  if (textType) {
    if (mediaTypeOf(response) === textType) return text;
    throw strange(response, `It is not ${textType}.`);
  }
  const hasBody = method !== 'HEAD' && response.status !== 204;
  if (isRaw && hasBody && !/[/+]json$/.test(mediaTypeOf(response) ?? '')) return text;
  let value: unknown;
  try {
    value = hasBody ? parseExactly(text) : undefined;
  } catch (cause) {
    // The body was truncated: another attempt may bring all of it.
    if (endsEarly(text)) throw cause;
    throw strange(response, 'It is not JSON.', { cause });
  }
  if (isExpected && !isExpected(value))
    throw strange(response, 'Its body is not what this operation returns.');
  return value;
}

/** The error for a response of another service, such as a page of a proxy. The change may have taken effect. */
function strange({ status, headers }: Response, why: string, failure: Partial<Failure> = {}): PetstoreError {
  const type = headers.get('content-type') ?? 'no type';
  const requestId = headers.get('x-request-id') ?? undefined;
  const message = `The response (status ${status}, ${type}) does not come from the API. ${why}`;
  return unexpected(message, { ...failure, status, requestId, headers, mayBeDone: true });
}

/** The error for an error response. */
function refusalOf({ status, headers, url }: Response, text: string, nowMs: number): PetstoreError {
  let details: Record<string, unknown> = {};
  try {
    details = Object(parseExactly(text));
  } catch {
    // The response is not from the API.
  }
  const { code, message } = details;
  // Browsers show only that a response is a redirect: its status is 0, and it has no headers.
  const otherwise = /^[03]/.test(`${status}`)
    ? `The response redirects to ${headers.get('location') ?? 'another address'}, and the key is not sent there: check baseUrl.`
    : `The response has the status ${status}: ${url}`;
  const askedMs = askedWaitMs(headers, nowMs);
  // An earlier request with the same Idempotency-Key is in progress. Its response can be had afterwards.
  const isInUse = code === 'idempotency_key_in_use';
  return new PetstoreError({
    code: typeof code === 'string' ? code : 'unexpected_answer',
    message: typeof message === 'string' ? message : otherwise,
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    headers,
    retryAt: askedMs === undefined ? undefined : new Date(nowMs + askedMs),
    isTemporary: temporary.has(status) || code === 'key_banned' || isInUse,
    // The service itself makes no change when it answers `unavailable`. A proxy in front of it may have passed the request on.
    mayBeDone: (unclear.has(status) && code !== 'unavailable') || isInUse,
    details,
  });
}

/** The error for an attempt without a response: the change may have been made. */
const unclearEnd = (code: 'no_answer' | 'timed_out', message: string, cause?: unknown) =>
  new PetstoreError({ code, message, cause, isTemporary: true, mayBeDone: true });

const timedOut = (ms: number) => unclearEnd('timed_out', `It took longer than ${ms} ms.`);
