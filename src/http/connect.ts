import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../errors.ts';

const noProxy = new ApiError('invalid_request', 'CONNECT is not supported: this server is not a proxy.');

/**
 * Has `answer` refuse CONNECT requests, whose connections Node.js hands over to the server. Returns a function that ends those
 * that are still open: Node.js no longer counts them as connections, but waits for their end.
 */
export function refuseConnect(
  server: Server,
  answer: (refusal: ApiError, socket: Socket) => void,
): () => void {
  const handedOver = new Set<Socket>();
  server.on('connect', (request, stream) => {
    const { socket } = request;
    // For these requests Node.js removes the time limits of the connection, and wraps it if content follows.
    stream.on('error', () => {});
    socket.on('timeout', () => socket.destroy());
    handedOver.add(socket);
    socket.once('close', () => handedOver.delete(socket));
    answer(noProxy, socket);
  });
  return () => {
    for (const socket of handedOver) socket.destroy();
  };
}
