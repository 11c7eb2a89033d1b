import { version } from '../../foundation/version.ts';
import type { AttemptOutcome, WebhookRequest } from './send-request.ts';
import { type SignedMessage, signedHeaders } from './signature.ts';

/** After this time no further request of a batch starts, and the settings are read again. */
export const batchMs = 100;

/** Messages to one webhook. A batch can be posted to a thread. */
export interface MessageBatch {
  url: string;
  /** The secrets that sign, the newest first. */
  secrets: readonly string[];
  messages: readonly (Pick<SignedMessage, 'id' | 'body'> & { traceparent: string })[];
  /** Shared memory with one number, which grows when the settings may have changed. */
  version: Int32Array;
  /** The number when the settings were read. If it has changed, no further request starts. */
  asOf: number;
}

export interface FinishedAttempt {
  /** Milliseconds since 1970. */
  startedAtMs: number;
  outcome: AttemptOutcome;
}

/** Sends a batch, and calls `onAttempt` after each message. The signal aborts the request in flight. */
export type SendBatch = (
  batch: MessageBatch,
  signal: AbortSignal,
  onAttempt: (attempt: FinishedAttempt) => void,
) => Promise<void>;

/** Sends one request. Never rejects because of the receiver. */
export type SendOne = (request: WebhookRequest, signal: AbortSignal) => Promise<AttemptOutcome>;

/** Sends messages one by one until one fails, the settings may have changed, or after the first message `batchMs` has passed. */
export function batchSender(send: SendOne, clock: () => number): SendBatch {
  return async ({ url, secrets, messages, version: current, asOf }, signal, onAttempt) => {
    const endMs = performance.now() + batchMs;
    for (const [i, { id, body, traceparent }] of messages.entries()) {
      if (Atomics.load(current, 0) !== asOf || (i > 0 && performance.now() >= endMs)) return;
      const startedAtMs = clock();
      const headers = {
        'content-type': 'application/json',
        'user-agent': `Petstore/${version}`,
        traceparent,
        ...signedHeaders({ id, body, atMs: startedAtMs }, secrets),
      };
      const outcome = await send({ url, headers, body }, signal);
      if (signal.aborted && outcome.error !== undefined) return;
      onAttempt({ startedAtMs, outcome });
      if (outcome.error !== undefined) return;
    }
  };
}
