import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../foundation/errors.ts';

/**
 * Aborts when the client of a request has disconnected or has its response. A client that closes its side of the connection counts as
 * disconnected. A few clients close it and still read. They get the reason as the response.
 */
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
