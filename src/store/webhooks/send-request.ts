import type { LookupAddress } from 'node:dns';
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { retryAfterMs } from '../../client/retry-delays.ts';
import {
  AttemptError,
  hostOf,
  type NameResolver,
  resolveTarget,
  type TargetPolicy,
  targetProblem,
} from './target-policy.ts';

// An import would load all exports of node:http, including a client for web sockets (12 MB).
const { Agent: HttpAgent, request: httpRequest } = process.getBuiltinModule('node:http');

/** The timeout of an attempt, with the resolution of the name. */
export const attemptTimeoutMs = 15_000;
/** After this time the next address of the name is tried. */
const connectTimeoutMs = 2_500;
/** How long an idle connection stays open. Servers usually keep it longer. */
const keepAliveMs = 1_000;
const maxResponseBytes = 16 * 1024;

export interface WebhookRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface SendOptions {
  policy: TargetPolicy;
  resolver: NameResolver;
  /** Default: `attemptTimeoutMs`. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Milliseconds since 1970, for a `Retry-After` with a date. */
  clock?: () => number;
  /** Certificates to trust instead of those that Node.js trusts. */
  ca?: string;
}

/** The outcome of an attempt. Without an error it is a success. */
export interface AttemptOutcome {
  /** The status of the response, if there was one. */
  status?: number;
  /** Until the head of the response, or until the failure. */
  durationMs: number;
  /** A sentence for the owner of the webhook. It shows only the status of the response, and nothing about this network. */
  error?: string;
  retryAfterMs?: number;
}

/**
 * Reuses a connection only for the same URL with the same addresses of its host. So each request goes to an address that was checked
 * for it. Bytes between two responses end the connection, because Node.js 24 would read them without end.
 */
function keepChecked<Kind extends Agent>(agent: Kind): Kind {
  const getName = agent.getName.bind(agent);
  agent.getName = (options) => `${getName(options)}:${(options as { target?: string } | undefined)?.target}`;
  const reuseSocket = agent.reuseSocket.bind(agent);
  agent.reuseSocket = (socket, request) => {
    socket.off('data', destroy);
    reuseSocket(socket, request);
  };
  return agent.on('free', (socket: Socket) => socket.on('data', destroy));
}

function destroy(this: Socket): void {
  this.destroy();
}

/** These agents ignore proxies in environment variables. */
const httpAgent = keepChecked(new HttpAgent({ keepAlive: true, timeout: keepAliveMs }));
const httpsAgent = keepChecked(
  new HttpsAgent({ keepAlive: true, timeout: keepAliveMs, maxCachedSessions: 0 }),
);

/**
 * Sends a webhook request to a checked address. It succeeds with the head of a 2xx response. Up to 16 KiB of the body are read and
 * dropped, since receivers may treat an early close as a failure. Redirects are not followed. Never rejects because of the target.
 */
export async function sendRequest(webhook: WebhookRequest, options: SendOptions): Promise<AttemptOutcome> {
  const { policy, resolver, timeoutMs = attemptTimeoutMs, signal } = options;
  const startMs = performance.now();
  const passedMs = () => Math.round(performance.now() - startMs);
  const attempt = new AbortController();
  const abort = (message: string) => attempt.abort(new AttemptError(message));
  const timer = setTimeout(() => abort(`No response within ${timeoutMs / 1_000} s.`), timeoutMs);
  const onAbort = () => abort('The attempt was aborted.');
  signal?.addEventListener('abort', onAbort);
  if (signal?.aborted) onAbort();
  try {
    const problem = targetProblem(webhook.url, policy);
    if (problem) throw new AttemptError(`The URL must be ${problem}.`);
    const url = new URL(webhook.url);
    const addresses = await unlessAborted(resolveTarget(hostOf(url), resolver), attempt.signal);
    for (;;) {
      const request = openRequest(url, addresses, webhook, options, attempt.signal);
      const ended = outcomeOf(request, attempt.signal, options.clock ?? Date.now, passedMs);
      request.end(webhook.body);
      const outcome = await ended;
      // By then all stale connections are closed, and a new connection is never stale.
      if (outcome !== 'stale connection') return outcome;
    }
  } catch (error) {
    if (!(error instanceof AttemptError)) throw error;
    return { error: error.message, durationMs: passedMs() };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Resolves with the promise, or rejects with the reason of the signal if that comes first. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    promise.then(resolve, reject);
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

/** A request whose connection goes to one of the addresses. The certificate is still checked for the name. */
function openRequest(
  url: URL,
  addresses: LookupAddress[],
  { headers }: WebhookRequest,
  { ca }: SendOptions,
  signal: AbortSignal,
): ClientRequest {
  const target = `${url} ${addresses.map(({ address }) => address).sort()}`;
  const lookup: LookupFunction = (_name, _options, callback) => callback(null, addresses);
  const options = {
    method: 'POST',
    headers,
    signal,
    target,
    lookup,
    // Tries the addresses from `lookup` one after another.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: connectTimeoutMs,
  };
  if (url.protocol === 'http:') return httpRequest(url, { ...options, agent: httpAgent });
  // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot disable it.
  return httpsRequest(url, { ...options, agent: httpsAgent, rejectUnauthorized: true, ca });
}

/** Resolves with the first outcome, once the connection is free. `stale connection`: a reused one ended before the first byte. */
function outcomeOf(
  request: ClientRequest,
  signal: AbortSignal,
  clock: () => number,
  passedMs: () => number,
): Promise<AttemptOutcome | 'stale connection'> {
  return new Promise((resolve) => {
    let outcome: AttemptOutcome | undefined;
    let isStale = false;
    let readBytes = 0;
    const settle = (ending: Omit<AttemptOutcome, 'durationMs'>) => {
      outcome ??= { ...ending, durationMs: passedMs() };
    };
    // Counted on the socket, since a parser skips interim responses, chunk sizes and trailers.
    const count = ({ length }: Buffer) => {
      readBytes += length;
      if (readBytes > maxResponseBytes) request.destroy(new AttemptError(tooLong));
    };
    request.on('socket', (socket) => socket.on('data', count));
    request.on('response', (response) => {
      settle(readHead(response, clock()));
      response.on('error', () => {}).resume();
    });
    request.on('upgrade', (response, socket) => {
      settle(readHead(response, clock()));
      socket.on('error', () => {}).destroy();
    });
    request.on('error', (error) => {
      isStale = request.reusedSocket && readBytes === 0 && isBroken(error) && !signal.aborted;
      settle({ error: signal.aborted ? signal.reason.message : describeError(error, request) });
    });
    request.on('close', () => {
      request.socket?.off('data', count);
      settle({ error: brokenOff });
      resolve(isStale ? 'stale connection' : (outcome as AttemptOutcome));
    });
  });
}

/** Reads the status and `Retry-After` of a response, and nothing else. */
function readHead({ statusCode: status = 0, headers }: IncomingMessage, nowMs: number) {
  if (status >= 200 && status < 300) return { status };
  const waitMs = retryAfterMs(headers['retry-after'], nowMs);
  return {
    status,
    error: `The receiver returned ${status}${status >= 300 && status < 400 ? '; redirects are not followed' : ''}.`,
    ...(waitMs !== undefined && { retryAfterMs: waitMs }),
  };
}

const tooLong = 'The head of the response is too long.';
const brokenOff = 'The connection ended before a response.';

function describeError(error: NodeJS.ErrnoException, { socket }: ClientRequest): string {
  const { code = '' } = error;
  if (error instanceof AttemptError) return error.message;
  if ((socket as TLSSocket | null)?.authorizationError) return 'The certificate is not valid.';
  if (code === 'HPE_HEADER_OVERFLOW') return tooLong;
  if (code.startsWith('HPE_')) return 'The response is not HTTP.';
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return 'No TLS connection.';
  return isBroken(error) ? brokenOff : 'No connection.';
}

const isBroken = ({ code = '' }: NodeJS.ErrnoException) => ['ECONNRESET', 'EPIPE'].includes(code);
