import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { createPetstore } from '../../src/client/index.ts';
import { answer, refusal, startScripted } from '../support/scripted-server.ts';
import { numbers } from '../support/values.ts';
import { startReal } from './real-store.ts';

const limits = (left: number, seconds: number) => ({
  ratelimit: `"minute";r=${left};t=${seconds},"day";r=900;t=40000`,
});
const isBanned = { name: 'PetstoreError', code: 'key_banned' };
const dayMs = 86_400_000;

test('many concurrent calls are never refused: they wait for the limits', async (t) => {
  const { access, clock, statuses } = await startReal(t, { perMinute: 20, perDay: 1_000 });
  const petstore = createPetstore(access);
  const before = clock.nowMs;
  const ids = Array.from({ length: 70 }, (_, i) => (i % 20) + 1);
  const pets = await Promise.all(ids.map((id) => petstore.findPet(id)));
  assert.deepEqual(
    pets.map((pet) => pet?.id),
    ids,
  );
  assert.deepEqual(new Set(statuses), new Set([200]));
  assert.ok(clock.nowMs - before >= 3 * 60_000);
});

test('when the quota of the day is used up, calls reject unsent, with the start of the next day', async (t) => {
  const { access, clock, statuses } = await startReal(t, { perMinute: 100, perDay: 3 });
  const petstore = createPetstore(access);
  for (const id of [1, 2, 3]) assert.equal((await petstore.findPet(id))?.id, id);
  const retryAt = new Date(Math.ceil(clock.nowMs / dayMs) * dayMs + 1);
  await assert.rejects(petstore.findPet(4), {
    name: 'PetstoreError',
    ...{ code: 'rate_limited', status: 429, isTemporary: true, retryAt },
  });
  assert.equal(statuses.length, 3);
});

test('while a key is banned, all calls of the client wait, and nothing is sent', async (t) => {
  const banned = refusal(403, 'key_banned', { 'retry-after': '60', ...limits(0, 60) });
  const { store, got } = await startScripted(t, [banned, answer(200, { id: 1 })]);
  const first = store.getCategory(1);
  while (got.length < 1) await new Promise(setImmediate);
  await Promise.all([first, ...[2, 3, 4].map((id) => store.getCategory(id))]);
  const [refused, ...later] = got.map(({ atMs }) => atMs);
  assert.equal(later.length, 4);
  for (const atMs of later) assert.ok(atMs >= (refused as number) + 60_000);
});

test('during a ban longer than maxWaitMs every call rejects with the end of the ban', async (t) => {
  const banned = refusal(403, 'key_banned', { 'retry-after': '3600', ...limits(0, 3600) });
  const { store, got } = await startScripted(t, [banned]);
  await assert.rejects(store.getCategory(1), isBanned);
  await assert.rejects(store.createCategory({ name: 'Dragons' }), isBanned);
  assert.equal(got.length, 1);
});

test('at 0 remaining it waits for the end of the window', async (t) => {
  const ok = (left: number, seconds: number) => answer(200, { id: 1 }, limits(left, seconds));
  const { store, got, clock } = await startScripted(t, [ok(1, 30), ok(0, 30), ok(59, 60)]);
  const before = clock.nowMs;
  await store.getCategory(1);
  await store.getCategory(1);
  assert.equal(clock.nowMs, before);
  await store.getCategory(1);
  assert.equal(clock.nowMs, before + 30_000);
  await store.getCategory(1);
  assert.equal(got.length, 4);
});

test('a wait of any length up to a day is reported and respected', async (t) => {
  const digits = '9'.repeat(400);
  const refusals = ['9000000000000', digits, 'Fri, 13 Sep 275760 00:00:00 GMT'].map((field) =>
    refusal(429, 'rate_limited', { 'retry-after': field }),
  );
  const lastOnes = ['99999999999999', digits].map((seconds) =>
    answer(200, { id: 1 }, { ratelimit: `"a";r=0;t=${seconds}` }),
  );
  for (const deed of [...refusals, ...lastOnes]) {
    const { store, got, clock } = await startScripted(t, [deed]);
    const retryAt = new Date(clock.nowMs + dayMs);
    if (lastOnes.includes(deed)) await store.getCategory(1);
    await assert.rejects(store.getCategory(1), { code: 'rate_limited', retryAt });
    assert.equal(got.length, 1);
  }
});

test('few requests are in flight until the limits are known, and failures block nobody', async (t) => {
  const batches: number[] = [];
  const held: ServerResponse[] = [];
  const release = () => {
    batches.push(held.length);
    for (const response of held.splice(0)) response.destroy();
  };
  const hold = (response: ServerResponse) => {
    held.push(response);
    if (held.length === 10) setTimeout(release, 10);
  };
  const { store } = await startScripted(t, [hold], { attempts: 1 });
  const results = await Promise.allSettled(numbers(40).map((id) => store.getCategory(id)));
  assert.ok(results.every(({ status }) => status === 'rejected'));
  assert.deepEqual(batches, [10, 10, 10, 10]);
});

test('the lowest number of remaining requests counts, in whatever order responses arrive', async (t) => {
  const held = Promise.withResolvers<ServerResponse>();
  const { store, clock } = await startScripted(t, [
    (response) => held.resolve(response),
    answer(200, { id: 2 }, limits(50, 30)),
  ]);
  const first = store.getCategory(1);
  const response = await held.promise;
  await store.getCategory(2);
  answer(200, { id: 1 }, limits(0, 30))(response, response.req);
  await first;
  const before = clock.nowMs;
  await store.getCategory(3);
  assert.equal(clock.nowMs, before + 30_000);
});
