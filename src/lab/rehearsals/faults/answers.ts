import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Operation } from '../../../operation.ts';

/** Whether the answers of an operation have a body that is sent at once. */
export const hasBody = ({ success }: Operation) => success.kind !== 'stream' && success.kind !== 'empty';

/** Whether the answer to a request surely has a body, if those of its operation have one. */
export const surelyHasBody = ({ method, headers }: FastifyRequest) =>
  method !== 'HEAD' && (method !== 'GET' || headers['if-none-match'] === undefined);

/** Calls `send` with the body of an answer in place of sending it. `end` sends the last of what is sent. */
export function insteadOfEnd(
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
 * Calls `tell` if the client leaves before its answer is sent: the framework tells of sent answers alone. Returns a function that ends
 * this.
 */
export function watchLeaving({ raw: response, request }: FastifyReply, tell: () => void): () => void {
  const stop = () => {
    response.off('finish', stop);
    response.off('close', left);
  };
  const left = () => {
    stop();
    tell();
  };
  if (request.raw.socket.destroyed) tell();
  else response.once('finish', stop).once('close', left);
  return stop;
}
