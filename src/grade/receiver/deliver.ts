import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { signedHeaders } from '../../store/webhooks/signature.ts';
import type { TrialMessage } from './messages.ts';

/** How to send a message differently than the service. */
export interface Manner {
  /** The secrets that sign it, the newest first. Empty: it is not signed. Default: the secret of the receiver. */
  secrets?: readonly string[];
  /** The age of its timestamp in milliseconds; negative for the future. */
  ageMs?: number;
  /** A body to send instead of the signed one. */
  body?: string;
  /** Sends the body in this many pieces, with a pause between them. */
  pieces?: number;
  /** Awaited before the last byte is sent, so that copies arrive at the same time. */
  meet?: () => Promise<unknown>;
}

/** A sent message and its outcome. */
export interface TrialDelivery {
  /** 1, 2, 3 and so on. */
  number: number;
  /** What was sent, in words. */
  what: string;
  type: string;
  /** Absent if there was no response. */
  status?: number;
  tookMs: number;
  /** Why there was no response. */
  error?: string;
}

/** How long the service waits for a response. */
const answerWithinMs = 15_000;
export const silence = `no response within ${answerWithinMs / 1_000} s`;
const [pauseMs, meetWithinMs] = [40, 2_000];

/** Posts a message once. Never rejects because of the receiver; throws when the signal is aborted. */
export async function post(
  url: URL,
  message: TrialMessage,
  { secrets, ageMs = 0, body = message.body, pieces = 1, meet }: Manner & { secrets: readonly string[] },
  signal: AbortSignal,
): Promise<Pick<TrialDelivery, 'status' | 'tookMs' | 'error'>> {
  signal.throwIfAborted();
  const beganMs = performance.now();
  const passed = () => ({ tookMs: Math.round(performance.now() - beganMs) });
  const { 'webhook-signature': signature, ...unsigned } = signedHeaders(
    { id: message.id, atMs: Date.now() - ageMs, body: message.body },
    secrets,
  );
  const headers = {
    ...{ 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) },
    ...unsigned,
    ...(signature !== '' && { 'webhook-signature': signature }),
  };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(answerWithinMs)]);
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  try {
    const status = await new Promise<number>((resolve, reject) => {
      const request = send(url, { method: 'POST', headers, signal: limit, agent: false }, (response) => {
        response.on('error', () => {}).resume();
        resolve(response.statusCode as number);
      });
      request.on('error', reject);
      void writeInPieces(request, Buffer.from(body), pieces, meet);
    });
    return { status, ...passed() };
  } catch (error) {
    signal.throwIfAborted();
    const { code, message: text } = error as NodeJS.ErrnoException;
    return {
      error: limit.aborted ? silence : (code ?? text),
      ...passed(),
    };
  }
}

/** Each character that is not ASCII is split, too. */
async function writeInPieces(
  request: ReturnType<typeof httpRequest>,
  body: Buffer,
  pieces: number,
  meet: Manner['meet'],
) {
  const length = Math.ceil(body.length / pieces);
  const isSplitAt = (at: number) => at % length === 0 || (pieces > 1 && ((body[at] ?? 0) & 0xc0) === 0x80);
  const lastByte = body.length - 1;
  for (let from = 0, to = 1; from < lastByte && !request.destroyed; from = to++) {
    while (to < lastByte && !isSplitAt(to)) to++;
    if (from > 0) await sleep(pauseMs);
    await new Promise((sent) => request.write(body.subarray(from, to), sent));
  }
  if (!meet) return request.end(body.subarray(lastByte));
  // `Content-Length` counts the last byte, too. On the socket it costs the least time.
  request.end();
  await meet();
  return request.socket?.write(body.subarray(lastByte));
}

/** Lets this many wait for each other, but not long: a receiver may take one connection at a time. Tells how many came in time. */
export function meeting(count: number): () => Promise<number> {
  const complete = Promise.withResolvers<number>();
  let present = 0;
  return () => {
    if (++present === 1) setTimeout(() => complete.resolve(present), meetWithinMs).unref();
    if (present >= count) complete.resolve(count);
    return complete.promise;
  };
}
