import type { LookupAddress } from 'node:dns';
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { AttemptError, addressesOf, type NameResolver } from './resolve.ts';
import { readRetryAfter } from './schedule.ts';
import { hostOf, type TargetPolicy, targetProblem } from './target.ts';

/** How long an attempt may take. */
export const attemptMs = 15_000;
const maxAnswerBytes = 16 * 1024;
/** An address that has accepted no connection for this long gives way to the next one of its name. */
const connectMs = 2_500;

export interface Outgoing {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface SendOptions {
  policy: TargetPolicy;
  resolver: NameResolver;
  /** For everything, also for the name to be resolved; `attemptMs` by default. */
  timeoutMs?: number;
  /** Breaks the attempt off. */
  signal?: AbortSignal;
  /** Milliseconds since 1970, from which a `Retry-After` with a date counts. */
  clock?: () => number;
  /** Certificates to trust in place of those that Node.js trusts. */
  ca?: string;
}

/** What became of an attempt. Without an error it is delivered. */
export interface Outcome {
  /** The status of the answer, if there was an answer. */
  status?: number;
  /** Until the head of the answer, or until the failure. */
  durationMs: number;
  /** A sentence for the owner of the webhook. It shows nothing of the answer but its status, and nothing of this network. */
  error?: string;
  retryAfterMs?: number;
}

/** A connection serves one request, so its address was checked for that request. These agents know of no proxy. */
const httpAgent = new HttpAgent({ keepAlive: false });
const httpsAgent = new HttpsAgent({ keepAlive: false, maxCachedSessions: 0 });

/**
 * POSTs a webhook once, to an address that was checked. 2xx is a success as soon as its head has arrived; up to 16 KiB
 * are read and forgotten, since receivers may take an early end for a failure. Redirects are not followed. Never rejects
 * because of the target.
 */
export async function send(outgoing: Outgoing, options: SendOptions): Promise<Outcome> {
  const { policy, resolver, timeoutMs = attemptMs, signal } = options;
  const startMs = performance.now();
  const passedMs = () => Math.round(performance.now() - startMs);
  const attempt = new AbortController();
  const breakOff = (message: string) => attempt.abort(new AttemptError(message));
  const timer = setTimeout(() => breakOff(`No answer within ${timeoutMs / 1_000} s.`), timeoutMs);
  const onAbort = () => breakOff('The attempt was broken off.');
  signal?.addEventListener('abort', onAbort);
  if (signal?.aborted) onAbort();
  try {
    const problem = targetProblem(outgoing.url, policy);
    if (problem) throw new AttemptError(`The URL must be ${problem}.`);
    const url = new URL(outgoing.url);
    const addresses = await unlessAborted(addressesOf(hostOf(url), resolver), attempt.signal);
    const request = open(url, addresses, outgoing, options, attempt.signal);
    const exchanged = exchange(request, attempt.signal, options.clock ?? Date.now, passedMs);
    request.end(outgoing.body);
    return await exchanged;
  } catch (error) {
    if (!(error instanceof AttemptError)) throw error;
    return { error: error.message, durationMs: passedMs() };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** The outcome of a promise, unless the signal comes first: then its reason. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    promise.then(resolve, reject);
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

/** A request whose connection goes to one of the addresses. The certificate is still checked for the name. */
function open(
  url: URL,
  addresses: LookupAddress[],
  { headers }: Outgoing,
  { ca }: SendOptions,
  signal: AbortSignal,
): ClientRequest {
  const lookup: LookupFunction = (_name, _options, callback) => callback(null, addresses);
  const options = {
    method: 'POST',
    headers,
    signal,
    lookup,
    // Asks `lookup` for all addresses, and tries one after the other.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: connectMs,
  };
  if (url.protocol === 'http:') return httpRequest(url, { ...options, agent: httpAgent });
  // Said aloud, so that no variable of the environment can take it back.
  return httpsRequest(url, { ...options, agent: httpsAgent, rejectUnauthorized: true, ca });
}

/** Waits for the connection to be over. What was settled first stays, whatever the receiver does afterwards. */
function exchange(
  request: ClientRequest,
  signal: AbortSignal,
  clock: () => number,
  passedMs: () => number,
): Promise<Outcome> {
  return new Promise((resolve) => {
    let outcome: Outcome | undefined;
    const settle = (ending: Omit<Outcome, 'durationMs'>) => {
      outcome ??= { ...ending, durationMs: passedMs() };
    };
    let readBytes = 0;
    // Counts on the socket: a parser passes over interim answers, the sizes of chunks and trailers.
    request.on('socket', (socket) =>
      socket.on('data', ({ length }) => {
        readBytes += length;
        if (readBytes > maxAnswerBytes) request.destroy(new AttemptError(tooLong));
      }),
    );
    request.on('response', (response) => {
      settle(judge(response, clock()));
      response.on('error', () => {}).resume();
    });
    request.on('upgrade', (response, socket) => {
      settle(judge(response, clock()));
      socket.on('error', () => {}).destroy();
    });
    request.on('error', (error) =>
      settle({ error: signal.aborted ? signal.reason.message : sentence(error, request) }),
    );
    request.on('close', () => {
      settle({ error: brokenOff });
      resolve(outcome as Outcome);
    });
  });
}

/** Status and `Retry-After` are all that is taken from an answer. */
function judge({ statusCode: status = 0, headers }: IncomingMessage, nowMs: number) {
  if (status >= 200 && status < 300) return { status };
  const retryAfterMs = readRetryAfter(headers['retry-after'], nowMs);
  return {
    status,
    error: `Answered ${status}${status >= 300 && status < 400 ? '; redirects are not followed' : ''}.`,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

const tooLong = 'The head of the answer is too long.';
const brokenOff = 'The connection ended before an answer.';

/** What has gone wrong on the way to an answer. */
function sentence(error: NodeJS.ErrnoException, { socket }: ClientRequest): string {
  const { code = '' } = error;
  if (error instanceof AttemptError) return error.message;
  if ((socket as TLSSocket | null)?.authorizationError) return 'The certificate is not valid.';
  if (code === 'HPE_HEADER_OVERFLOW') return tooLong;
  if (code.startsWith('HPE_')) return 'The answer is not HTTP.';
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return 'No TLS connection.';
  return ['ECONNRESET', 'EPIPE'].includes(code) ? brokenOff : 'No connection.';
}
