// The thread that sends to webhooks.

import { parentPort, workerData } from 'node:worker_threads';
import { systemResolver } from './resolve-target.ts';
import { batchSender } from './send-batch.ts';
import { sendRequest } from './send-request.ts';
import type { ThreadCommand, ThreadReport } from './sender.ts';

const resolver = systemResolver();
const sendBatch = batchSender(
  (request, signal) => sendRequest(request, { policy: workerData, resolver, signal }),
  Date.now,
);
const running = new Map<number, AbortController>();
const report = (message: ThreadReport) => parentPort?.postMessage(message);

parentPort?.on('message', async ({ number, batch }: ThreadCommand) => {
  if (!batch) {
    running.get(number)?.abort();
    return;
  }
  const controller = new AbortController();
  running.set(number, controller);
  try {
    await sendBatch(batch, controller.signal, (attempt) => report({ number, attempt }));
    report({ number });
  } catch (error) {
    report({ number, error });
  } finally {
    running.delete(number);
  }
});
