import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Operation } from '../../../http/operation.ts';

/** For `fits`: operations that answer with a stream of events. */
export const isStream = ({ success }: Operation) => success.kind === 'stream';

/** For `canTouch`: HEAD gets the head of a stream alone. */
export const hasEvents = ({ method }: FastifyRequest) => method !== 'HEAD';

/** The ids of events of which a stream sent only the half. Recordings keep them. */
export const cutEvents = new WeakMap<IncomingMessage, string>();

type Sent = () => void;
/** Sends bytes on a stream, and calls `sent` when the system has taken them. */
type Send = (bytes: Buffer, sent?: Sent) => void;

/** Calls `write` with what a stream would send. `write` calls `sent` when the stream may go on. */
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
