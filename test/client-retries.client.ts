import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createPetstore, type Petstore, PetstoreError } from '../src/client/index.ts';
import {
  answer,
  cut,
  fakeClock,
  refusal,
  startScripted,
  text,
  truncated,
} from './support/scripted-server.ts';

const pet = { id: 7, name: 'Smaug', categoryId: 1, status: 'available' };
const page = answer(200, [pet]);
const readPage = (store: Petstore) => Array.fromAsync(store.listPets());

/** The error that a promise rejects with. */
async function errorOf(promise: Promise<unknown>): Promise<PetstoreError> {
  const error = await promise.then(
    () => assert.fail('It did not reject.'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof PetstoreError, String(error));
  return error;
}

test('it waits as long as Retry-After says, in seconds or until a date by the clock of the service', async (t) => {
  for (const [status, code, field, ms] of [
    [429, 'rate_limited', '7', 7_000],
    [503, 'unavailable', '7', 7_000],
    [403, 'key_banned', '60', 60_000],
    // An hour behind the clock of the client.
    [429, 'rate_limited', 'Mon, 01 Jun 2026 11:00:09 GMT', 9_000],
    [503, 'unavailable', 'Mon, 01 Jun 2026 10:59:00 GMT', 0],
  ] as const) {
    const headers = { 'retry-after': field, date: 'Mon, 01 Jun 2026 11:00:00 GMT' };
    const { store, got, clock } = await startScripted(t, [refusal(status, code, headers), page]);
    const before = clock.nowMs;
    assert.deepEqual(await readPage(store), [pet]);
    assert.equal(got.length, 2);
    const waited = clock.nowMs - before;
    assert.ok(waited >= ms && waited < ms + 2_000, `${field}: ${waited}`);
  }
});

test('what is told to wait for longer than it is ready to is rejected at once, and nothing more is sent until then', async (t) => {
  const headers = { 'retry-after': '3600' };
  const { store, got, clock } = await startScripted(t, [refusal(429, 'rate_limited', headers), page]);
  const error = await errorOf(readPage(store));
  const { code, status, requestId, isTemporary, retryAt } = error;
  assert.deepEqual([code, status, requestId, isTemporary], ['rate_limited', 429, 'req-1', true]);
  assert.equal(retryAt?.getTime(), clock.nowMs + 3_600_000);
  const next = await errorOf(store.createPet({ name: 'Smaug', categoryId: 1 }));
  assert.deepEqual([next.code, next.status, next.mayBeDone], ['rate_limited', 429, false]);
  assert.ok((next.retryAt as Date) >= retryAt);
  assert.equal(got.length, 1);
  clock.nowMs = (next.retryAt as Date).getTime();
  assert.deepEqual(await readPage(store), [pet]);
});

test('a wait within the time of the call may still be longer than it is ready to wait', async (t) => {
  const { store, got, clock } = await startScripted(t, [
    refusal(503, 'unavailable', { 'retry-after': '100' }),
  ]);
  const error = await errorOf(readPage(store));
  assert.deepEqual([error.code, error.retryAt?.getTime()], ['unavailable', clock.nowMs + 100_000]);
  assert.deepEqual([got.length, clock.waitsMs], [1, []]);
});

test('temporary failures are retried later each time, and not for ever', async (t) => {
  for (const [deed, code] of [
    [refusal(408, 'request_timeout'), 'request_timeout'],
    [refusal(500, 'internal_error'), 'internal_error'],
    [answer(502, 'Bad gateway'), 'unexpected_answer'],
    [answer(504), 'unexpected_answer'],
    [cut, 'no_answer'],
    [truncated, 'no_answer'],
    [answer(200), 'no_answer'],
    [text('[{"id":1,"name":"[\\"'), 'no_answer'],
    [text('[{"id":1}'), 'no_answer'],
  ] as const) {
    const { store, got, clock } = await startScripted(t, [deed]);
    const error = await errorOf(readPage(store));
    assert.equal(error.code, code);
    assert.ok(error.isTemporary && !error.mayBeDone);
    assert.equal(got.length, 5);
    assert.deepEqual(clock.waitsMs, [300, 600, 1_200, 2_400]);
    const recovering = await startScripted(t, [deed, deed, page]);
    assert.deepEqual(await readPage(recovering.store), [pet]);
  }
});

test('an answer that is none of the API is told as such, and not asked for again', async (t) => {
  const html = { 'content-type': 'text/html' };
  for (const [deed, why] of [
    [text('<!doctype html><p>Welcome to the "network" {', 200, html), /200 and text\/html.*not JSON/],
    [text('[}', 200, {}), /no type.*not JSON/],
    [answer(200, null), /something else/],
    [answer(200, 7), /something else/],
    [answer(204), /204.*something else/],
    [answer(304), /leads to another address/],
    [
      answer(301, undefined, { location: 'https://shop.test/v1' }),
      /leads to https:\/\/shop.test\/v1, .* baseUrl/,
    ],
    [answer(200, 'x'.repeat(2_000)), /more than 1000 bytes/],
    [text(gzipSync(' '.repeat(50_000_000)), 200, { 'content-encoding': 'gzip' }), /more than 1000 bytes/],
    [answer(418, { code: { toString: 1 }, message: ['x'] }), /status 418/],
  ] as const) {
    for (const call of [readPage, (store: Petstore) => store.createPet({ name: 'Smaug', categoryId: 1 })]) {
      const { store, got } = await startScripted(t, [deed], { maxAnswerBytes: 1_000 });
      const error = await errorOf(call(store));
      assert.equal(error.code, 'unexpected_answer');
      assert.match(error.message, why);
      assert.ok(!error.isTemporary);
      // A pet may have been added by what was answered so.
      assert.equal(
        error.mayBeDone,
        call !== readPage && [200, 204].includes(error.status ?? 0),
        error.message,
      );
      assert.equal(got.length, 1);
    }
  }
  const { store } = await startScripted(t, [answer(200, [pet])]);
  await assert.rejects(store.getCategory(1), { code: 'unexpected_answer' });
  const object = await startScripted(t, [answer(200, pet)]);
  await assert.rejects(readPage(object.store), { code: 'unexpected_answer' });
  // What it is named does not matter.
  const unnamed = await startScripted(t, [text(JSON.stringify([pet]), 200, {})]);
  assert.deepEqual(await readPage(unnamed.store), [pet]);
});

test('every method is retried as it was, a POST under its one Idempotency-Key', async (t) => {
  const calls: ((store: Petstore) => Promise<unknown>)[] = [
    (store) => store.createPet({ name: 'Smaug', categoryId: 1 }),
    (store) => store.createPet({ name: 'Smaug', categoryId: 1 }, { idempotencyKey: 'mine' }),
    (store) => store.replacePet(7, { name: 'Smaug', categoryId: 1 }, { ifMatch: '"a"' }),
    (store) => store.updatePet(7, { name: 'Smaug' }),
    (store) => store.pingWebhook(3),
  ];
  const keys = [];
  for (const call of calls) {
    const { store, got } = await startScripted(t, [
      cut,
      truncated,
      refusal(500, 'internal_error'),
      answer(200, pet),
    ]);
    assert.deepEqual(await call(store), pet);
    const [first, ...later] = got.map(({ headers, atMs: _, ...rest }) => ({
      ...rest,
      authorization: headers.authorization,
      key: headers['idempotency-key'],
      ifMatch: headers['if-match'],
      requestId: headers['x-request-id'],
    }));
    assert.equal(later.length, 3);
    for (const again of later) assert.deepEqual(again, first);
    assert.equal(first?.authorization, 'Bearer pet_secret');
    keys.push(first?.key);
  }
  assert.match(keys[0] as string, /^[0-9a-f]{32}$/);
  assert.equal(keys[1], 'mine');
  assert.deepEqual(keys.slice(2, 4), [undefined, undefined]);
  assert.equal(new Set(keys).size, 4);
});

test('what is refused for what it is comes back at once, with all that the service says', async (t) => {
  for (const status of [400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 422, 431]) {
    const { store, got } = await startScripted(t, [
      answer(status, { code: 'some_code', message: 'No.', status, hint: 1 }),
    ]);
    const error = await errorOf(store.createPet({ name: 'Smaug', categoryId: 1 }));
    assert.deepEqual([error.status, error.code, error.message], [status, 'some_code', 'No.']);
    assert.equal(error.details?.hint, 1);
    assert.ok(!error.isTemporary && !error.mayBeDone);
    assert.equal(got.length, 1);
  }
});

test('an error says whether the change may have been made', async (t) => {
  const lost = await startScripted(t, [cut]);
  assert.ok((await errorOf(lost.store.updatePet(7, { name: 'Smaug' }))).mayBeDone);
  const unclear = await startScripted(t, [cut, refusal(404, 'not_found')]);
  assert.ok((await errorOf(unclear.store.updatePet(7, { name: 'Smaug' }))).mayBeDone);
  // The service does nothing while it is unavailable.
  const unavailable = await startScripted(t, [refusal(503, 'unavailable', { 'retry-after': '1' })]);
  assert.ok(!(await errorOf(unavailable.store.updatePet(7, { name: 'Smaug' }))).mayBeDone);
});

test('a removal whose answer was lost is done when nothing is left', async (t) => {
  const { store, got } = await startScripted(t, [cut, refusal(404, 'not_found')]);
  assert.equal(await store.deletePet(7), undefined);
  assert.equal(got.length, 2);
  const absent = await startScripted(t, [refusal(404, 'not_found')]);
  assert.equal((await errorOf(absent.store.deletePet(7))).code, 'not_found');
});

test('a POST waits for the attempt before it, which is still being answered', async (t) => {
  const { store, got } = await startScripted(t, [cut, refusal(409, 'conflict'), answer(201, pet)]);
  assert.deepEqual(await store.createPet({ name: 'Smaug', categoryId: 1 }), pet);
  assert.equal(new Set(got.map(({ headers }) => headers['idempotency-key'])).size, 1);
});

test('a caller ends a call while it waits and while it is under way', async (t) => {
  const reason = new Error('No longer wanted.');
  const waiting = new AbortController();
  const { store } = await startScripted(t, [refusal(500, 'internal_error'), page], {
    clock: {
      sleep: (_, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          waiting.abort(reason);
        }),
    },
  });
  await assert.rejects(Array.fromAsync(store.listPets({}, { signal: waiting.signal })), reason);
  const underWay = new AbortController();
  const silent = await startScripted(t, [() => underWay.abort(reason)]);
  await assert.rejects(
    silent.store.createPet({ name: 'Smaug', categoryId: 1 }, { signal: underWay.signal }),
    reason,
  );
  assert.equal(silent.got.length, 1);
  await assert.rejects(silent.store.getCategory(1, { signal: AbortSignal.abort(reason) }), reason);
  assert.equal(silent.got.length, 1);
});

test('an attempt has a time limit, also for its body, and a call has one in all', async (t) => {
  const silent = () => {};
  const halting = await startScripted(t, [silent, (response) => response.writeHead(200).write('['), page], {
    attemptTimeoutMs: 50,
  });
  assert.deepEqual(await readPage(halting.store), [pet]);
  assert.equal(halting.got.length, 3);
  const { store, got } = await startScripted(t, [silent], { timeoutMs: 50 });
  const error = await errorOf(store.createPet({ name: 'Smaug', categoryId: 1 }));
  assert.deepEqual([error.code, error.mayBeDone], ['timed_out', true]);
  assert.equal(got.length, 1);
  // No wait begins that would end too late.
  const busy = await startScripted(t, [refusal(503, 'unavailable', { 'retry-after': '20' })], {
    timeoutMs: 10_000,
  });
  assert.equal((await errorOf(readPage(busy.store))).code, 'unavailable');
  assert.deepEqual(busy.clock.waitsMs, []);
});

test('where nobody listens, it says so after its attempts', async () => {
  const clock = fakeClock();
  const store = createPetstore({
    baseUrl: 'http://127.0.0.1:1/v1',
    apiKey: 'pet_secret',
    clock,
    attempts: 2,
  });
  const error = await errorOf(readPage(store));
  assert.deepEqual([error.code, error.status, clock.waitsMs.length], ['no_answer', undefined, 1]);
  assert.ok(error.cause instanceof Error);
});
