import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LocalLimiter } from '../../../src/access/limits/local-limiter.ts';
import { operations } from '../../../src/api/operations.ts';
import { counts, tables } from '../../../src/db/tables.ts';
import { banRules, plans } from '../../../src/foundation/settings/plans.ts';
import { sampleRequest } from '../../../src/reference/description/samples.ts';
import { addPets } from '../../../src/store/demo/bulk.ts';
import {
  clearWorkspace,
  closeWorkspace,
  deleteInBatches,
  deleteWorkspace,
} from '../../../src/store/workspaces/store.ts';
import { contentOf, filledTables } from '../../support/content.ts';
import { addCategory } from '../../support/dispatching.ts';
import { addCategories, rehearse } from '../../support/lab.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';
import { fill } from '../../support/resources.ts';
import { petstore } from '../../support/service.ts';
import { openStream } from '../../support/streams.ts';
import { until } from '../../support/until.ts';

const first = { id: 1, name: 'first' };
const contextOf = ({ nowMs }: Petstore) => ({ atMs: nowMs, workspaceId: 1 });

/** The database of a store, which calls `around` for each write. */
const writingBy = ({ db }: Petstore, around: (write: () => Promise<unknown>) => Promise<unknown>) =>
  Object.create(db, {
    write: { value: (...args: Parameters<typeof db.write>) => around(() => db.write(...args)) },
  });

test('no operation shows a workspace the rows of another with the same ids', async (t) => {
  const store = await startPetstore(t);
  const { key } = await store.addWorkspace('second', true);
  const mine = await store.call('POST', '/pets', { body: { name: 'Mine', categoryId: 1 } });
  const theirs = await store.call('POST', '/pets', { key, body: { name: 'Theirs', categoryId: 1 } });
  assert.equal(mine.body.id, theirs.body.id);

  for (const owner of [store.key, key]) await fill(store, owner);

  const own = () => contentOf(store.db.read, 1);
  const before = await own();
  const etag = (await store.call('GET', '/pets/1')).headers.etag as string;

  const used = new Set<string>();
  const call = async (id: string, path: string, body?: unknown, headers = {}) => {
    const operation = operations.find((operation) => operation.id === id);
    assert.ok(operation, id);
    used.add(id);
    const answer = await store.call(operation.method, path, { key, body, headers });
    assert.ok(answer.status < 300, answer.text);
    return answer.body;
  };
  await call('createCategory', '/categories', { name: 'Dragons' });
  await call('replaceCategory', '/categories/1', { name: 'Wolves' });
  await call('createPet', '/pets', { name: 'Smaug', categoryId: 8 });
  await call('replacePet', '/pets/1', { name: 'Fang', categoryId: 8, status: 'sold' });
  await call('updatePet', '/pets/2', { name: 'Claw' }, { 'idempotency-key': 'k' });
  await call('placeOrder', '/store/orders', { petId: 13, quantity: 28 });
  await call('updateOrder', '/store/orders/3', { quantity: 1, complete: true });
  await call('updateInventory', '/inventory/6', { quantity: 99 });
  await call('deletePet', '/pets/22');
  await call('deleteCategory', '/categories/8').catch(() => undefined);
  await call('replacePet', '/pets/1', { name: 'Fang', categoryId: 1 });
  await call('deleteCategory', '/categories/8');
  assert.equal((await call('getPet', '/pets/1')).name, 'Fang');
  assert.equal((await call('getCategory', '/categories/1')).name, 'Wolves');
  assert.equal((await call('getOrder', '/store/orders/3')).quantity, 1);
  assert.equal((await call('getInventory', '/inventory/6')).quantity, 99);
  const [pet, ...others] = await call('listPets', '/pets?id=21');
  assert.deepEqual([pet.name, others], ['Theirs', []]);
  assert.equal((await call('listCategories', '/categories'))[0].name, 'Wolves');
  assert.equal((await call('listOrders', '/store/orders?limit=100')).length, 9);
  assert.equal((await call('listInventory', '/inventory?limit=100')).length, 21);
  used.add('streamEvents');
  const reader = await openStream(t, await store.listen(), { key, query: '?after=0' });
  await until(() => reader.text.includes('"Wolves"'));
  assert.ok(reader.text.includes('"Theirs"') && !reader.text.includes('"Mine"'));
  for (const operation of operations.filter(({ id }) => !used.has(id))) {
    const { url, body } = sampleRequest(operation, '');
    await call(operation.id, url, body);
  }

  assert.equal(await own(), before);
  const mineAgain = await store.call('GET', '/pets/1');
  assert.equal(mineAgain.headers.etag, etag);
  assert.equal((await store.call('GET', '/pets/21')).body.name, 'Mine');
});

test('a workspace counts ids from 1, and resources of another are not found and cannot be referenced', async (t) => {
  const store = await startPetstore(t);
  const { key } = await store.addWorkspace('second', false);
  const add = async (path: string, body: object) => (await store.call('POST', path, { key, body })).body;
  const smaug = { name: 'Smaug', categoryId: 1 };
  for (const path of ['/pets', '/categories', '/store/orders', '/inventory']) {
    assert.equal((await store.call('GET', `${path}/1`, { key })).status, 404);
    assert.deepEqual((await store.call('GET', path, { key })).body, []);
  }
  assert.equal((await add('/store/orders', { petId: 1 })).code, 'invalid_reference');
  assert.equal((await add('/pets', smaug)).code, 'invalid_reference');
  for (const id of [1, 2, 3]) {
    assert.equal((await add('/categories', { name: 'Dragons' })).id, id);
    assert.equal((await add('/pets', smaug)).id, id);
    assert.equal((await add('/store/orders', {})).id, id);
  }
});

test('"workspaces list" counts the rows of each', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await fill(store);
  const { key } = await store.addWorkspace('second', true);
  await store.call('DELETE', '/store/orders/2', { key });
  const { stdout } = petstore(['workspaces', 'list', '--json'], { PETSTORE_DATA_DIR: store.folder });
  const [first, second] = JSON.parse(stdout);
  for (const [, countedAs] of counts) assert.equal(first[countedAs], 1, countedAs);
  const { categories, pets, orders, keys } = second;
  assert.deepEqual([categories, pets, orders, keys], [7, 20, 7, 1]);
});

test('no row of a deleted workspace remains in any table', async (t) => {
  const store = await startPetstore(t);
  const { key, workspaceId } = await store.addWorkspace('second', false);
  await fill(store, key);
  await store.holdLimits();
  await store.db.write(
    (sql) => sql`
      insert into streams (workspace_id, id, key_id, instance, opened_at_ms, seen_at_ms)
      values (${workspaceId}, 'one', 'key', 'other', 0, 0)`,
  );
  await rehearse(store, ['internal-error'], { key });
  assert.equal((await store.call('GET', '/pets', { key })).status, 500);
  await store.db.write(async (sql) => {
    await sql`
      insert into ban_starts (workspace_id, key_id, began_at_ms, request_id, method, path)
      values (${workspaceId}, 'key', 0, '', '', '')`;
    await sql`
      insert into members (workspace_id, id, name, created_at_ms) values (${workspaceId}, 'key', 'Ada', 0)`;
    await sql`
      insert into recordings (workspace_id, id, key_id, name, created_at_ms, expires_at_ms, kept, size, left_out)
      values (${workspaceId}, 'rec_1', 'key', '', 0, 0, 1, 1, 0)`;
    await sql`
      insert into recorded_requests (workspace_id, recording_id, number, at_us, took_us, fingerprint, facts)
      values (${workspaceId}, 'rec_1', 1, 0, 0, '', '{}')`;
    await sql`
      insert into recording_reports (workspace_id, recording_id, requests, version, report)
      values (${workspaceId}, 'rec_1', 1, 1, '{}')`;
  });
  assert.deepEqual(
    await filledTables(store.db.read, workspaceId),
    tables.map(({ name }) => name),
  );
  await store.change((sql) => deleteWorkspace(sql, workspaceId), workspaceId);
  assert.deepEqual(await filledTables(store.db.read, workspaceId), []);
});

test('limits of a deleted workspace that an instance still counts are not saved', async (t) => {
  const store = await startPetstore(t);
  const { workspaceId } = await store.addWorkspace('second', false);
  const other = new LocalLimiter(store.db, () => store.nowMs, { warn: assert.fail, info: assert.fail });
  t.after(() => other.close());
  const terms = { quota: plans.pro, banRules };
  const saved = () => store.db.read`select workspace_id, id, minute_count from limit_accounts order by id`;
  const owners = [
    { workspaceId, id: 'of-the-second' },
    { workspaceId: 1, id: 'of-the-first' },
    { workspaceId: 0, id: 'an-address' },
  ];
  for (const owner of owners) await other.decide(owner, terms);
  await other.save();
  assert.equal((await saved()).length, 3);
  for (const owner of owners) await other.decide(owner, terms);
  await store.change((sql) => deleteWorkspace(sql, workspaceId), workspaceId);
  await other.save();
  assert.deepEqual(await saved(), [
    [0, 'an-address', 2],
    [1, 'of-the-first', 2],
  ]);
});

test('a reset keeps the keys of a workspace, their limits, and its webhooks', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await fill(store);
  await store.holdLimits();
  await store.change((sql) => clearWorkspace(sql, 1));
  assert.deepEqual(await filledTables(store.db.read, 1), [
    'idempotency_keys',
    'sequences',
    'limit_accounts',
    'webhooks',
    'deliveries',
    'api_keys',
    'idempotency_hours',
    'events',
  ]);
  const valid = await store.db.read`
    select fingerprint from idempotency_keys where resets is null or resets >= (select resets from workspaces)`;
  assert.ok(valid.length > 0);
  assert.ok(
    valid.every(([fingerprint]) => String(fingerprint).startsWith('/v1/store/webhooks')),
    String(valid),
  );
  assert.equal((await addCategory(store)).body.id, 1);
});

test('a large workspace is emptied in transactions of 1,000 rows', async (t) => {
  const store = await startPetstore(t);
  await addPets(store.db, 1, 25_000, contextOf(store), () => {});
  const { writes } = store.db.counts;
  await deleteInBatches(store.db, first, contextOf(store));
  assert.equal(store.db.counts.writes - writes, 25);
  assert.deepEqual(await store.db.read`select min(id), max(id) from pets`, [[25_001, 25_020]]);
});

test('many categories are also removed in batches, except those of remaining pets', async (t) => {
  const store = await startPetstore(t);
  await addCategories(store, 1, 3_000, 100);
  await store.db.write((sql) => sql`update pets set category_id = 500 where id = 7`);
  const [[all] = []] = await store.db.read`select count(*) from categories`;
  const { writes } = store.db.counts;
  let deleted = 0;
  await deleteInBatches(store.db, first, contextOf(store), (rows) => {
    deleted += rows;
  });
  assert.equal(deleted, 3_000 - 7, 'seven of these have pets');
  assert.equal(store.db.counts.writes - writes, 3);
  const left = await store.db.read`select id from categories where id < 3001 order by id`;
  assert.deepEqual(left.flat(), [1, 2, 3, 4, 5, 6, 500]);
  // clearWorkspace removes the rest, which is less than a batch.
  assert.deepEqual(await store.db.read`select count(*) from categories where id > 3000`, [
    [Number(all) - 3_000],
  ]);
});

test('stored responses and lab data are removed in transactions of 200 rows, after the keys are revoked', async (t) => {
  const store = await startPetstore(t);
  const count = 450;
  await store.db.write(async (sql) => {
    for (let i = 0; i < count; i++) {
      const key = `key ${i}`;
      await sql`insert into idempotency_keys (workspace_id, key, fingerprint, created_at_ms) values (1, ${key}, '', 1)`;
      await sql`
        insert into recorded_requests (workspace_id, recording_id, number, at_us, took_us, fingerprint, facts)
        values (1, 'rec_1', ${i}, 1, 1, '', '{}')`;
    }
  });
  const held = async () =>
    (
      await store.db.read`
        select (select count(*) from idempotency_keys), (select count(*) from recorded_requests),
          (select count(*) from api_keys where workspace_id = 1 and revoked_at_ms is null)`
    )[0]?.map(Number);
  const seen: unknown[] = [];
  const db = writingBy(store, async (write) => {
    const result = await write();
    seen.push(await held());
    return result;
  });
  const [[all] = []] = await store.db.read`select count(*) from idempotency_keys`;
  assert.equal(Number(all), count);
  await closeWorkspace(db, first, contextOf(store));
  assert.deepEqual(seen.slice(0, 7), [
    [count, count, 0],
    [250, count, 0],
    [50, count, 0],
    [0, count, 0],
    [0, 250, 0],
    [0, 50, 0],
    [0, 0, 0],
  ]);
});

test('deleting in batches fails if the workspace is deleted meanwhile', async (t) => {
  const store = await startPetstore(t);
  await addPets(store.db, 1, 25_000, contextOf(store), () => {});
  const db = writingBy(store, async (write) => {
    await store.change((sql) => deleteWorkspace(sql, 1));
    return write();
  });
  await assert.rejects(deleteInBatches(db, first, contextOf(store)), /no workspace first any more/);
});

test('a workspace that is deleted during a request accepts no further change', async (t) => {
  const store = await startPetstore(t);
  assert.equal((await store.call('GET', '/pets/1')).status, 200);
  petstore(['workspaces', 'delete', 'first'], { PETSTORE_DATA_DIR: store.folder });
  assert.equal((await addCategory(store)).status, 401);
});
