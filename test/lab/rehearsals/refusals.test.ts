import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageUnavailableError } from '../../../src/foundation/errors.ts';
import { ampleQuota, type Quota } from '../../../src/foundation/settings/plans.ts';
import {
  type Asked,
  assertTouched,
  assertUntouched,
  endRehearsal,
  performedOf,
  rehearse,
} from '../../support/lab.ts';
import { times } from '../../support/limits.ts';
import { type JsonAnswer, type Petstore, type StoreSetup, startPetstore } from '../../support/petstore.ts';
import { statusesOf } from '../../support/values.ts';

type Start = Parameters<typeof startPetstore>[0];

/** An answer without its request id and without `Petstore-Rehearsal`. */
function readOf({ status, headers, text }: JsonAnswer) {
  const { 'x-request-id': id, 'petstore-rehearsal': _, date: _date, ...fields } = headers;
  return { status, headers: fields, text: text.replaceAll(id ?? '', 'ID') };
}

/** The first answer under a fault, at a given time. */
async function rehearsed(t: Start, fault: Asked, quota: Quota, atMs: number): Promise<JsonAnswer> {
  const store = await startPetstore(t);
  store.nowMs = atMs;
  const { key } = await store.addKey('enterprise', quota);
  const rehearsal = await rehearse(store, [fault], { key });
  const answer = await store.call('GET', '/pets', { key });
  assertTouched(answer, rehearsal, typeof fault === 'string' ? fault : fault.fault);
  return answer;
}

/** The last of `count` answers, at a given time. */
async function real(t: Start, count: number, quota: Quota, atMs: number): Promise<JsonAnswer> {
  const store = await startPetstore(t);
  store.nowMs = atMs;
  const { key } = await store.addKey('enterprise', quota);
  return (await times(count, () => store.call('GET', '/pets', { key }))).at(-1) as JsonAnswer;
}

const at = (time: string) => Date.parse(`2026-06-01T${time}Z`);

const ofMinute = { perMinute: 1, perDay: 100 };
const ofDay = { perMinute: 10, perDay: 1 };
for (const [what, fault, retryAfterSeconds, quota, requests, time] of [
  ['a limit with a short wait', 'rate-limited', 2, ofMinute, 2, '12:00:58'],
  ['a limit with a wait of a minute', 'rate-limited', 60, ofMinute, 2, '12:00:00'],
  ['a limit with a longer wait, which is one of the day', 'rate-limited', 3_600, ofDay, 2, '23:00:00'],
  ['a ban', 'banned', 60, ofMinute, 12, '12:00:30'],
] as const)
  test(`a simulated refusal is identical to a real one: ${what}`, async (t) => {
    const simulated = await rehearsed(t, { fault, retryAfterSeconds }, quota, at(time));
    assert.deepEqual(readOf(simulated), readOf(await real(t, requests, quota, at(time))));
  });

test('a simulated limit of a minute does not mention the day, even if that is used up', async (t) => {
  const fault = { fault: 'rate-limited', retryAfterSeconds: 2 };
  const atMs = at('12:00:00');
  const { headers, body } = await rehearsed(t, fault, ofDay, atMs);
  assert.match(body.message, /^The limit of 10 requests per minute is used up\. Try again after 2 s\./);
  assert.partialDeepStrictEqual(headers, {
    ...{ 'retry-after': '2', 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '0' },
    ...{ 'x-ratelimit-reset': String(atMs / 1_000 + 2), ratelimit: '"minute";r=0;t=2,"day";r=1;t=43200' },
  });
});

test('for a key with very high limits, a simulated limit shows the Business plan', async (t) => {
  const atMs = at('12:00:00');
  const refusal = async (retryAfterSeconds: number) =>
    rehearsed(t, { fault: 'rate-limited', retryAfterSeconds }, ampleQuota, atMs);
  const { headers, body } = await refusal(2);
  assert.match(body.message, /^The limit of 1,000 requests per minute is used up\. Try again after 2 s\./);
  assert.partialDeepStrictEqual(headers, {
    'x-ratelimit-limit': '1000',
    'ratelimit-policy': '"minute";q=1000;w=60,"day";q=100000;w=86400',
    ratelimit: '"minute";r=0;t=2,"day";r=100000;t=43200',
  });
  assert.match((await refusal(3_600)).body.message, /^The limit of 100,000 requests per day is used up/);
  const near = await rehearsed(t, { fault: 'near-limit', remaining: 1_000 }, ampleQuota, atMs);
  const { 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': remaining } = near.headers;
  assert.deepEqual([near.status, limit, remaining], [200, '1000', '999']);
});

test('near-limit is identical to a limit that runs out, within real minutes', async (t) => {
  const store = await startPetstore(t);
  store.nowMs = at('12:00:40');
  const add = () => store.addKey('enterprise', { perMinute: 3, perDay: 100 });
  const [real, rehearsed] = [await add(), await add()];
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

test('when nothing remains, near-limit refuses until the minute ends', async (t) => {
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

test('a client that waits until the Retry-After date is admitted, and not before', async (t) => {
  for (const extraMs of [0, 1, 500, 999]) {
    const store = await startPetstore(t);
    store.nowMs = at('12:00:00') + extraMs;
    await rehearse(store, [{ fault: 'rate-limited-date', retryAfterSeconds: 2 }]);
    const beganMs = store.nowMs;
    const { headers, body } = await store.call('GET', '/pets');
    const date = headers['retry-after'] as string;
    assert.equal(new Date(date).toUTCString(), date);
    assert.ok(Date.parse(date) >= beganMs + 2_000 && Date.parse(date) < beganMs + 3_000);
    assert.equal(Number(headers['x-ratelimit-reset']), Date.parse(date) / 1_000);
    assert.equal(body.code, 'rate_limited');
    store.nowMs = Date.parse(date);
    assert.equal((await store.call('GET', '/pets')).status, 200);
  }
});

test('a simulated failure is identical to the real one', async (t) => {
  for (const [fault, error] of [
    ['unavailable', new StorageUnavailableError('The disk is gone.')],
    ['internal-error', new Error('A mistake.')],
  ] as const) {
    const store = await startPetstore(t);
    store.key = (await store.addKey('enterprise', { perMinute: 100, perDay: 1_000 })).key;
    const get = () => store.call('GET', '/pets');
    await get();
    const { read } = store.db;
    Object.assign(store.db, { read: () => Promise.reject(error) });
    const failed = await get();
    Object.assign(store.db, { read });
    await rehearse(store, [{ fault, after: 1 }]);
    store.nowMs += 60_000;
    await get();
    const answer = await get();
    const { ratelimit, 'x-ratelimit-reset': reset } = answer.headers;
    assert.ok(ratelimit && reset);
    const { headers, ...real } = readOf(failed);
    const times = { ratelimit, 'x-ratelimit-reset': reset };
    assert.deepEqual(readOf(answer), { ...real, headers: { ...headers, ...times } });
  }
});

test('a simulated outage says how long it lasts', async (t) => {
  const fault = { fault: 'unavailable', retryAfterSeconds: 30 };
  const answer = await rehearsed(t, fault, { perMinute: 10, perDay: 10 }, at('12:00:00'));
  assert.deepEqual([answer.status, answer.headers['retry-after']], [503, '30']);
});

test('a simulated sunset is identical to the real one, and does not use up steps for other operations', async (t) => {
  const answerOf = async (options: StoreSetup, sunset: boolean) => {
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

const delay = { fault: 'delay', delayMs: 1 };
const rename = (store: Petstore, path: string, body: object = { name: 'Rex' }) =>
  store.call('PATCH', path, { body });

test('a request refused before a fault acts is not marked, and does not use up the fault', async (t) => {
  const store = await startPetstore(t);
  const done = await store.call('POST', '/store/orders', { body: { complete: true } });
  for (const [fault, refused, touched] of [
    [
      { ...delay, operation: 'updatePet' },
      () => rename(store, '/pets/1', { name: 1 }),
      () => rename(store, '/pets/1'),
    ],
    [
      { fault: 'conflict', operation: 'updatePet' },
      () => rename(store, '/pets/999'),
      () => rename(store, '/pets/1'),
    ],
    [
      { fault: 'conflict', operation: 'updateOrder' },
      () => rename(store, `/store/orders/${done.body.id}`, { quantity: 2 }),
      () => rename(store, '/store/orders/2', { quantity: 1 }),
    ],
    [
      { fault: 'empty-page', operation: 'listEvents' },
      () => store.call('GET', '/store/events?after=99999'),
      () => store.call('GET', '/store/events'),
    ],
  ] as const) {
    const rehearsal = await rehearse(store, [fault]);
    const answer = await refused();
    assert.ok(answer.status >= 400 && answer.status < 500, answer.text);
    assertUntouched(answer);
    assert.deepEqual(await performedOf(store, rehearsal.id), [0]);
    assertTouched(await touched(), rehearsal, fault.fault);
    assertUntouched(await touched());
    assert.deepEqual(await performedOf(store, rehearsal.id), [1]);
  }
});

test('late faults are performed in order with others, each after its number of requests', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, [
    { fault: 'internal-error', after: 2, operation: 'updatePet' },
    { fault: 'conflict', after: 1, operation: 'updatePet' },
    { fault: 'unavailable', operation: 'updatePet' },
  ]);
  const marks = ['unavailable', 'conflict', 'internal-error', undefined, undefined];
  for (const mark of marks) {
    const answer = await rename(store, '/pets/1');
    if (mark) assertTouched(answer, rehearsal, mark);
    else assertUntouched(answer);
  }
});

test('of many concurrent changes exactly the requested number meets another writer', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, [{ fault: 'conflict', times: 5, operation: 'updatePet' }]);
  const paths = Array.from({ length: 40 }, (_, i) => (i % 4 === 0 ? '/pets/999' : `/pets/${1 + (i % 3)}`));
  const answers = await Promise.all(paths.map((path) => rename(store, path)));
  const marked = answers.filter(({ headers }) => headers['petstore-rehearsal']);
  assert.deepEqual(statusesOf(marked), Array(5).fill(200));
  assert.deepEqual(await performedOf(store, rehearsal.id), [5]);
  const { body } = await store.call('GET', '/store/events?limit=100');
  const written = body.filter(({ requestId }: { requestId: string }) => requestId === rehearsal.id);
  assert.equal(written.length, 5, 'the other writer wrote as often');
});

test('a fault does nothing if its rehearsal ends before it acts, or if it cannot be counted', async (t) => {
  const store = await startPetstore(t);
  for (const [atClaim, status] of [
    [undefined, 200],
    [() => Promise.reject(new StorageUnavailableError('The disk is full.')), 503],
  ] as const) {
    const rehearsal = await rehearse(store, [{ fault: 'conflict', operation: 'updatePet' }]);
    const { write } = store.db;
    const asIs: typeof write = write.bind(store.db);
    const first = async (...args: Parameters<typeof write>) => {
      if (atClaim) return atClaim();
      Object.assign(store.db, { write });
      await endRehearsal(store, rehearsal.id);
      return asIs(...args);
    };
    Object.assign(store.db, { write: first });
    const answer = await rename(store, '/pets/1');
    Object.assign(store.db, { write });
    assert.equal(answer.status, status);
    assertUntouched(answer);
    assert.deepEqual(await performedOf(store, rehearsal.id), [0]);
  }
});
