// The thread that sends to webhooks.

import { workerData } from 'node:worker_threads';
import { serveCalls } from '../../foundation/call-thread.ts';
import { batchSender, type FinishedAttempt, type MessageBatch } from './send-batch.ts';
import { sendRequest } from './send-request.ts';
import { systemResolver } from './target-policy.ts';

const resolver = systemResolver();
const sendBatch = batchSender(
  (request, signal) => sendRequest(request, { policy: workerData, resolver, signal }),
  Date.now,
);

serveCalls<MessageBatch, FinishedAttempt, void>((batch, send, signal) => sendBatch(batch, signal, send));
