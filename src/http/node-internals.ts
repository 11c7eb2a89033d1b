/** Undocumented fields of Node's HTTP server, tested by `test/http/node-internals.test.ts` on Node.js 22.16, 24.0 and 26.10. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The response that Node.js sends next on a socket. Nothing may be written into the middle of it. */
export function pendingResponse(socket: Socket): ServerResponse<IncomingMessage> | undefined {
  return (socket as { _httpMessage?: ServerResponse<IncomingMessage> | null })._httpMessage ?? undefined;
}

/** Closes the connection after this response, even if its headers say otherwise. */
export function endAfter(response: ServerResponse): void {
  Object.assign(response, { _last: true });
}

/** Bytes that the operating system has not accepted yet. `writableLength` counts a chunk as a whole until its end is accepted. */
export const unsentBytes = (socket: Socket): number =>
  (socket as { _handle?: { writeQueueSize: number } | null })._handle?.writeQueueSize ?? 0;

/** Calls `end` after the last response on a connection, where Node.js would destroy the socket. */
export function replaceEnd(socket: Socket, end: (socket: Socket) => void): void {
  socket.destroySoon = () => end(socket);
}

/** Keeps the parser of Node.js from reading on. */
export function detachParser(socket: Socket): void {
  socket.removeAllListeners('data');
}

/** Responds to a client that has closed its sending half. Node.js would drop the response. */
export function answerHalfClosed(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** Sends `readyLines` behind the status line. Node.js would check each field of `writeHead` and join them one by one. */
export function sendReadyLines(prototype: ServerResponse & { readyLines: string }): void {
  const internal = prototype as typeof prototype & { _storeHeader(firstLine: string, fields: unknown): void };
  const { _storeHeader } = internal;
  internal._storeHeader = function (firstLine, fields) {
    _storeHeader.call(this, firstLine + this.readyLines, fields);
  };
}

/** Keeps `closeIdleConnections` from cutting off responses that are not written yet: Node.js treats their connections as idle. */
export function keepUnwrittenResponses(server: Server): void {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const closeIdleConnections = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    // Node.js 24 would wait for the first request of a connection.
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    const busy = [...open].filter((socket) => socket.writableLength > 0);
    for (const socket of busy) socket.destroy = () => socket;
    closeIdleConnections();
    for (const socket of busy) Reflect.deleteProperty(socket, 'destroy');
  };
}
