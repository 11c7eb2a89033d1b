import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../foundation/errors.ts';

const noProxy = new ApiError('invalid_request', 'CONNECT is not supported: this server is not a proxy.');

/** Refuses CONNECT requests by `answer`. Returns a function that ends those still open, because Node.js would wait for their end. */
export function refuseConnect(
  server: Server,
  answer: (refusal: ApiError, socket: Socket, accept: string | undefined) => void,
): () => void {
  const handedOver = new Set<Socket>();
  server.on('connect', (request, stream) => {
    const { socket } = request;
    // For these requests Node.js removes the time limits of the connection, and wraps it if content follows.
    stream.on('error', () => {});
    socket.on('timeout', () => socket.destroy());
    handedOver.add(socket);
    socket.once('close', () => handedOver.delete(socket));
    answer(noProxy, socket, request.headers.accept);
  });
  return () => {
    for (const socket of handedOver) socket.destroy();
  };
}

/** Sends `100 Continue` (RFC 9110, section 10.1.1) when the body is read, so a refused client sends none. Without it the connection ends. */
export function continueWhenRead(server: Server): void {
  server.on('checkContinue', (request, response) => {
    server.emit('request', request, response);
    const { shouldKeepAlive } = response;
    response.shouldKeepAlive = false;
    request.once('resume', () => {
      // A body that is unread after the response is read and dropped.
      if (response.headersSent) return;
      response.shouldKeepAlive = shouldKeepAlive;
      response.writeContinue();
    });
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}
