import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { serializeRequest } from '../../../src/lab/recordings/serialize-request.ts';

/** The recorded start and duration of a request that was admitted at 1 s, took 5 ms, and is recorded at `nowUs`. */
function timesOf(nowUs: number, leftAtUs?: number) {
  const unread = { method: 'GET', url: '/v1/pets', headers: {}, rawHeaders: [], socket: {} };
  const row = serializeRequest(
    {
      ...{ requestId: 'a', address: undefined, status: 429, durationMs: 5 },
      unread: unread as unknown as IncomingMessage,
    },
    {
      ...{ nowUs, leftAtUs, beganAtMs: 0, admittedAtUs: 1_000_000, sentAtUs: undefined },
      ...{ connection: 'c', isBehindProxy: false, labPageToken: 'token' },
    },
  );
  return [row?.atUs, row?.tookUs];
}

test('a request begins when it was admitted, however late its response is recorded', () => {
  assert.deepEqual(timesOf(1_005_000), [1_000_000, 5_000]);
  // The process paused between the end of the response and the recording.
  assert.deepEqual(timesOf(1_205_000), [1_000_000, 5_000]);
  // The request was admitted only after its key was found.
  assert.deepEqual(timesOf(1_003_000), [998_000, 5_000]);
  assert.deepEqual(timesOf(1_205_000, 1_003_000), [1_000_000, 3_000]);
});
