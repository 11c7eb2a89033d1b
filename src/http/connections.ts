import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../foundation/errors.ts';
import { isMisframed } from './headers.ts';
import { detachParser, keepUnwrittenResponses, replaceEnd, unsentBytes } from './node-internals.ts';

/** How long a client may take, in milliseconds. `deploy/nginx.conf` and the pages on operations and security name some, too. */
export const defaultTimeLimits = {
  /** For the headers of a request. */
  headersMs: 10_000,
  /** For a whole request. */
  requestMs: 20_000,
  /** How often these two limits are checked, and the next one. */
  checkEveryMs: 1_000,
  /** How long it may stop reading a response. */
  unreadMs: 10_000,
  /** How long it may be idle between two requests, which `Keep-Alive` promises. Node.js waits for a second more. */
  idleMs: 72_000,
  /** How long it may continue to send after the service ended the connection. These bytes are dropped. */
  lingerMs: 1_000,
};

export type TimeLimits = typeof defaultTimeLimits;

/** Requests that a client may send on one connection before it has read the response to the first of them. */
const maxUnread = 32;
/** The most bytes to read after the end of a connection. nginx takes a reset for a broken instance. */
export const lingerBytes = 4 * 1024 * 1024;

type EndLimits = Pick<TimeLimits, 'unreadMs' | 'lingerMs' | 'checkEveryMs'>;

interface Connection {
  /** How many requests came on it. */
  carried: number;
  /** How many of their responses the operating system has not accepted yet. */
  unread: number;
  /** Requests that wait until the response before theirs is read. */
  waiting: (() => void)[];
  /** Whether it takes no further requests. */
  isLast: boolean;
  /** The last request and its response. */
  latest: IncomingMessage;
  answer: ServerResponse;
}

const connections = new WeakMap<Socket, Connection>();
const ending = new WeakSet<Socket>();
const limitsOf = new WeakMap<Socket, EndLimits>();

/**
 * Bounds the memory for clients that do not read. Node.js handles all requests of a chunk at once, thousands if they are short. Here a
 * request is handled once the operating system has accepted the response before it. Too many waiting requests end their connection:
 * clients may retry those without a response (RFC 9112, section 9.3.2).
 */
export function boundConnections(server: Server, limits: EndLimits): void {
  const [handle] = server.listeners('request') as [RequestListener];
  server.removeAllListeners('request');

  server.on('connection', (socket) => {
    limitsOf.set(socket, limits);
    // Node.js removes its listeners from a socket that it hands over, and an error without a listener ends the process.
    socket.on('error', ignore);
    replaceEnd(socket, endConnection);
  });

  server.on('request', (request, response) => {
    const { socket } = request;
    const first = { carried: 0, unread: 0, waiting: [], isLast: false, latest: request, answer: response };
    const connection: Connection = connections.get(socket) ?? first;
    connections.set(socket, connection);
    if (connection.isLast) {
      socket.pause();
      return;
    }
    connection.latest = request;
    connection.answer = response;
    connection.carried++;
    connection.unread++;
    // If the end of a request is unclear, the bytes after it may belong to it. Node.js drops those after the head of an upgrade.
    const { headers, httpVersionMajor } = request;
    const isUnclear = isMisframed(request) || headers.upgrade !== undefined || httpVersionMajor !== 1;
    connection.isLast = connection.unread === maxUnread || isUnclear;
    if (connection.isLast) response.shouldKeepAlive = false;
    else {
      response.once('close', () => {
        connection.unread--;
        if (!socket.destroyed) connection.waiting.shift()?.();
      });
    }
    if (connection.unread === 1) handle(request, response);
    else connection.waiting.push(() => handle(request, response));
  });

  keepUnwrittenResponses(server);

  resetUnread(server, limits);

  // Ends idle connections. Connections that are still sending a request have other limits.
  server.setTimeout(limits.unreadMs, (socket: Socket) => {
    const connection = connections.get(socket);
    if (connection?.latest.complete && connection.unread === 0) socket.destroy();
  });
}

/** Resets a connection whose client reads none of its bytes for `unreadMs`. Counts checks, because the process may have been stopped. */
function resetUnread(server: Server, { unreadMs, checkEveryMs }: EndLimits): void {
  const waiting = new Map<Socket, { bytes: number; checks: number }>();
  server.on('connection', (socket) => {
    waiting.set(socket, { bytes: 0, checks: 0 });
    socket.once('close', () => waiting.delete(socket));
  });
  const check = () => {
    for (const [socket, seen] of waiting) {
      const bytes = unsentBytes(socket);
      seen.checks = bytes > 0 && bytes === seen.bytes ? seen.checks + 1 : 0;
      seen.bytes = bytes;
      if (seen.checks * checkEveryMs >= unreadMs) resetConnection(socket);
    }
  };
  server.once('listening', () => {
    const timer = setInterval(check, checkEveryMs).unref();
    server.once('close', () => clearInterval(timer));
  });
}

/** Whether the request that is arriving on a connection already got a response, so that it must not get another one. */
export function isAnsweredEarly(socket: Socket): boolean {
  const connection = connections.get(socket);
  return connection !== undefined && !connection.latest.complete && connection.answer.writableEnded;
}

/** Makes a long response the last on its connection, so that none waits behind it. False if the client already sent further requests. */
export function makeLast(request: IncomingMessage, answer: ServerResponse): boolean {
  const { socket } = request;
  const connection = connections.get(socket);
  // A request that did not come over a connection has none.
  if (!connection) return true;
  if (connection.latest !== request) return false;
  answer.shouldKeepAlive = false;
  dropInput(socket);
  return true;
}

/** Whether a request came over a connection, which can be cut off. */
export const cameOverConnection = ({ socket }: IncomingMessage) => connections.has(socket);

/** Whether a request came over a connection that stood idle after others. */
export function cameAfterIdling(request: IncomingMessage): boolean {
  const connection = connections.get(request.socket);
  return connection?.latest === request && connection.carried > 1 && connection.unread === 1;
}

/** Whether a connection is being ended, so that what it still receives is ignored. */
export const isEnding = (socket: Socket) => ending.has(socket);

/** Writes `last` and ends the connection, but reads on for a while: a reset could lose the response (RFC 9112, section 9.6). */
export function endConnection(socket: Socket, last = ''): void {
  ending.add(socket);
  const { unreadMs, lingerMs } = limitsOf.get(socket) as EndLimits;
  const close = () => socket.destroy();
  dropInput(socket);
  socket.end(last, () => setTimeout(close, lingerMs).unref());
  setTimeout(close, unreadMs).unref();
}

/** Resets a connection, with all responses in progress on it. */
export function resetConnection(socket: Socket): void {
  // Node.js would leave a connection open that it cannot reset because its end is being sent.
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

/** Reads and drops further data of a client. Too much data ends the connection. */
function dropInput(socket: Socket): void {
  let dropped = 0;
  detachParser(socket);
  socket.on('data', (chunk) => {
    dropped += chunk.length;
    if (dropped > lingerBytes) socket.destroy();
  });
  socket.resume();
}

/** Errors are ignored, because code that waits for the connection sees that it ended. */
function ignore(): void {}

/** Aborts when the client has its response or has closed its side. A client that still reads gets the reason as the response. */
export function disconnected({ raw: request }: FastifyRequest, { raw: response }: FastifyReply): AbortSignal {
  const { socket } = request;
  const ended = new AbortController();
  const abort = () =>
    ended.abort(
      new ApiError('invalid_request', 'The client closed its side of the connection before the response.'),
    );
  if (socket.destroyed || socket.readableEnded || response.destroyed) abort();
  const waiting = waitingOn(socket).add(abort);
  response.once('close', () => {
    waiting.delete(abort);
    abort();
  });
  return ended.signal;
}

const ends = new WeakMap<Socket, Set<() => void>>();

/** What is called once the client closes its side of a connection. One listener serves all requests that wait on it. */
function waitingOn(socket: Socket): Set<() => void> {
  const known = ends.get(socket);
  if (known) return known;
  const waiting = new Set<() => void>();
  ends.set(socket, waiting);
  socket.once('end', () => {
    for (const abort of waiting) abort();
  });
  return waiting;
}
