// The thread that sends to webhooks.

import { workerData } from 'node:worker_threads';
import { serveCalls } from '../../foundation/call-thread.ts';
import { systemResolver } from './resolve-target.ts';
import { type Batch, batchSender, type FinishedAttempt } from './send-batch.ts';
import { sendRequest } from './send-request.ts';

const resolver = systemResolver();
const sendBatch = batchSender(
  (request, signal) => sendRequest(request, { policy: workerData, resolver, signal }),
  Date.now,
);

serveCalls<Batch, FinishedAttempt, void>((batch, send, signal) => sendBatch(batch, signal, send));
