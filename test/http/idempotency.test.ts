import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { keptBoundsOf, plans, type Quota } from '../../src/foundation/settings/plans.ts';
import { forgetOldIdempotencyKeys, keysPerBatch } from '../../src/http/idempotency.ts';
import { labKeptBounds, maxFaults } from '../../src/lab/lab-bounds.ts';
import { Petstore, startPetstore } from '../support/petstore.ts';
import { openTestStorage } from '../support/storage.ts';
import { statusesOf } from '../support/values.ts';

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
const isReplay = ({ headers }: { headers: Record<string, string> }) =>
  headers['idempotency-replayed'] === 'true';

/** Another instance on the storage of a store. */
async function startOther(t: TestContext, { folder }: Petstore): Promise<Petstore> {
  const other = new Petstore(await openTestStorage(folder), folder);
  t.after(() => other.close());
  await other.ready;
  return other;
}

const creations: [path: string, body: object, other: object][] = [
  ['/pets', { name: 'Zed', categoryId: 1 }, { name: 'Zoe', categoryId: 1 }],
  ['/categories', { name: 'Dragons' }, { name: 'Unicorns' }],
  ['/store/orders', { petId: 1, quantity: 2 }, { petId: 1, quantity: 1 }],
];

for (const [i, [path, body, other]] of creations.entries()) {
  test(`POST ${path} with the same Idempotency-Key creates one resource and replays the first response, and another request is refused`, async (t) => {
    const store = await startPetstore(t);
    const headers = { 'idempotency-key': '"walk-1"' };
    const first = await store.call('POST', path, { body, headers });
    assert.equal(first.status, 201);
    assert.ok(!('idempotency-replayed' in first.headers));
    const before = await store.content();
    for (const key of ['"walk-1"', 'walk-1']) {
      const again = await store.call('POST', path, { body, headers: { 'idempotency-key': key } });
      assert.deepEqual([again.status, again.text, isReplay(again)], [201, first.text, true]);
      assert.equal(again.headers.location, first.headers.location);
      assert.equal(again.headers.etag, first.headers.etag);
    }
    const [elsewhere, itsBody] = creations.at(i - 1) as (typeof creations)[number];
    for (const reused of [
      await store.call('POST', path, { body: other, headers }),
      await store.call('POST', elsewhere, { body: itsBody, headers }),
    ])
      assert.deepEqual([reused.status, reused.body.code], [422, 'idempotency_key_reused']);
    assert.equal(await store.content(), before);
  });
}

/** A POST below `/v1` and two below `/lab`, with the list of their resources. */
const twins: [url: string, body: object | undefined, list: string][] = [
  ['/v1/pets', { name: 'Zed', categoryId: 1 }, '/v1/pets?limit=100'],
  ['/lab/recordings', { name: 'Twins' }, '/lab/recordings'],
  ['/lab/rehearsals', { faults: [{ fault: 'unavailable', after: 99 }] }, '/lab/rehearsals'],
];

for (const [url, body, list] of twins) {
  test(`while POST ${url} is in progress, its duplicate gets 409 with Retry-After`, async (t) => {
    const store = await startPetstore(t);
    const post = () => store.send('POST', url, { body, headers: { 'idempotency-key': 'k' } });
    const before = (await store.send('GET', list)).body.length;
    const answers = await Promise.all(Array.from({ length: 20 }, post));
    const [created, ...others] = answers.filter(({ status }) => status === 201);
    assert.deepEqual(others, []);
    for (const twin of answers.filter((answer) => answer !== created)) {
      const { status, body, headers } = twin;
      assert.deepEqual([status, body.code, headers['retry-after']], [409, 'idempotency_key_in_use', '1']);
    }
    assert.equal((await store.send('GET', list)).body.length, before + 1);
    const again = await post();
    assert.deepEqual([again.headers['idempotency-replayed'], again.text], ['true', created?.text]);
  });
}

test('a replay works after a restart', async (t) => {
  const store = await startPetstore(t);
  const request = { body: { petId: 1 }, headers: { 'idempotency-key': 'k' } };
  const first = await store.call('POST', '/store/orders', request);
  await store.close();
  const restarted = await startOther(t, store);
  const again = await restarted.call('POST', '/store/orders', { ...request, key: store.key });
  assert.equal(again.text, first.text);
  assert.equal(again.headers['idempotency-replayed'], 'true');
  assert.equal((await restarted.call('GET', '/inventory/1', { key: store.key })).body.quantity, 3);
});

test('a refused request does not use its Idempotency-Key', async (t) => {
  const store = await startPetstore(t);
  const request = { body: { petId: 4 }, headers: { 'idempotency-key': 'k' } };
  assert.equal((await store.call('POST', '/store/orders', request)).body.code, 'insufficient_stock');
  await store.call('PATCH', '/inventory/4', { body: { quantity: 1 } });
  const placed = await store.call('POST', '/store/orders', request);
  assert.equal(placed.status, 201);
  assert.ok(!('idempotency-replayed' in placed.headers));
});

test('an Idempotency-Key is remembered for 24 hours and then free', async (t) => {
  const store = await startPetstore(t);
  const request = { body: { name: 'Dragons' }, headers: { 'idempotency-key': 'k' } };
  await store.call('POST', '/categories', request);
  store.nowMs += dayMs - 1;
  assert.equal((await store.call('POST', '/categories', request)).body.id, 8);
  store.nowMs += 1;
  assert.equal((await store.call('POST', '/categories', request)).body.id, 9);
  store.nowMs += dayMs;
  await forgetOldIdempotencyKeys(store.db, store.nowMs);
  assert.deepEqual(await store.db.read`select count(*) from idempotency_keys`, [[0]]);
});

test('an Idempotency-Key belongs to the API key: another API key may use the same one', async (t) => {
  const store = await startPetstore(t);
  const { key } = await store.addKey('pro');
  const { key: elsewhere } = await store.addWorkspace('second', true);
  const create = (name: string, key: string) =>
    store.call('POST', '/categories', { key, body: { name }, headers: { 'idempotency-key': 'k' } });
  const sent = [
    ['Dragons', store.key],
    ['Unicorns', key],
    ['Dragons', elsewhere],
  ] as const;
  const created = await Promise.all(sent.map(([name, by]) => create(name, by)));
  assert.deepEqual(statusesOf(created), [201, 201, 201]);
  assert.ok(!created.some(isReplay));
  for (const [i, [name, by]] of sent.entries()) {
    const again = await create(name, by);
    assert.deepEqual([isReplay(again), again.text], [true, created[i]?.text]);
  }
  assert.equal((await create('Dragons', key)).body.code, 'idempotency_key_reused');
  assert.equal((await store.call('GET', '/categories?limit=100')).body.length, 9);
});

test('any number of old Idempotency-Keys is removed in short transactions, and newer ones stay', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const insert = (nameOf: (i: number) => string, count: number, createdAtMs: number) =>
    store.db.write(async (sql) => {
      for (let i = 0; i < count; i++) {
        await sql`
          insert into idempotency_keys (workspace_id, key, fingerprint, created_at_ms)
          values (1, ${nameOf(i)}, 'x', ${createdAtMs})`;
      }
    });
  await insert((i) => `old ${i}`, 2 * keysPerBatch + 1, 0);
  await insert((i) => `new ${i}`, 3, store.nowMs);
  const { commits } = { ...store.db.counts };
  await forgetOldIdempotencyKeys(store.db, store.nowMs);
  // Three remove keys, and one finds no old counts.
  assert.equal(store.db.counts.commits - commits, 4);
  assert.deepEqual(await store.db.read`select count(*) from idempotency_keys`, [[3]]);
});

/** A store, and functions that create a category below `/v1` or start a recording below `/lab` with an Idempotency-Key. */
async function startKeyed(t: TestContext) {
  const store = await startPetstore(t, { seed: false });
  const post = (idempotencyKey: string, { key = store.key, api = 'v1', of = store } = {}) =>
    of.send('POST', api === 'v1' ? '/v1/categories' : '/lab/recordings', {
      key,
      body: { name: 'Dragons' },
      headers: { 'Idempotency-Key': idempotencyKey },
    });
  /** Adds to the count of a key's Idempotency-Keys in an hour, as if it had sent them. */
  const count = (keyId: string, kept: number, { api = 'v1', bytes = 0, atMs = store.nowMs } = {}) =>
    store.db.write(
      (sql) => sql`
        insert into idempotency_hours (workspace_id, account, hour, kept, bytes)
        values (1, ${`${api} ${keyId}`}, ${Math.floor(atMs / hourMs)}, ${kept}, ${bytes})`,
    );
  return { store, post, count };
}

test('an API key that has used all its Idempotency-Keys gets 409 for a new one, and replays for the others', async (t) => {
  const { store, post, count } = await startKeyed(t);
  const { key, id } = await store.addKey('free');
  const other = await store.addKey('free');
  const { keys } = keptBoundsOf(plans.free);
  await count(id, keys - 2, { atMs: store.nowMs - hourMs });
  for (const name of ['first', 'last']) assert.equal((await post(name, { key })).status, 201);
  for (const name of ['one-more', 'another']) {
    const { status, body } = await post(name, { key });
    assert.deepEqual([status, body.code], [409, 'conflict']);
    assert.match(body.message, /at most 2,000 in 24 hours, and 8,000,000 bytes/);
    // It is 12:00. The counts from 11:00 to 12:00 are removed a day after 12:00.
    assert.match(
      body.message,
      /Wait until 2026-06-02T12:00:00\.000Z, or send the request without Idempotency-Key/,
    );
  }
  for (const name of ['first', 'last']) assert.ok(isReplay(await post(name, { key })));
  const reused = { key, body: { name: 'Unicorns' }, headers: { 'Idempotency-Key': 'first' } };
  assert.equal((await store.call('POST', '/categories', reused)).body.code, 'idempotency_key_reused');
  const bare = { key, body: { name: 'Dragons' } };
  assert.equal((await store.call('POST', '/categories', bare)).status, 201, 'without the field');
  assert.equal((await post('lab', { key, api: 'lab' })).status, 201, 'below /lab');
  assert.equal((await post('one-more', other)).status, 201, 'another key of the workspace');

  store.nowMs += dayMs - 1;
  assert.ok(isReplay(await post('first', { key })), 'as long as the guide promises');
  assert.equal((await post('one-more', { key })).status, 409);
  store.nowMs += 1;
  const made = await post('one-more', { key });
  assert.deepEqual([made.status, isReplay(made)], [201, false], 'after the time in Retry-After');
});

test('long responses reach the limit of bytes before the limit of Idempotency-Keys', async (t) => {
  const { store, post } = await startKeyed(t);
  const faults = Array.from({ length: maxFaults }, (_, i) => ({
    fault: 'rate-limited',
    operation: 'getPet',
    after: i,
  }));
  const rehearse = (i: number) =>
    store.send('POST', '/lab/rehearsals', { body: { faults }, headers: { 'Idempotency-Key': `key-${i}` } });
  const first = await rehearse(0);
  assert.equal(first.status, 201);
  const size = first.text.length;
  const [[stored] = []] = await store.db.read`select bytes from idempotency_hours`;
  assert.ok(size > 10_000 && Number(stored) > size && Number(stored) < size + 1_000, `${size} ${stored}`);
  await store.db.write((sql) => sql`update idempotency_hours set bytes = ${labKeptBounds.bytes - 1}`);
  assert.equal((await rehearse(1)).status, 201, 'the last may go beyond');
  const refused = await rehearse(2);
  assert.equal(refused.status, 409);
  assert.match(refused.body.message, /10,000 in 24 hours, and 16,000,000 bytes .* 2026-06-02T13:00:00\.000Z/);
  assert.ok(isReplay(await rehearse(1)));
  assert.equal((await post('k')).status, 201);
});

test('the limit applies when many new Idempotency-Keys arrive at two instances at once', async (t) => {
  const { store, post, count } = await startKeyed(t);
  const quota: Quota = { perMinute: 1_000, perDay: 1_000 };
  const { key, id } = await store.addKey('enterprise', quota);
  await count(id, keptBoundsOf(quota).keys - 7);
  const instances = [store, await startOther(t, store)];
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) => post(`key-${i}`, { key, of: instances[i % 2] as Petstore })),
  );
  const byStatus = Object.groupBy(answers, ({ status }) => status);
  assert.deepEqual([byStatus[201]?.length, byStatus[409]?.length], [7, 33]);
  assert.deepEqual(await store.db.read`select count(*) from idempotency_keys`, [[7]]);
});

test('a client that uses its full plan for two days never reaches the limit of Idempotency-Keys', async (t) => {
  const { store, post } = await startKeyed(t);
  const quota: Quota = { perMinute: 5, perDay: 5 };
  const { key } = await store.addKey('enterprise', quota);
  store.nowMs = Date.parse('2026-06-01T23:30:00Z');
  for (const day of [1, 2]) {
    for (let i = 0; i < quota.perDay; i++) assert.equal((await post(`key-${day}-${i}`, { key })).status, 201);
    store.nowMs += hourMs;
  }
  const refused = await post('one-more', { key });
  assert.match(refused.body.message, /day/, 'the plan itself refuses');
});

test('a clock that was ahead blocks no new Idempotency-Key once it is right again', async (t) => {
  const { store, post, count } = await startKeyed(t);
  const { key, id } = await store.addKey('free');
  await count(id, keptBoundsOf(plans.free).keys, { atMs: store.nowMs + 20 * hourMs });
  assert.equal((await post('k', { key })).status, 201);
  store.nowMs += 20 * hourMs;
  assert.equal((await post('one-more', { key })).status, 409);
});

test('an Idempotency-Key costs three small statements, and its count is removed with it', async (t) => {
  const { store, post } = await startKeyed(t);
  await store.holdLimits();
  const cost = async (send: () => Promise<unknown>) => {
    const { statements } = { ...store.db.counts };
    await send();
    return store.db.counts.statements - statements;
  };
  await post('warm-up');
  const plain = await cost(() => store.call('POST', '/categories', { body: { name: 'Dragons' } }));
  assert.equal((await cost(() => post('k'))) - plain, 3);
  const counted = () => store.db.read`select kept from idempotency_hours`;
  assert.deepEqual(await counted(), [[2]]);
  store.nowMs += dayMs;
  await forgetOldIdempotencyKeys(store.db, store.nowMs);
  assert.deepEqual(await counted(), [[2]], 'keys of 12:59 would not be forgotten yet');
  store.nowMs += hourMs;
  await forgetOldIdempotencyKeys(store.db, store.nowMs);
  assert.deepEqual(await counted(), []);
});
