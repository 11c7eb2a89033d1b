import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportOn } from '../../../src/lab/checks/report.ts';
import { petstoreApi } from '../../../src/lab/petstore/petstore-api.ts';
import { toRecorded } from '../../../src/lab/recordings/serialize-request.ts';
import { rehearse } from '../../support/lab.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';
import { recordedIn, startRecording } from '../../support/recordings.ts';

/** Sends requests that use each part of a recorded request: early refusals, large ids, another writer, a proxy. */
async function sendAll(store: Petstore) {
  const create = (name: string, headers: Record<string, string> = {}) =>
    store.send('POST', '/v1/categories', { body: { name }, headers });
  await rehearse(store, [
    { fault: 'unavailable', operation: 'createCategory', times: 2 },
    { fault: 'conflict', operation: 'updatePet' },
  ]);
  // Refusals before the body was read: one identified by its key, and one guessed.
  await create('Ann', { 'Idempotency-Key': 'a' });
  await create('Bob');
  await create('Ann', { 'Idempotency-Key': 'a' });
  await store.send('PATCH', '/v1/pets/1', { body: { name: 'Smaug' } });
  await store.send('POST', '/v1/store/orders', { body: { petId: 10_000_000_000_000_004, quantity: 1 } });
  await store.send('GET', '/v1/pets?limit=2', { headers: { 'X-Forwarded-For': '192.0.2.1' } });
}

test('recorded requests convert back to the input of the checks', async (t) => {
  const store = await startPetstore(t);
  const recording = await startRecording(store);
  await sendAll(store);
  const requests = await recordedIn(store, recording);
  const again = toRecorded(requests);
  const rows = await store.db
    .read`select number, at_us, took_us, facts from recorded_requests order by number`;
  assert.equal(rows.length, 6);
  for (const [number, atUs, tookUs, facts] of rows) {
    const {
      body: _,
      gapMs,
      fingerprint,
      isGuessed,
      atMs,
      retryOf,
      ...same
    } = again.find((one) => Number(one.id) === number) as (typeof again)[number] & { retryOf?: string };
    const { answer, isProxied, ...stored } = JSON.parse(String(facts));
    assert.deepEqual(same, {
      ...stored,
      ...{ id: String(number), durationMs: Number(tookUs) / 1_000, answerHeaders: answer },
      ...(isProxied && { proxied: true }),
    });
    assert.ok(Math.abs(atMs - Number(atUs) / 1_000) < 0.001, `${atMs} ${atUs}`);
  }
  const inOrder = again.toSorted((a, b) => Number(a.id) - Number(b.id));
  assert.deepEqual(
    inOrder.map(({ isGuessed }) => isGuessed),
    [undefined, true, undefined, undefined, undefined, undefined],
  );
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
