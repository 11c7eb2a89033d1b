import { CallThread } from '../../foundation/call-thread.ts';
import {
  batchSender,
  type FinishedAttempt,
  type MessageBatch,
  type SendBatch,
  type SendOne,
} from './send-batch.ts';
import { sendRequest } from './send-request.ts';
import { systemResolver, type TargetPolicy } from './target-policy.ts';

/** A sender in a thread. For a clock other than the real one, which a thread cannot read, a sender in this thread. */
export function openSender(policy: TargetPolicy, clock: () => number): ReturnType<typeof threadSender> {
  if (clock === Date.now) return threadSender(policy);
  const resolver = systemResolver();
  const send: SendOne = (request, signal) => sendRequest(request, { policy, resolver, signal, clock });
  return { sendBatch: batchSender(send, clock), close: async () => {} };
}

/** Sends batches in a thread. A turn of the main thread lasts until all arrived requests are done. An attempt takes several. */
export function threadSender(policy: TargetPolicy): { sendBatch: SendBatch; close(): Promise<void> } {
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
