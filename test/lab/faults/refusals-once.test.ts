import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertTouched, performedOf, rehearse } from '../../support/lab.ts';
import { startPetstore } from '../../support/petstore.ts';
import { countDragons, dragons } from '../../support/wire.ts';

const keyed = { ...dragons, headers: { 'idempotency-key': 'k1' } };

for (const [fault, ...expected] of [
  ['key-in-use', 409, 'idempotency_key_in_use', '1'],
  ['bad-gateway', 502, undefined, undefined],
] as const)
  test(`${fault}: one ${expected[0]}, nothing is changed, and the same Idempotency-Key then succeeds`, async (t) => {
    const store = await startPetstore(t);
    const before = await store.content();
    const rehearsal = await rehearse(store, [fault]);
    const refused = await store.call('POST', '/categories', keyed);
    assert.deepEqual([refused.status, refused.body?.code, refused.headers['retry-after']], expected);
    assertTouched(refused, rehearsal, fault);
    assert.equal(await store.content(), before);
    for (const replayed of [undefined, 'true']) {
      const { status, headers } = await store.call('POST', '/categories', keyed);
      assert.deepEqual([status, headers['idempotency-replayed']], [201, replayed]);
    }
    assert.equal(await countDragons(store), 1);
  });

test('key-in-use waits for a POST with an Idempotency-Key', async (t) => {
  const store = await startPetstore(t);
  const { id } = await rehearse(store, ['key-in-use']);
  assert.equal((await store.call('POST', '/categories', dragons)).status, 201);
  const headers = { 'idempotency-key': 'k1' };
  assert.equal((await store.call('GET', '/categories', { headers })).status, 200);
  assert.equal((await store.call('DELETE', '/categories/7', { headers })).status, 204);
  assert.deepEqual(await performedOf(store, id), [0]);
});

test('unauthorized: one 401, nothing is changed, and the same key then works without a penalty', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, ['unauthorized']);
  const before = await store.content();
  for (const [method, path, options] of [
    ['POST', '/categories', keyed],
    ['GET', '/pets', {}],
    ['HEAD', '/pets/1', {}],
  ] as const) {
    const refused = await store.call(method, path, options);
    assert.equal(refused.status, 401, method);
    assertTouched(refused, rehearsal, 'unauthorized');
    if (method !== 'HEAD') assert.equal(refused.body.code, 'unauthorized');
    assert.equal(await store.content(), before);
  }
  assert.equal((await store.call('POST', '/categories', keyed)).status, 201);
  assert.equal((await store.call('GET', '/pets')).status, 200);
});

test('clock-ahead: one 429 whose Date and reset are ten minutes ahead, and whose Retry-After is right', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, ['clock-ahead']);
  const refused = await store.call('POST', '/categories', dragons);
  assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '1']);
  assertTouched(refused, rehearsal, 'clock-ahead');
  const dateMs = Date.parse(refused.headers.date as string);
  assert.equal(dateMs, store.nowMs - (store.nowMs % 1_000) + 600_000);
  const resetMs = Number(refused.headers['x-ratelimit-reset']) * 1_000;
  assert.ok(resetMs - dateMs >= 1_000 && resetMs - dateMs <= 2_000, `${resetMs - dateMs}`);
  store.nowMs += 1_000;
  assert.equal((await store.call('POST', '/categories', dragons)).status, 201);
});
