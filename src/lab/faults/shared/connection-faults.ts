import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { disconnected, resetConnection } from '../../../http/connections.ts';
import type { Operation } from '../../../http/operation.ts';
import { maxDelayed, maxDelayMs } from '../../lab-bounds.ts';
import { waitUnlessReleased } from './delay-queue.ts';
import { type Effect, type FaultInvocation, integer } from './fault.ts';

/** For faults of bodies: operations that send one at once, and requests that cannot get a 304 or a response without a body. */
export const onBodies = {
  fits: ({ success }: Operation) => success.kind !== 'stream' && success.kind !== 'empty',
  canTouch: ({ method, headers }: FastifyRequest) =>
    method !== 'HEAD' && (method !== 'GET' || headers['if-none-match'] === undefined),
};

/** For faults of streams. HEAD gets no events. */
export const onStreams = {
  fits: ({ success }: Operation) => success.kind === 'stream',
  canTouch: ({ method }: FastifyRequest) => method !== 'HEAD',
};

/** Calls `deliver` with the body of the response instead of sending it. */
export function delivering(
  { reply, cutOff }: Pick<FaultInvocation, 'reply' | 'cutOff'>,
  deliver: (body: Buffer) => void,
): Effect {
  onDisconnect(reply, cutOff);
  return { answer: (answer) => ({ ...answer, deliver }) };
}

/** Calls `notify` if the client disconnects before its response is sent: Fastify reports only sent ones. Returns a function that stops it. */
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

/** The ids of events that a stream sent only half of. Recordings store them. */
export const cutEvents = new WeakMap<IncomingMessage, string>();

type Sent = () => void;
/** Sends bytes on a stream, and calls `sent` when the operating system has accepted them. */
type Send = (bytes: Buffer, sent?: Sent) => void;

/** Calls `write` with the bytes that a stream would send. `write` calls `sent` when the stream may continue. */
export function interceptWrites(
  { raw: response }: FastifyReply,
  write: (bytes: Buffer, sent: Sent, send: Send) => void,
): void {
  const send = response.write.bind(response) as Send;
  response.write = (chunk: string | Buffer, sent?: unknown) => {
    write(Buffer.from(chunk as string), sent as Sent, send);
    return true;
  };
}
