import { CallThread } from '../../foundation/call-thread.ts';
import {
  batchSender,
  type FinishedAttempt,
  type MessageBatch,
  type SendBatch,
  type SendOne,
} from './send-batch.ts';
import { sendRequest } from './send-request.ts';
import type { TargetPolicy } from './target-policy.ts';
import { systemResolver } from './target-policy.ts';

/** Sends batches to webhooks. */
interface Sender {
  sendBatch: SendBatch;
  close(): Promise<void>;
}

/** A sender in a thread. For a clock other than the real one, which a thread cannot read, a sender in this thread. */
export function openSender(policy: TargetPolicy, clock: () => number): Sender {
  if (clock === Date.now) return threadSender(policy);
  const resolver = systemResolver();
  const send: SendOne = (request, signal) => sendRequest(request, { policy, resolver, signal, clock });
  return { sendBatch: batchSender(send, clock), close: async () => {} };
}

/**
 * Sends batches in a thread. An attempt takes several turns of an event loop, and a turn of the main thread lasts until all requests that
 * have arrived are handled.
 */
export function threadSender(policy: TargetPolicy): Sender {
  const module = new URL('./sender-thread.ts', import.meta.url);
  const thread = new CallThread<MessageBatch, FinishedAttempt, void>(module, 'sends to webhooks', {
    workerData: policy,
  });
  return {
    async sendBatch(batch, signal, onAttempt) {
      if (!signal.aborted) await thread.call(batch, onAttempt, signal);
    },
    close: () => thread.close(),
  };
}
