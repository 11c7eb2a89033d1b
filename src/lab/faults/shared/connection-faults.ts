import type { FastifyReply, FastifyRequest } from 'fastify';
import { cameOverConnection } from '../../../http/connections.ts';
import type { Operation } from '../../../http/operation.ts';
import type { FaultServices } from './fault.ts';

/**
 * Whether the connection of a request is the client's own. A load balancer would hide a broken connection from the client, and take
 * the instance for unhealthy, which harms others.
 */
export const isDirect = (request: FastifyRequest, services: FaultServices) =>
  cameOverConnection(request.raw) && !services.isPassedOn(request);

/** For the descriptions of faults that need `isDirect`. */
export const onlyDirect =
  'Requests that a proxy has passed on are let through: where proxies are configured, all.';

/** For `fits`: operations that answer with a body which is sent at once. */
export const hasBody = ({ success }: Operation) => success.kind !== 'stream' && success.kind !== 'empty';

/** For `canTouch`: requests that cannot be answered with 304 or without a body. */
export const surelyHasBody = ({ method, headers }: FastifyRequest) =>
  method !== 'HEAD' && (method !== 'GET' || headers['if-none-match'] === undefined);

/** Calls `send` with the body of the answer instead of sending it. `send` calls `end` with the last bytes to send. */
export function interceptAnswer(
  reply: FastifyReply,
  send: (body: Buffer, end: (last: Buffer) => void) => void,
): void {
  const { raw: response } = reply;
  response.end = (body?: unknown) => {
    Reflect.deleteProperty(response, 'end');
    reply.hijack();
    send(Buffer.from((body as string | Buffer | null) ?? ''), (last) => response.end(last));
    return response;
  };
}

/**
 * Calls `notify` if the client disconnects before its answer is sent: Fastify reports only sent answers. Returns a function that stops
 * watching.
 */
export function onDisconnect({ raw: response, request }: FastifyReply, notify: () => void): () => void {
  const stop = () => {
    response.off('finish', stop);
    response.off('close', closed);
  };
  const closed = () => {
    stop();
    notify();
  };
  if (request.raw.socket.destroyed) notify();
  else response.once('finish', stop).once('close', closed);
  return stop;
}
