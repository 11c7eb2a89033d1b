import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Operation } from '../../../http/operation.ts';

/** For `fits`: operations that return a stream of events. */
export const isStream = ({ success }: Operation) => success.kind === 'stream';

/** For `canTouch`: HEAD gets no events. */
export const hasEvents = ({ method }: FastifyRequest) => method !== 'HEAD';

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
