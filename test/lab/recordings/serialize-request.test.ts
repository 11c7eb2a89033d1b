import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { reportOn } from '../../../src/lab/checks/report.ts';
import { petstoreApi } from '../../../src/lab/petstore/petstore-api.ts';
import { serializeRequest, toRecorded } from '../../../src/lab/recordings/serialize-request.ts';
import { rehearse } from '../../support/lab.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';
import { recordedIn, startRecording, valuesOf } from '../../support/recordings.ts';

/** Sends requests that use each part of a recorded request: early refusals, large ids, another writer, a proxy. */
async function sendAll(store: Petstore) {
  const create = (name: string, headers: Record<string, string> = {}) =>
    store.call('POST', '/categories', { body: { name }, headers });
  await rehearse(store, [
    { fault: 'unavailable', operation: 'createCategory', times: 2 },
    { fault: 'conflict', operation: 'updatePet' },
  ]);
  // Refusals before the body was read: one identified by its key, and one guessed.
  await create('Ann', { 'Idempotency-Key': 'a' });
  await create('Bob');
  await create('Ann', { 'Idempotency-Key': 'a' });
  await store.call('PATCH', '/pets/1', { body: { name: 'Smaug' } });
  await store.call('POST', '/store/orders', { body: { petId: 10_000_000_000_000_004, quantity: 1 } });
  await store.call('GET', '/pets?limit=2', { headers: { 'X-Forwarded-For': '192.0.2.1' } });
}

test('recorded requests convert back to the input of the checks', async (t) => {
  const store = await startPetstore(t);
  const recording = await startRecording(store);
  await sendAll(store);
  const requests = await recordedIn(store, recording);
  const again = toRecorded(requests);
  const { read } = store.db;
  const rows = await read`select number, at_us, took_us, facts from recorded_requests order by number`;
  assert.equal(rows.length, 6);
  for (const [number, atUs, tookUs, facts] of rows) {
    const request = again.find(({ id }) => Number(id) === number) as (typeof again)[number];
    const { body: _, gapMs, fingerprint, isGuessed, atMs, ...same } = request;
    const { answer, isProxied, ...stored } = JSON.parse(String(facts));
    assert.deepEqual(same, {
      ...stored,
      ...{ id: String(number), durationMs: Number(tookUs) / 1_000, answerHeaders: answer },
      ...(isProxied && { proxied: true }),
    });
    assert.ok(Math.abs(atMs - Number(atUs) / 1_000) < 0.001, `${atMs} ${atUs}`);
  }
  const inOrder = again.toSorted((a, b) => Number(a.id) - Number(b.id));
  const guessed = inOrder.filter(({ isGuessed }) => isGuessed);
  assert.deepEqual(valuesOf(guessed, 'id'), ['2']);
  const [first, , third, ...rest] = inOrder.map(({ fingerprint }) => fingerprint);
  assert.equal(first, third);
  assert.equal(new Set([first, ...rest]).size, 4);
  const { body: report } = await store.send('GET', `${recording}/report`);
  const id = recording.slice(recording.lastIndexOf('/') + 1);
  assert.deepEqual(reportOn(id, again, petstoreApi), report);
});

test('a fingerprint is the same in another recording, and offsets count from the start of each', async (t) => {
  const store = await startPetstore(t);
  const send = async () => {
    const recording = await startRecording(store);
    store.nowMs += 2_000;
    await store.send('POST', '/v1/store/orders', { body: { petId: 1, quantity: 1 } });
    return (await recordedIn(store, recording))[0];
  };
  const [one, other] = [await send(), await send()];
  assert.equal(one.fingerprint, other.fingerprint);
  for (const { offsetMs } of [one, other]) assert.ok(offsetMs > 1_900 && offsetMs < 3_000, String(offsetMs));
  assert.equal(other.proxied, undefined);
});

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
