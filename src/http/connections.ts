import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TimeLimits } from './time-limits.ts';

/** Requests that a client may send on one connection before it has read the answer to the first of them. */
const maxUnread = 32;
/**
 * How much of what a client sends after the end of its connection is read: more than `deploy/nginx.conf` lets through, which
 * would take a reset for a broken instance.
 */
export const lingerBytes = 4 * 1024 * 1024;

type EndLimits = Pick<TimeLimits, 'unreadMs' | 'lingerMs'>;

interface Connection {
  /** Requests whose answers the system has not taken yet. */
  unread: number;
  /** The request that came last, and its answer. */
  latest: IncomingMessage;
  answer: ServerResponse;
}

const connections = new WeakMap<Socket, Connection>();
const ending = new WeakSet<Socket>();
const limitsOf = new WeakMap<Socket, EndLimits>();

/**
 * Bounds what is kept for clients that do not read their answers, and keeps a connection that breaks from doing harm.
 * Node.js handles all requests of a chunk at once, thousands if they are short, and waits for a reader for ever. Here a
 * connection ends with the answer to the request that is one too many, and without an answer when nothing is read for
 * long. Clients may send again what was not answered (RFC 9112, section 9.3.2).
 */
export function boundConnections(server: Server, limits: EndLimits): void {
  const [handle] = server.listeners('request') as [RequestListener];
  server.removeAllListeners('request');

  server.on('connection', (socket) => {
    limitsOf.set(socket, limits);
    // Node.js takes its own listeners off what it hands over, and an error without a listener ends the process.
    socket.on('error', ignore);
    // Node.js calls this after the last answer on a connection.
    socket.destroySoon = () => endConnection(socket);
  });

  server.on('request', (request, response) => {
    const { socket } = request;
    const connection = connections.get(socket) ?? { unread: 0, latest: request, answer: response };
    connections.set(socket, connection);
    if (connection.unread === maxUnread) {
      socket.pause();
      return;
    }
    connection.latest = request;
    connection.answer = response;
    connection.unread++;
    if (connection.unread === maxUnread) response.shouldKeepAlive = false;
    else response.once('close', () => connection.unread--);
    handle(request, response);
  });

  keepAnswersUnderWay(server);

  // The same timer ends idle connections. Those that are yet to send a whole request have other limits.
  server.setTimeout(limits.unreadMs, (socket: Socket) => {
    const connection = connections.get(socket);
    if (!connection?.latest.complete) return;
    if (connection.unread === 0 || socket.writableLength > 0) socket.destroy();
  });
}

/** Node.js takes a connection for idle whose answer is made but not yet with the system, and would cut it at a stop. */
function keepAnswersUnderWay(server: Server): void {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const closeIdleConnections = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    const busy = [...open].filter((socket) => socket.writableLength > 0);
    for (const socket of busy) socket.destroy = () => socket;
    closeIdleConnections();
    for (const socket of busy) Reflect.deleteProperty(socket, 'destroy');
  };
}

/** Whether the request that is arriving on a connection has its answer already, so that it must not get another. */
export function isAnsweredEarly(socket: Socket): boolean {
  const connection = connections.get(socket);
  return connection !== undefined && !connection.latest.complete && connection.answer.writableEnded;
}

/** Whether a connection is being ended, so that what still comes on it counts for nothing. */
export const isEnding = (socket: Socket) => ending.has(socket);

/**
 * Ends a connection after `last`, the last that is written on it. What the client still sends is read and dropped for a
 * while: to close with unread bytes would reset the connection, and the client might lose the answer (RFC 9112, section
 * 9.6).
 */
export function endConnection(socket: Socket, last = ''): void {
  ending.add(socket);
  const { unreadMs, lingerMs } = limitsOf.get(socket) as EndLimits;
  let dropped = 0;
  const close = () => socket.destroy();
  // The parser of Node.js must see no more of it.
  socket.removeAllListeners('data');
  socket.on('data', (chunk) => {
    dropped += chunk.length;
    if (dropped > lingerBytes) close();
  });
  socket.resume();
  socket.end(last, () => setTimeout(close, lingerMs).unref());
  setTimeout(close, unreadMs).unref();
}

/** Who waits for the connection learns by its end. */
function ignore(): void {}
