import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Fragment } from '../src/db/sql.ts';
import { operations } from '../src/operations.ts';
import { deleteWorkspace } from '../src/workspaces/store.ts';
import { startPetstore } from './support/petstore.ts';
import { petstore } from './support/service.ts';

test('two workspaces with the same ids never see each other, on any operation', async (t) => {
  const store = await startPetstore(t);
  const { key } = await store.addWorkspace('second', true);
  const mine = await store.call('POST', '/pets', { body: { name: 'Mine', categoryId: 1 } });
  const theirs = await store.call('POST', '/pets', { key, body: { name: 'Theirs', categoryId: 1 } });
  assert.equal(mine.body.id, theirs.body.id);

  const { read } = store.db;
  const own = async () =>
    JSON.stringify([
      await read`select * from categories where workspace_id = 1 order by id`,
      await read`select * from pets where workspace_id = 1 order by id`,
      await read`select * from orders where workspace_id = 1 order by id`,
      await read`select * from sequences where workspace_id = 1 order by kind`,
    ]);
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
  await call('cancelOrder', '/store/orders/5');
  await call('updateInventory', '/inventory/6', { quantity: 99 });
  await call('deletePet', '/pets/22');
  await call('deleteCategory', '/categories/8').catch(() => undefined);
  await call('replacePet', '/pets/1', { name: 'Fang', categoryId: 1 });
  await call('deleteCategory', '/categories/8');
  assert.equal((await call('getPet', '/pets/1')).name, 'Fang');
  assert.equal((await call('getCategory', '/categories/1')).name, 'Wolves');
  assert.equal((await call('getOrder', '/store/orders/3')).quantity, 1);
  assert.equal((await call('getInventory', '/inventory/6')).quantity, 99);
  assert.deepEqual(
    (await call('listPets', '/pets?id=21')).map((pet: { name: string }) => pet.name),
    ['Theirs'],
  );
  assert.equal((await call('listCategories', '/categories'))[0].name, 'Wolves');
  assert.equal((await call('listOrders', '/store/orders?limit=100')).length, 8);
  assert.equal((await call('listInventory', '/inventory?limit=100')).length, 21);
  assert.deepEqual([...used].sort(), operations.map(({ id }) => id).sort(), 'every operation was tried');

  assert.equal(await own(), before);
  const mineAgain = await store.call('GET', '/pets/1');
  assert.equal(mineAgain.headers.etag, etag);
  assert.equal((await store.call('GET', '/pets/21')).body.name, 'Mine');
});

test('what exists in another workspace alone is not found and cannot be named', async (t) => {
  const store = await startPetstore(t);
  const { key } = await store.addWorkspace('second', false);
  for (const path of ['/pets/1', '/categories/1', '/store/orders/1', '/inventory/1']) {
    assert.equal((await store.call('GET', path, { key })).status, 404);
  }
  const order = await store.call('POST', '/store/orders', { key, body: { petId: 1 } });
  assert.equal(order.body.code, 'invalid_reference');
  const pet = await store.call('POST', '/pets', { key, body: { name: 'Zed', categoryId: 1 } });
  assert.equal(pet.body.code, 'invalid_reference');
  for (const path of ['/pets', '/categories', '/store/orders', '/inventory']) {
    assert.deepEqual((await store.call('GET', path, { key })).body, []);
  }
});

test('ids count from 1 in each workspace', async (t) => {
  const store = await startPetstore(t);
  const { key } = await store.addWorkspace('second', false);
  for (const id of [1, 2, 3]) {
    assert.equal((await store.call('POST', '/categories', { key, body: { name: 'Dragons' } })).body.id, id);
    assert.equal(
      (await store.call('POST', '/pets', { key, body: { name: 'Smaug', categoryId: 1 } })).body.id,
      id,
    );
    assert.equal((await store.call('POST', '/store/orders', { key, body: {} })).body.id, id);
  }
});

test('nothing of a deleted workspace remains in any table', async (t) => {
  const store = await startPetstore(t);
  const { key, workspaceId } = await store.addWorkspace('second', true);
  await store.call('POST', '/categories', {
    key,
    body: { name: 'Dragons' },
    headers: { 'idempotency-key': 'k' },
  });
  await store.local.save();
  const migrations = new URL('../src/db/migrations/', import.meta.url);
  const tables = readdirSync(migrations)
    .filter((file) => file.endsWith('.sqlite.sql'))
    .flatMap((file) => [
      ...readFileSync(new URL(file, migrations), 'utf8').matchAll(
        /^create table (\w+) \(\n {2}workspace_id /gm,
      ),
    ])
    .map(([, name]) => name as string);
  assert.ok(tables.length >= 7);
  const rowsIn = async (table: string) => {
    const name = new Fragment([table], []);
    return (await store.db.read`select 1 from ${name} where workspace_id = ${workspaceId}`).length;
  };
  for (const table of tables) assert.ok((await rowsIn(table)) > 0, `${table} is filled`);
  await store.db.write((sql) => deleteWorkspace(sql, workspaceId));
  for (const table of tables) assert.equal(await rowsIn(table), 0, table);
});

test('a workspace that is deleted while a request on it is under way takes nothing more', async (t) => {
  const store = await startPetstore(t);
  assert.equal((await store.call('GET', '/pets/1')).status, 200);
  petstore(['workspaces', 'delete', 'first'], { PETSTORE_DATA_DIR: store.folder });
  const answer = await store.call('POST', '/categories', { body: { name: 'Dragons' } });
  assert.equal(answer.status, 401);
});
