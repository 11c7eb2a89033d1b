import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchSize } from '../src/db/batches.ts';
import { forgetOldKeys } from '../src/http/idempotency.ts';
import { Petstore, startPetstore } from './support/petstore.ts';
import { openTestStorage } from './support/storage.ts';

const creations: [string, unknown, unknown][] = [
  ['/pets', { name: 'Zed', categoryId: 1 }, { name: 'Zoe', categoryId: 1 }],
  ['/categories', { name: 'Dragons' }, { name: 'Unicorns' }],
  ['/store/orders', { petId: 1, quantity: 2 }, { petId: 1, quantity: 1 }],
];

for (const [path, body, other] of creations) {
  test(`POST ${path} with the same Idempotency-Key creates one thing and replays the first answer`, async (t) => {
    const store = await startPetstore(t);
    const headers = { 'idempotency-key': '"walk-1"' };
    const first = await store.call('POST', path, { body, headers });
    assert.equal(first.status, 201);
    assert.ok(!('idempotency-replayed' in first.headers));
    const before = await store.content();
    for (const key of ['"walk-1"', 'walk-1']) {
      const again = await store.call('POST', path, { body, headers: { 'idempotency-key': key } });
      assert.equal(again.status, 201);
      assert.equal(again.text, first.text);
      assert.equal(again.headers['idempotency-replayed'], 'true');
      assert.equal(again.headers.location, first.headers.location);
      assert.equal(again.headers.etag, first.headers.etag);
    }
    const reused = await store.call('POST', path, { body: other, headers });
    assert.equal(reused.status, 422);
    assert.equal(reused.body.code, 'idempotency_key_reused');
    assert.equal(await store.content(), before);
  });
}

test('the same key on another path is a reuse', async (t) => {
  const store = await startPetstore(t);
  const headers = { 'idempotency-key': 'k' };
  const body = { name: 'Zed', categoryId: 1 };
  assert.equal((await store.call('POST', '/pets', { body, headers })).status, 201);
  assert.equal((await store.call('POST', '/categories', { body, headers })).status, 422);
});

test('concurrent twins create one thing; each gets its answer or 409', async (t) => {
  const store = await startPetstore(t);
  const request = { body: { name: 'Zed', categoryId: 1 }, headers: { 'idempotency-key': 'k' } };
  const answers = await Promise.all(Array.from({ length: 20 }, () => store.call('POST', '/pets', request)));
  const created = answers.filter(({ status }) => status === 201);
  assert.ok(created.length >= 1);
  assert.equal(new Set(created.map(({ text }) => text)).size, 1);
  assert.ok(answers.filter(({ status }) => status !== 201).every(({ body }) => body.code === 'conflict'));
  assert.deepEqual((await store.call('GET', '/pets?limit=100')).body.length, 21);
  assert.equal((await store.call('POST', '/pets', request)).headers['idempotency-replayed'], 'true');
});

test('a replay works after a restart', async (t) => {
  const store = await startPetstore(t);
  const request = { body: { petId: 1 }, headers: { 'idempotency-key': 'k' } };
  const first = await store.call('POST', '/store/orders', request);
  await store.close();
  const restarted = new Petstore(await openTestStorage(store.folder), store.folder);
  t.after(() => restarted.close());
  const again = await restarted.call('POST', '/store/orders', { ...request, key: store.key });
  assert.equal(again.text, first.text);
  assert.equal(again.headers['idempotency-replayed'], 'true');
  assert.equal((await restarted.call('GET', '/inventory/1', { key: store.key })).body.quantity, 3);
});

test('a refused request leaves its key unused', async (t) => {
  const store = await startPetstore(t);
  const request = { body: { petId: 4 }, headers: { 'idempotency-key': 'k' } };
  assert.equal((await store.call('POST', '/store/orders', request)).body.code, 'insufficient_stock');
  await store.call('PATCH', '/inventory/4', { body: { quantity: 1 } });
  const placed = await store.call('POST', '/store/orders', request);
  assert.equal(placed.status, 201);
  assert.ok(!('idempotency-replayed' in placed.headers));
});

test('a key is remembered for 24 hours and free after them', async (t) => {
  const store = await startPetstore(t);
  const request = { body: { name: 'Dragons' }, headers: { 'idempotency-key': 'k' } };
  const dayMs = 24 * 60 * 60 * 1000;
  await store.call('POST', '/categories', request);
  store.nowMs += dayMs - 1;
  assert.equal((await store.call('POST', '/categories', request)).body.id, 8);
  store.nowMs += 1;
  assert.equal((await store.call('POST', '/categories', request)).body.id, 9);
  store.nowMs += dayMs;
  await forgetOldKeys(store.db, store.nowMs);
  assert.deepEqual(await store.db.read`select count(*) from idempotency_keys`, [[0]]);
});

test('a key that stands in two fields is refused', async (t) => {
  const store = await startPetstore(t);
  const headers = { 'idempotency-key': ['a', 'b'] as unknown as string };
  const answer = await store.call('POST', '/categories', { body: { name: 'Dragons' }, headers });
  assert.equal(answer.body.code, 'invalid_request');
});

test('two workspaces may use the same key', async (t) => {
  const store = await startPetstore(t);
  const { key } = await store.addWorkspace('second', true);
  const request = { body: { name: 'Dragons' }, headers: { 'idempotency-key': 'k' } };
  await store.call('POST', '/categories', request);
  const other = await store.call('POST', '/categories', { ...request, key });
  assert.equal(other.status, 201);
  assert.ok(!('idempotency-replayed' in other.headers));
});

test('an Idempotency-Key belongs to the API key: another may use the same text for a request of its own', async (t) => {
  const store = await startPetstore(t);
  const { key } = await store.addKey('pro');
  const headers = { 'idempotency-key': 'k' };
  const create = (name: string, key: string) =>
    store.call('POST', '/categories', { key, body: { name }, headers });
  const [first, second] = await Promise.all([create('Dragons', store.key), create('Unicorns', key)]);
  assert.deepEqual([first.status, second.status], [201, 201]);
  for (const [name, by, created] of [
    ['Dragons', store.key, first],
    ['Unicorns', key, second],
  ] as const) {
    const again = await create(name, by);
    assert.deepEqual([again.headers['idempotency-replayed'], again.text], ['true', created.text]);
  }
  assert.equal((await create('Dragons', key)).body.code, 'idempotency_key_reused');
  assert.equal((await store.call('GET', '/categories?limit=100')).body.length, 9);
});

test('an answer that was kept when keys belonged to the workspace is replayed to the same request', async (t) => {
  const store = await startPetstore(t);
  const request = { body: { name: 'Dragons' }, headers: { 'idempotency-key': 'k' } };
  const first = await store.call('POST', '/categories', request);
  await store.db.write((sql) => sql`update idempotency_keys set key = 'k'`);
  for (const key of [store.key, (await store.addKey('pro')).key]) {
    const again = await store.call('POST', '/categories', { ...request, key });
    assert.deepEqual([again.headers['idempotency-replayed'], again.text], ['true', first.text]);
  }
  store.nowMs += 24 * 60 * 60 * 1000;
  assert.equal((await store.call('POST', '/categories', request)).body.id, first.body.id + 1);
});

test('however many keys are old, forgetting them takes short transactions, and leaves the others', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const insert = (nameOf: (i: number) => string, count: number, createdAtMs: number) =>
    store.db.write(async (sql) => {
      for (let i = 0; i < count; i++) {
        await sql`
          insert into idempotency_keys (workspace_id, key, fingerprint, created_at_ms)
          values (1, ${nameOf(i)}, 'x', ${createdAtMs})`;
      }
    });
  await insert((i) => `old ${i}`, 2 * batchSize + 1, 0);
  await insert((i) => `new ${i}`, 3, store.nowMs);
  const { commits } = { ...store.db.counts };
  await forgetOldKeys(store.db, store.nowMs);
  assert.equal(store.db.counts.commits - commits, 3);
  assert.deepEqual(await store.db.read`select count(*) from idempotency_keys`, [[3]]);
});
