import type { Worker } from 'node:worker_threads';
import { startThread } from '../../foundation/process.ts';
import { systemResolver } from './resolve-target.ts';
import { type Batch, batchSender, type FinishedAttempt, type SendBatch, type SendOne } from './send-batch.ts';
import { sendRequest } from './send-request.ts';
import type { TargetPolicy } from './target-policy.ts';

/** A batch to send. Without `batch`, the command aborts the batch with this number. */
export interface ThreadCommand {
  number: number;
  batch?: Batch;
}

/** A finished attempt, or an error of this program. Without either, the batch has ended. */
export interface ThreadReport {
  number: number;
  attempt?: FinishedAttempt;
  error?: unknown;
}

interface PendingBatch extends PromiseWithResolvers<void> {
  onAttempt(attempt: FinishedAttempt): void;
}

/** Sends batches to webhooks. */
interface Sender {
  sendBatch: SendBatch;
  close(): Promise<void>;
}

/** A sender in a thread. For a clock other than the real one, which a thread cannot read, a sender in this thread. */
export function openSender(policy: TargetPolicy, clock: () => number): Sender {
  if (clock === Date.now) return new ThreadSender(policy);
  const resolver = systemResolver();
  const send: SendOne = (request, signal) => sendRequest(request, { policy, resolver, signal, clock });
  return { sendBatch: batchSender(send, clock), close: async () => {} };
}

/**
 * Sends batches in a thread, which starts with the first batch. An attempt takes several turns of an event loop, and a turn of the
 * main thread lasts until all requests that have arrived are handled.
 */
export class ThreadSender implements Sender {
  readonly #policy: TargetPolicy;
  readonly #pending = new Map<number, PendingBatch>();
  #worker: Worker | undefined;
  #lastNumber = 0;

  constructor(policy: TargetPolicy) {
    this.#policy = policy;
  }

  /** Rejects if the thread has failed. */
  sendBatch: SendBatch = async (batch, signal, onAttempt) => {
    if (signal.aborted) return;
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const number = ++this.#lastNumber;
    const abort = () => worker.postMessage({ number } satisfies ThreadCommand);
    signal.addEventListener('abort', abort);
    const pending = { onAttempt, ...Promise.withResolvers<void>() };
    this.#pending.set(number, pending);
    worker.ref();
    worker.postMessage({ number, batch } satisfies ThreadCommand);
    try {
      await pending.promise;
    } finally {
      signal.removeEventListener('abort', abort);
      this.#pending.delete(number);
      if (this.#pending.size === 0) worker.unref();
    }
  };

  /** Terminates the thread. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = startThread(new URL('./sender-thread.ts', import.meta.url), { workerData: this.#policy });
    let failure: unknown;
    worker.on('message', ({ number, attempt, error }: ThreadReport) => {
      const pending = this.#pending.get(number);
      if (attempt) pending?.onAttempt(attempt);
      else if (error) pending?.reject(error);
      else pending?.resolve();
    });
    worker.on('error', (error) => {
      failure = error;
    });
    worker.on('exit', () => {
      this.#worker = undefined;
      const error = new Error('The thread that sends to webhooks has ended.', { cause: failure });
      for (const { reject } of this.#pending.values()) reject(error);
    });
    return worker;
  }
}
