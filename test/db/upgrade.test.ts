import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { generateKey, hashKey } from '../../src/access/keys/store.ts';
import { type Engine, pendingMigrations } from '../../src/db/migrations.ts';
import type { RowKind } from '../../src/db/tables.ts';
import { unrecorded } from '../../src/store/history/record.ts';
import { createPet } from '../../src/store/resources/pets/store.ts';
import { Follower, readEvents, readLists } from '../support/history.ts';
import { Petstore } from '../support/petstore.ts';
import { resources } from '../support/resources.ts';
import { databaseUrlOf, openTestStorage, run, temporaryStorage } from '../support/storage.ts';

const engine: Engine = databaseUrlOf('petstore-upgrade') ? 'postgres' : 'sqlite';
const migrations = pendingMigrations(engine)(0);

/** The first version with a history. */
const versionOfEvents = 4;

/** Bodies instead of the examples: an order of a pet would use up its last unit. */
const bodies: Partial<Record<RowKind, object>> = { orders: {} };

/** Creates a database as an older version would have left it. */
async function leave(folder: string, version: number, statements: string[]): Promise<void> {
  const schema = migrations.slice(0, version).map(({ sql }) => sql);
  const url = databaseUrlOf(folder);
  if (url) {
    await run(
      url,
      'create table schema_version (id bigint primary key, version bigint not null)',
      `insert into schema_version (id, version) values (1, ${version})`,
      ...schema,
      ...statements,
    );
    return;
  }
  const database = new DatabaseSync(join(folder, 'petstore.db'));
  for (const statement of [...schema, `pragma user_version = ${version}`, ...statements]) {
    database.exec(statement);
  }
  database.close();
}

/** A workspace of release 1.0.0 with a row of each kind, and an empty one. */
const content = (keys: string[]) => [
  "insert into workspaces (name, created_at_ms) values ('filled', 0)",
  "insert into workspaces (name, created_at_ms) values ('older', 0)",
  ...keys.map(
    (key, i) => `
      insert into api_keys (workspace_id, id, hash, plan, created_at_ms)
      values (${i + 1}, 'key_${i}', '${hashKey(key)}', 'free', 0)`,
  ),
  "insert into sequences (workspace_id, kind, last_id) values (1, 'categories', 1), (1, 'pets', 1), (1, 'orders', 1)",
  "insert into categories (workspace_id, id, name) values (1, 1, 'Cats')",
  "insert into pets (workspace_id, id, name, category_id, status, stock) values (1, 1, 'Cleo', 1, 'available', 9)",
  'insert into orders (workspace_id, id, pet_id, quantity, complete) values (1, 1, 1, 1, 0)',
];

for (const { version } of migrations) {
  test(`a database of version ${version} with data is upgraded, all kinds of rows can be added, and its history begins there`, async (t) => {
    const folder = await temporaryStorage(t);
    const keys = [generateKey(), generateKey()];
    await leave(folder, version, content(keys));
    const store = new Petstore(await openTestStorage(folder), folder);
    t.after(() => store.close());
    for (const [i, key] of keys.entries()) {
      const get = (path: string) => store.call('GET', path, { key });
      const countOf = async (path: string) => (await get(path)).body.length;
      for (const path of ['/categories', '/pets', '/inventory', '/store/orders'])
        assert.equal(await countOf(path), 1 - i, path);
      const before = await readEvents(get, 0);
      // A workspace from before the history has one event for all of its content.
      assert.deepEqual(
        before.map(({ type }) => type),
        version < versionOfEvents ? ['workspace.seeded'] : [],
      );
      const follower = new Follower(await readLists(get), before.length);
      for (const { kind, path, example } of [...resources, ...resources]) {
        const id = (await countOf(path)) + 1;
        const answer = await store.call('POST', path, { key, body: bodies[kind] ?? example });
        assert.deepEqual([answer.status, answer.body.id], [201, id], `${path}: ${answer.text}`);
      }
      await assertFollowed(store, key, follower);
    }
  });
}

test('changes by an older instance have no events, and the history continues without a gap', async (t) => {
  const folder = await temporaryStorage(t);
  const key = generateKey();
  await leave(folder, 1, content([key]));
  const store = new Petstore(await openTestStorage(folder), folder);
  t.after(() => store.close());
  const get = (path: string) => store.call('GET', path, { key });
  const older = (name: string) =>
    store.change((sql) => createPet(unrecorded(sql), 1, { name, categoryId: 1 }));

  await older('Nala');
  assert.equal((await get('/store/events')).body.length, 1);
  const follower = new Follower(await readLists(get), 1);
  await store.call('PATCH', '/pets/2', { key, body: { status: 'sold' } });
  await store.call('POST', '/pets', { key, body: { name: 'Kiwi', categoryId: 1 } });
  await assertFollowed(store, key, follower);

  await older('Rio');
  follower.lists = await readLists(get);
  await store.call('PATCH', '/pets/4', { key, body: { name: 'Sunny' } });
  await store.call('DELETE', '/pets/3', { key });
  await assertFollowed(store, key, follower);
});

/** A client that read the lists and followed the history has the current lists. */
async function assertFollowed(store: Petstore, key: string, follower: Follower): Promise<void> {
  const get = (path: string) => store.call('GET', path, { key });
  for (const event of await readEvents(get, follower.position)) follower.follow(event);
  assert.ok(follower.position > 1);
  assert.deepEqual(follower.lists, await readLists(get));
}
