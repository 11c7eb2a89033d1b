import assert from 'node:assert/strict';
import { operations } from '../../src/api/operations.ts';
import type { Operation } from '../../src/http/operation.ts';
import { sampleRequest } from '../../src/reference/description/samples.ts';

/** The operations whose response ends. */
export const endingOperations = operations.filter(({ success }) => success.kind !== 'stream');

/** Sends the example request of an operation. */
export function sendExample(operation: Operation, origin: string, headers: Record<string, string> = {}) {
  const { method, url, body, mediaType } = sampleRequest(operation, origin);
  return fetch(url, {
    method,
    headers: { authorization: 'Bearer a-key', ...(body && { 'content-type': mediaType }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
}

/** Sends the example requests of all operations but the stream, one after the other. Each must succeed. */
export async function sendExamples(origin: string, key: string): Promise<void> {
  for (const operation of endingOperations) {
    const response = await sendExample(operation, `${origin}/v1`, { authorization: `Bearer ${key}` });
    assert.equal(response.status, operation.success.status, `${operation.id}: ${await response.text()}`);
  }
}
