import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateKey, revokeKey } from '../../../src/access/keys/store.ts';
import { ample, type Petstore, startPetstore } from '../../support/petstore.ts';

const guesser = '203.0.113.7';
/** The requests that an address may send in a minute without a valid key. */
const perMinute = 60;
/** The most look-ups of all addresses that may wait. */
const maxWaiting = 200;

/** Requests a pet and returns the status. */
async function ask(
  { app }: Petstore,
  key: string,
  remoteAddress = guesser,
  url = '/v1/pets/1',
): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await app.inject({ url, headers, remoteAddress })).statusCode;
}

/** Sends an invalid request. With a known key it gets 400 without the storage, which so many at once would slow down. */
const askBadly = (store: Petstore, key: string) => ask(store, key, guesser, '/v1/pets/one');

/** Sends an unknown key this many times. */
const guess = (store: Petstore, count: number) =>
  Promise.all(Array.from({ length: count }, () => ask(store, generateKey())));

const count = (statuses: number[], status: number) => statuses.filter((other) => other === status).length;

test('guessed keys cause few look-ups, and get 429 after the limit of the address', async (t) => {
  const store = await startPetstore(t);
  const { reads } = store.db.counts;
  const startMs = performance.now();
  const statuses = await guess(store, 1_500);
  const [unauthorized, limited] = [count(statuses, 401), count(statuses, 429)];
  assert.equal(unauthorized + limited, 1_500);
  // With PostgreSQL look-ups may overtake each other, so the limit also counts some that had to wait.
  assert.ok(unauthorized > 0 && unauthorized <= perMinute, `${unauthorized} got 401`);
  // Others start to wait while some are in progress, one a millisecond.
  const most = perMinute + maxWaiting + performance.now() - startMs;
  const asked = store.db.counts.reads - reads;
  assert.ok(asked <= most, `${asked} reads, at most ${most}`);
});

test('while keys are guessed, valid keys work from the same address and from others', async (t) => {
  const store = await startPetstore(t);
  const addKey = async () => (await store.addKey('pro')).key;
  const [known, fresh, elsewhere] = [await addKey(), await addKey(), await addKey()];
  assert.equal(await ask(store, known), 200);
  await guess(store, perMinute);
  // Longer than a key is trusted without a look-up.
  await sleep(550);
  const ended: string[] = [];
  const noted = async <T>(name: string, answer: Promise<T>) => {
    const result = await answer;
    ended.push(name);
    return result;
  };
  const [guesses, waiting, refused, ...others] = await Promise.all([
    noted('guesses', guess(store, maxWaiting - 1)),
    noted('a key that is new here', ask(store, fresh)),
    guess(store, 100),
    noted('a known key', ask(store, known)),
    noted('a key from elsewhere', ask(store, elsewhere, '198.51.100.1')),
  ]);
  assert.deepEqual([waiting, ...others], [200, 200, 200]);
  assert.equal(count([...guesses, ...refused], 429), maxWaiting + 99);
  const first = ended.slice(0, 2).toSorted();
  assert.deepEqual(first, ['a key from elsewhere', 'a known key'], 'they did not wait');
});

test('a key in many concurrent requests is looked up once, and an unknown key is not looked up again at once', async (t) => {
  const store = await startPetstore(t);
  // On a busy machine the cached key could expire meanwhile.
  t.mock.method(performance, 'now', () => 0);
  const { key } = await store.addKey('pro');
  const readsOf = async (act: () => Promise<unknown>) => {
    const { reads } = store.db.counts;
    await act();
    return store.db.counts.reads - reads;
  };
  // Other reads are of the pet, and of the stored state of the address.
  const many = (key: string) => Promise.all(Array.from({ length: 20 }, () => ask(store, key)));
  assert.equal(await readsOf(() => many(key)), 1 + 20 + 1, 'the key, twenty pets and the account');
  const unknown = generateKey();
  assert.equal(await readsOf(() => many(unknown)), 1 + 1, 'the key and the account');
  assert.equal(await readsOf(() => many(unknown)), 0);
  await many(unknown);
  assert.equal(await readsOf(() => many(unknown)), 0, 'nor beyond the limit');
  // More than an address may send without a valid key, plus the look-ups that may wait.
  const fresh = await store.addKey('enterprise', ample);
  const more = { length: 2 * (perMinute + maxWaiting) };
  const statuses = await Promise.all(Array.from(more, () => askBadly(store, fresh.key)));
  assert.deepEqual(new Set(statuses), new Set([400]));
});

test('a key works within a second of its creation, even if it was sent before', async (t) => {
  const store = await startPetstore(t);
  const { id, key } = await store.addKey('pro');
  const [row] = await store.db.read`select hash from api_keys where id = ${id}`;
  const hideAs = (hash: string) =>
    store.db.write((sql) => sql`update api_keys set hash = ${hash} where id = ${id}`);
  await hideAs('not yet');
  assert.equal(await ask(store, key), 401);
  await hideAs(String(row?.[0]));
  const deadlineMs = performance.now() + 1_000;
  let status = await ask(store, key);
  while (status !== 200 && performance.now() < deadlineMs) {
    await sleep(50);
    status = await ask(store, key);
  }
  assert.equal(status, 200);
});

/** A petstore whose storage responds to key look-ups only on demand, with the state when it was asked. The test moves its time. */
async function startSlow(t: TestContext) {
  const store = await startPetstore(t);
  const clock = { nowMs: 1 };
  t.mock.method(performance, 'now', () => clock.nowMs);
  const { read } = store.db;
  const held: (() => void)[] = [];
  t.mock.method(store.db, 'read', async (template: TemplateStringsArray, ...values: never[]) => {
    const rows = await read(template, ...values);
    if (template.join().includes('api_keys')) await new Promise<void>((resolve) => held.push(resolve));
    return rows;
  });
  const untilHeld = async (count: number) => {
    for (let tries = 0; held.length < count && tries < 200; tries++) await sleep(10);
  };
  return { store, clock, held, untilHeld };
}

test('a revoked key works for less than a second, however slow the database is', async (t) => {
  const { store, clock, held, untilHeld } = await startSlow(t);
  const { id, key } = await store.addKey('pro');
  const before = ask(store, key);
  await untilHeld(1);
  await store.db.write((sql) => revokeKey(sql, id, store.nowMs));
  clock.nowMs += 900;
  const whileAsking = ask(store, key);
  await untilHeld(2);
  held.shift()?.();
  assert.equal(await before, 200);
  const afterwards = ask(store, key);
  await untilHeld(1);
  for (const answer of held) answer();
  assert.deepEqual([await whileAsking, await afterwards], [401, 401]);
});

test('a new key works within a second, even if it was sent before and the database is slow', async (t) => {
  const { store, clock, held, untilHeld } = await startSlow(t);
  const { id, key } = await store.addKey('pro');
  const revokeAt = (ms: number | null) =>
    store.db.write((sql) => sql`update api_keys set revoked_at_ms = ${ms} where id = ${id}`);
  await revokeAt(0);
  const before = ask(store, key);
  await untilHeld(1);
  await revokeAt(null);
  clock.nowMs += 900;
  held.shift()?.();
  assert.equal(await before, 401);
  const afterwards = ask(store, key);
  await untilHeld(1);
  for (const answer of held) answer();
  assert.equal(await afterwards, 200);
});

test('while the database is slow, at most two look-ups a second are in progress', async (t) => {
  const { store, clock, held, untilHeld } = await startSlow(t);
  const { key } = await store.addKey('enterprise', ample);
  const answers: Promise<number>[] = [];
  for (let count = 1; count <= 4; count++) {
    for (const waitMs of [0, 250]) {
      clock.nowMs += waitMs;
      answers.push(...Array.from({ length: 100 }, () => askBadly(store, key)));
      await untilHeld(count);
    }
    clock.nowMs += 250;
  }
  for (const answer of held) answer();
  assert.deepEqual(new Set(await Promise.all(answers)), new Set([400]));
  assert.equal(held.length, 4);
});
