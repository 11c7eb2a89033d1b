import type { FastifyReply, FastifyRequest } from 'fastify';
import { cameOverConnection, disconnected, resetConnection } from '../../../http/connections.ts';
import type { Operation } from '../../../http/operation.ts';
import { maxDelayed, maxDelayMs } from '../../lab-bounds.ts';
import { waitUnlessReleased } from './delay-queue.ts';
import { type Effect, type FaultInvocation, type FaultServices, integer } from './fault.ts';

/**
 * Whether the client is connected directly. A load balancer would hide a broken connection from the client, and treat the instance as
 * unhealthy, which affects other clients.
 */
export const isDirect = (request: FastifyRequest, services: FaultServices) =>
  cameOverConnection(request.raw) && !services.isPassedOn(request);

/** For the descriptions of faults that need `isDirect`. */
export const onlyDirect =
  'Requests through a proxy are not affected. If proxies are configured (`TRUST_PROXY`), no request is affected.';

/** For `fits`: operations that send a body at once. */
export const hasBody = ({ success }: Operation) => success.kind !== 'stream' && success.kind !== 'empty';

/** For `canTouch`: requests that cannot get a 304 or a response without a body. */
export const surelyHasBody = ({ method, headers }: FastifyRequest) =>
  method !== 'HEAD' && (method !== 'GET' || headers['if-none-match'] === undefined);

/** Calls `deliver` with the body of the response instead of sending it. */
export function delivering(
  { reply, cutOff }: Pick<FaultInvocation, 'reply' | 'cutOff'>,
  deliver: (body: Buffer) => void,
): Effect {
  onDisconnect(reply, cutOff);
  return { answer: (answer) => ({ ...answer, deliver }) };
}

/**
 * Calls `notify` if the client disconnects before its response is sent: Fastify reports only sent responses. Returns a function that
 * stops watching.
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

export const silenceMs = integer(
  { minimum: 1, maximum: maxDelayMs, default: maxDelayMs },
  `The length of the silence in milliseconds. At most ${maxDelayed} requests of a key wait. One more ends the silence of the oldest: its connection is reset.`,
);

/** Sends nothing for this time, or until the client disconnects, and then resets the connection. */
export async function resetAfterSilence(
  { request, reply, services, cutOff }: Pick<FaultInvocation, 'request' | 'reply' | 'services' | 'cutOff'>,
  ms: number,
): Promise<void> {
  await services.delayQueue.hold(request, reply, (released) =>
    waitUnlessReleased(ms, AbortSignal.any([released, disconnected(request, reply)])),
  );
  cutOff();
  resetConnection(request.raw.socket);
}
