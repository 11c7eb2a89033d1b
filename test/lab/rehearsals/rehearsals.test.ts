import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../../../src/api/operations.ts';
import type { Rehearsal } from '../../../src/lab/rehearsals/schema.ts';
import {
  assertTouched,
  assertUntouched,
  endRehearsal,
  performedOf,
  rehearsalOf,
  rehearse,
} from '../../support/lab.ts';
import { times } from '../../support/limits.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';
import { statusesOf } from '../../support/values.ts';

const getPets = (store: Petstore, key = store.key) => store.call('GET', '/pets', { key });
const getOrders = (store: Petstore, key = store.key) => store.call('GET', '/store/orders', { key });
const statuses = async (count: number, act: () => ReturnType<typeof getPets>) =>
  statusesOf(await times(count, act));

/** The counts of the first fault of a rehearsal. */
async function countsOf(store: Petstore, { id }: { id: string }) {
  const [fault] = (await rehearsalOf(store, id)).faults;
  return [fault?.performed, fault?.remaining, fault?.repeated];
}

/** Asserts that a request succeeds, and that no fault touches its response. */
async function assertUnaffected(store: Petstore, key?: string) {
  const answer = await getPets(store, key);
  assert.equal(answer.status, 200);
  assertUntouched(answer);
}

test('a fault is performed as often as requested, each response says so, and then no more', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, [{ fault: 'internal-error', operation: 'listPets', times: 2 }]);
  for (const performed of [1, 2]) {
    const answer = await getPets(store);
    assert.equal(answer.status, 500);
    assertTouched(answer, rehearsal, 'internal-error');
    assert.deepEqual(await countsOf(store, rehearsal), [performed, 2 - performed, undefined]);
  }
  await store.holdLimits();
  const { writes } = store.db.counts;
  await assertUnaffected(store);
  assert.equal(store.db.counts.writes, writes, 'nothing is written any more');
});

test('a fault without an operation is performed on each, and one with an operation on no other', async (t) => {
  const store = await startPetstore(t);
  const everywhere = await rehearse(store, ['unavailable']);
  assert.deepEqual(await statuses(2, () => getPets(store)), [503, 200]);
  assert.deepEqual(await statuses(2, () => getOrders(store)), [503, 200]);
  assert.deepEqual(await countsOf(store, everywhere), [2, operations.length - 2, undefined]);
  await rehearse(store, [{ fault: 'unavailable', operation: 'listOrders' }]);
  assert.deepEqual(await statuses(2, () => getPets(store)), [200, 200]);
  assert.deepEqual(await statuses(2, () => getOrders(store)), [503, 200]);
});

test('steps are performed in order, each after its number of requests', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, [
    { fault: 'internal-error', after: 1, times: 2 },
    { fault: 'unavailable', after: 1 },
  ]);
  assert.deepEqual(await statuses(6, () => getPets(store)), [200, 500, 500, 503, 200, 200]);
  assert.deepEqual(await performedOf(store, rehearsal.id), [2, 1]);
});

test('HEAD counts as GET, and requests without an operation meet no fault', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, ['internal-error']);
  const head = await store.call('HEAD', '/pets');
  assert.equal(head.status, 500);
  assertTouched(head, rehearsal, 'internal-error');
  assert.equal((await getPets(store)).status, 200);
  for (const [method, path, status] of [
    ['GET', '/nothing', 404],
    ['DELETE', '/pets', 405],
    ['OPTIONS', '/pets', 204],
  ] as const) {
    const answer = await store.call(method, path);
    assert.equal(answer.status, status);
    assertUntouched(answer);
  }
  assert.deepEqual(await performedOf(store, rehearsal.id), [1]);
});

test('a request refused by a fault changed nothing', async (t) => {
  const store = await startPetstore(t);
  const before = await store.content();
  for (const fault of ['rate-limited', 'rate-limited-date', 'banned', 'unavailable', 'internal-error']) {
    await rehearse(store, [{ fault, operation: 'placeOrder' }]);
    const answer = await store.call('POST', '/store/orders', { body: { petId: 1 } });
    assert.ok(answer.status >= 400);
    assert.equal(await store.content(), before);
  }
});

test('a new rehearsal replaces the one before, which can still be read', async (t) => {
  const store = await startPetstore(t);
  const first = await rehearse(store, [{ fault: 'internal-error', times: 5 }]);
  await getPets(store);
  store.nowMs += 1_000;
  const second = await rehearse(store, ['unavailable']);
  assertTouched(await getPets(store), second, 'unavailable');
  assert.equal((await getPets(store)).status, 200);
  const list: Rehearsal[] = (await store.send('GET', '/lab/rehearsals')).body;
  const ends = list.map(({ id, endedAt }) => [id, endedAt]);
  assert.deepEqual(ends, [
    [second.id, undefined],
    [first.id, new Date(store.nowMs).toISOString()],
  ]);
  assert.deepEqual(await performedOf(store, first.id), [1]);
});

test('an ended rehearsal does nothing more, and does not change', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, [{ fault: 'banned', retryAfterSeconds: 3_600, times: 5 }]);
  assert.equal((await getPets(store)).status, 403);
  const ended = await endRehearsal(store, rehearsal.id);
  assert.equal(ended.endedAt, new Date(store.nowMs).toISOString());
  await assertUnaffected(store);
  store.nowMs += 1_000;
  assert.deepEqual(await endRehearsal(store, rehearsal.id), ended);
  assert.deepEqual(await rehearsalOf(store, rehearsal.id), ended);
});

test('a rehearsal ends by itself at its time', async (t) => {
  const store = await startPetstore(t);
  const faults = [{ fault: 'banned', times: 100, retryAfterSeconds: 3_600 }, 'near-limit'];
  const rehearsal = await rehearse(store, faults, { expiresInSeconds: 60 });
  assert.equal(Date.parse(rehearsal.expiresAt), store.nowMs + 60_000);
  store.nowMs += 59_999;
  assert.equal((await getPets(store)).status, 403);
  store.nowMs += 1;
  await assertUnaffected(store);
  for (const show of [rehearsalOf, endRehearsal])
    assert.equal((await show(store, rehearsal.id)).endedAt, undefined);
});

test('a rehearsal does not affect other keys, and they cannot see it', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, [{ fault: 'banned', times: 100 }, 'near-limit']);
  await getPets(store);
  const others = [(await store.addKey('pro')).key, (await store.addWorkspace('second', true)).key];
  for (const key of others) {
    await assertUnaffected(store, key);
    assert.deepEqual((await store.send('GET', '/lab/rehearsals', { key })).body, []);
    for (const method of ['GET', 'DELETE']) {
      const refused = await store.send(method, `/lab/rehearsals/${rehearsal.id}`, { key });
      assert.deepEqual([refused.status, refused.body.code], [404, 'not_found']);
    }
  }
  const own = await rehearse(store, ['internal-error'], { key: others[0] as string });
  assertTouched(await getPets(store, others[0]), own, 'internal-error');
  assert.equal((await getPets(store)).status, 403, 'it is still banned');
});

test('a limit refuses its operation, and a ban the whole key', async (t) => {
  const store = await startPetstore(t);
  const limited = { fault: 'rate-limited', operation: 'listPets', retryAfterSeconds: 10 };
  const rehearsal = await rehearse(store, [limited]);
  assert.deepEqual(await statuses(3, () => getPets(store)), [429, 429, 429]);
  assert.equal((await getOrders(store)).status, 200);
  assert.deepEqual(await countsOf(store, rehearsal), [1, 0, 2]);
  await rehearse(store, [{ fault: 'banned', operation: 'listPets', retryAfterSeconds: 10 }]);
  assert.equal((await getOrders(store)).status, 200, 'not before it is performed');
  assert.deepEqual([(await getPets(store)).status, (await getOrders(store)).status], [403, 403]);
  store.nowMs += 10_000;
  assert.deepEqual([(await getPets(store)).status, (await getOrders(store)).status], [200, 200]);
});

test('a ban is performed once per key, however many operations the key uses', async (t) => {
  const store = await startPetstore(t);
  const ban = { fault: 'banned', after: 1, times: 2, retryAfterSeconds: 10 };
  const rehearsal = await rehearse(store, [ban]);
  assert.deepEqual([(await getOrders(store)).status, (await getPets(store)).status], [200, 403]);
  for (const path of ['/categories', '/store/orders', '/inventory', '/store/events']) {
    store.nowMs += 10_000;
    const { status } = await store.call('GET', path);
    assert.equal(status, path === '/categories' ? 403 : 200, path);
  }
  assert.deepEqual(await countsOf(store, rehearsal), [2, 0, undefined]);
});

test('if the clock goes back, no wait is longer than announced', async (t) => {
  const store = await startPetstore(t);
  await rehearse(store, [{ fault: 'rate-limited', operation: 'listPets', retryAfterSeconds: 2 }]);
  await getPets(store);
  store.nowMs -= 3_600_000;
  const again = await getPets(store);
  assert.deepEqual([again.status, again.headers['retry-after']], [429, '2']);
  store.nowMs += 2_000;
  assert.equal((await getPets(store)).status, 200);
});

test('faults do not affect requests to the lab, and these do not count against the limits of the key', async (t) => {
  const store = await startPetstore(t);
  const { key } = await store.addKey('enterprise', { perMinute: 2, perDay: 2 });
  const { id } = await rehearse(store, [{ fault: 'unavailable', times: 100 }], { key });
  assert.equal((await getPets(store, key)).headers['x-ratelimit-remaining'], '1');
  assertUntouched(await store.send('GET', `/lab/rehearsals/${id}`, { key }));
  assert.equal((await getPets(store, key)).headers['x-ratelimit-remaining'], '0');
  assert.equal((await getPets(store, key)).status, 429);
  const list = await store.send('GET', '/lab/rehearsals', { key });
  assert.equal(list.status, 200, 'also once they are used up');
  assert.deepEqual(await performedOf(store, id, key), [2], 'a real refusal comes first and consumes nothing');
});

test('responses changed by a fault are counted separately, and are no failures in the log', async (t) => {
  const store = await startPetstore(t);
  await rehearse(store, [{ fault: 'internal-error', operation: 'listPets' }, 'near-limit']);
  await getPets(store);
  const metrics = await store.metrics();
  assert.match(metrics, /^petstore_requests_total\{operation="listPets",status="500"\} 0$/m);
  assert.match(metrics, /^petstore_rehearsed_answers_total\{fault="internal-error"\} 1$/m);
  assert.match(metrics, /^petstore_rehearsed_answers_total\{fault="near-limit"\} 1$/m);
  assert.ok(!store.log.some((line) => line.includes('"failed"')));
  const line = store.log.find((text) => text.includes('"listPets"')) ?? '';
  assert.equal(JSON.parse(line).faults, 'near-limit internal-error');
});

test('a real failure during a rehearsal is logged as one', async (t) => {
  const store = await startPetstore(t);
  await rehearse(store, ['near-limit']);
  await store.db.write((sql) => sql`alter table pets rename to gone`);
  assert.equal((await getPets(store)).status, 500);
  assert.equal(store.log.filter((line) => line.includes('"failed"')).length, 1);
});

test('real limits and bans are the same after simulated ones', async (t) => {
  const store = await startPetstore(t);
  const { key } = await store.addKey('enterprise', { perMinute: 20, perDay: 100 });
  const { id } = await rehearse(store, [{ fault: 'banned', retryAfterSeconds: 86_400 }], { key });
  assert.deepEqual(await statuses(15, () => getPets(store, key)), Array(15).fill(403));
  await endRehearsal(store, id, key);
  const answer = await getPets(store, key);
  assert.deepEqual([answer.status, answer.headers['x-ratelimit-remaining']], [200, '4']);
  assert.match(await store.metrics(), /^petstore_bans_total\{plan="enterprise"\} 0$/m);
});
