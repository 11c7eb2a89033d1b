import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageUnavailableError } from '../src/errors.ts';
import type { Quota } from '../src/limits/plans.ts';
import { type Asked, assertTouched, rehearse } from './support/lab.ts';
import { times } from './support/limits.ts';
import { type JsonAnswer, type Options, type Petstore, startPetstore } from './support/petstore.ts';

type Start = Parameters<typeof startPetstore>[0];

/** What a client reads of an answer: all but the id of its request and the mark of the rehearsal. */
function readOf({ status, headers, text }: JsonAnswer) {
  const { 'x-request-id': id, 'petstore-rehearsal': _, date: _date, ...fields } = headers;
  return { status, headers: fields, text: text.replaceAll(id ?? '', 'ID') };
}

/** The first answer to a key that rehearses a fault, at a time of its own. */
async function rehearsed(t: Start, fault: Asked, quota: Quota, atMs: number): Promise<JsonAnswer> {
  const store = await startPetstore(t);
  store.nowMs = atMs;
  const { key } = await store.addKey('enterprise', quota);
  const rehearsal = await rehearse(store, [fault], { key });
  const answer = await store.call('GET', '/pets', { key });
  assertTouched(answer, rehearsal, typeof fault === 'string' ? fault : fault.fault);
  return answer;
}

/** The last of so many answers to a key. */
async function real(t: Start, count: number, quota: Quota, atMs: number): Promise<JsonAnswer> {
  const store = await startPetstore(t);
  store.nowMs = atMs;
  const { key } = await store.addKey('enterprise', quota);
  return (await times(count, () => store.call('GET', '/pets', { key }))).at(-1) as JsonAnswer;
}

const at = (time: string) => Date.parse(`2026-06-01T${time}Z`);

test('a rehearsed limit of a minute reads exactly like a real one', async (t) => {
  const quota = { perMinute: 1, perDay: 100 };
  for (const [time, retryAfterSeconds] of [
    ['12:00:58', 2],
    ['12:00:00', 60],
  ] as const) {
    const fault = { fault: 'rate-limited', retryAfterSeconds };
    const atMs = at(time);
    assert.deepEqual(readOf(await rehearsed(t, fault, quota, atMs)), readOf(await real(t, 2, quota, atMs)));
  }
});

test('a rehearsed limit that takes longer than a minute reads exactly like a real one of a day', async (t) => {
  const quota = { perMinute: 10, perDay: 1 };
  const fault = { fault: 'rate-limited', retryAfterSeconds: 3_600 };
  const atMs = at('23:00:00');
  assert.deepEqual(readOf(await rehearsed(t, fault, quota, atMs)), readOf(await real(t, 2, quota, atMs)));
});

test('a rehearsed limit of a minute does not tell of the day, also if that is used up', async (t) => {
  const fault = { fault: 'rate-limited', retryAfterSeconds: 2 };
  const atMs = at('12:00:00');
  const { headers, body } = await rehearsed(t, fault, { perMinute: 10, perDay: 1 }, atMs);
  assert.equal(body.message, 'The limit of 10 requests per minute is used up. Try again after 2 s.');
  assert.equal(headers['retry-after'], '2');
  assert.equal(headers['x-ratelimit-limit'], '10');
  assert.equal(headers['x-ratelimit-remaining'], '0');
  assert.equal(headers['x-ratelimit-reset'], String(atMs / 1_000 + 2));
  assert.equal(headers.ratelimit, '"minute";r=0;t=2,"day";r=1;t=43200');
});

test('a rehearsed ban reads exactly like a real one', async (t) => {
  const quota = { perMinute: 1, perDay: 100 };
  const atMs = at('12:00:30');
  const fault = { fault: 'banned', retryAfterSeconds: 60 };
  assert.deepEqual(readOf(await rehearsed(t, fault, quota, atMs)), readOf(await real(t, 12, quota, atMs)));
});

test('limits near their end read exactly like real ones, and the minutes are the real ones', async (t) => {
  const store = await startPetstore(t);
  store.nowMs = at('12:00:40');
  const real = await store.addKey('enterprise', { perMinute: 3, perDay: 100 });
  const rehearsed = await store.addKey('enterprise', { perMinute: 3, perDay: 100 });
  await rehearse(store, [{ fault: 'near-limit', remaining: 3 }], { key: rehearsed.key });
  const answersOf = async ({ key }: { key: string }) => {
    const first = await times(3, () => store.call('GET', '/pets', { key }));
    store.nowMs += 20_000;
    const next = await times(3, () => store.call('GET', '/pets', { key }));
    store.nowMs -= 20_000;
    return [...first, ...next].map(readOf);
  };
  assert.deepEqual(await answersOf(rehearsed), await answersOf(real));
});

test('when nothing remains, a condition on limits refuses until the minute ends', async (t) => {
  const store = await startPetstore(t);
  store.nowMs = at('12:00:40');
  const rehearsal = await rehearse(store, [{ fault: 'near-limit', remaining: 1 }]);
  const get = () => store.call('GET', '/pets');
  const [first, second, third] = [await get(), await get(), await get()];
  assert.deepEqual([first.status, first.headers['x-ratelimit-remaining']], [200, '0']);
  for (const refused of [second, third]) {
    assertTouched(refused, rehearsal, 'near-limit');
    assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '20']);
  }
  store.nowMs += 19_999;
  assert.equal((await get()).status, 429);
  store.nowMs += 1;
  assert.equal((await get()).status, 200);
});

test('who waits until the date of a limit is let through, and that is not before the limit ends', async (t) => {
  for (const extraMs of [0, 1, 500, 999]) {
    const store = await startPetstore(t);
    store.nowMs = at('12:00:00') + extraMs;
    await rehearse(store, [{ fault: 'rate-limited-date', retryAfterSeconds: 2 }]);
    const beganMs = store.nowMs;
    const { headers, body } = await store.call('GET', '/pets');
    const date = headers['retry-after'] as string;
    assert.ok(Date.parse(date) >= beganMs + 2_000 && Date.parse(date) < beganMs + 3_000);
    assert.equal(Number(headers['x-ratelimit-reset']), Date.parse(date) / 1_000);
    assert.equal(body.code, 'rate_limited');
    store.nowMs = Date.parse(date);
    assert.equal((await store.call('GET', '/pets')).status, 200);
  }
});

/** An answer while `fails` stands for what the storage reads. */
async function failing(store: Petstore, fails: () => Promise<never>): Promise<JsonAnswer> {
  await store.call('GET', '/pets');
  const { read } = store.db;
  Object.assign(store.db, { read: fails });
  const answer = await store.call('GET', '/pets');
  Object.assign(store.db, { read });
  return answer;
}

test('what rehearses a failure reads exactly like the failure', async (t) => {
  const quota = { perMinute: 100, perDay: 1_000 };
  for (const [fault, error] of [
    ['unavailable', new StorageUnavailableError('The disk is gone.')],
    ['internal-error', new Error('A mistake.')],
  ] as const) {
    const store = await startPetstore(t);
    store.key = (await store.addKey('enterprise', quota)).key;
    const failed = await failing(store, () => Promise.reject(error));
    await rehearse(store, [{ fault, after: 1 }]);
    store.nowMs += 60_000;
    await store.call('GET', '/pets');
    const answer = await store.call('GET', '/pets');
    const { ratelimit, 'x-ratelimit-reset': reset, ...fields } = readOf(answer).headers;
    const { ratelimit: _, 'x-ratelimit-reset': _reset, ...realFields } = readOf(failed).headers;
    assert.ok(ratelimit && reset);
    assert.deepEqual([fields, readOf(answer).text], [realFields, readOf(failed).text]);
  }
});

test('a rehearsed outage says how long it lasts', async (t) => {
  const fault = { fault: 'unavailable', retryAfterSeconds: 30 };
  const answer = await rehearsed(t, fault, { perMinute: 10, perDay: 10 }, at('12:00:00'));
  assert.deepEqual([answer.status, answer.headers['retry-after']], [503, '30']);
});

test('a rehearsed sunset reads exactly like the real one, and leaves steps for other operations', async (t) => {
  const answerOf = async (options: Options, sunset: boolean) => {
    const store = await startPetstore(t, options);
    if (sunset) await rehearse(store, ['sunset', 'internal-error']);
    else store.nowMs = Date.parse('2031-01-01T12:00:00Z');
    const answer = await store.call('GET', '/pets/1');
    const other = await store.call('GET', '/pets?id=1');
    assert.equal(other.status, sunset ? 500 : 200);
    const { 'x-ratelimit-reset': _, ...headers } = readOf(answer).headers;
    return { ...readOf(answer), headers };
  };
  assert.deepEqual(await answerOf({}, true), await answerOf({ enforceSunset: true }, false));
});
