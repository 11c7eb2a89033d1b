import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that a client may send on one connection before it has read the answer to the first of them. */
const maxUnread = 32;
/** How long a client may read nothing of an answer. Node.js notices between one and two times this. */
const unreadTimeoutMs = 10_000;

interface Connection {
  /** Requests whose answers the system has not taken yet. */
  unread: number;
  latest: IncomingMessage;
}

/**
 * Bounds what is kept for clients that do not read their answers. Node.js handles all requests of a chunk at
 * once, thousands if they are short, and waits for a reader for ever. Here a connection ends with the answer
 * to the request that is one too many, and without an answer when nothing is read for long. Clients may send
 * again what was not answered (RFC 9112, section 9.3.2).
 */
export function boundConnections(server: Server): void {
  const connections = new WeakMap<Socket, Connection>();
  const [handle] = server.listeners('request') as [RequestListener];
  server.removeAllListeners('request');

  server.on('request', (request, response) => {
    const { socket } = request;
    let connection = connections.get(socket);
    if (!connection) {
      connection = { unread: 0, latest: request };
      connections.set(socket, connection);
    }
    if (connection.unread === maxUnread) {
      socket.pause();
      return;
    }
    connection.latest = request;
    connection.unread++;
    if (connection.unread === maxUnread) response.shouldKeepAlive = false;
    else response.once('close', () => connection.unread--);
    handle(request, response);
  });

  // The same timer ends idle connections. Those that are yet to send a whole request have other limits.
  server.setTimeout(unreadTimeoutMs, (socket: Socket) => {
    const connection = connections.get(socket);
    if (!connection?.latest.complete) return;
    if (connection.unread === 0 || socket.writableLength > 0) socket.destroy();
  });
}
