import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { pendingMigrations } from '../src/db/migrations.ts';
import { generateKey, hashKey } from '../src/keys/key.ts';
import { operations } from '../src/operations.ts';
import { Petstore } from './support/petstore.ts';
import { databaseUrlOf, openTestStorage, run, temporaryStorage } from './support/storage.ts';

const engine = databaseUrlOf('petstore-upgrade') ? 'postgres' : 'sqlite';
const migrations = pendingMigrations(engine)(0);

/** A body for each POST, in an order in which each finds what it names. */
const bodies: Record<string, unknown> = {
  createCategory: { name: 'Dragons' },
  createPet: { name: 'Smaug', categoryId: 1 },
  placeOrder: {},
};
const posts = Object.keys(bodies);

/** Makes a database of an older version, as that version would have left it. */
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

/** A workspace of release 1.0.0 with a row of each kind, and one that is older than every kind of row. */
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
  test(`a database of version ${version} with data in it is upgraded, and every POST works in its workspaces`, async (t) => {
    assert.deepEqual(
      posts.toSorted(),
      operations
        .filter(({ method }) => method === 'POST')
        .map(({ id }) => id)
        .sort(),
    );
    const folder = await temporaryStorage(t);
    const keys = [generateKey(), generateKey()];
    await leave(folder, version, content(keys));
    const store = new Petstore(await openTestStorage(folder), folder);
    t.after(() => store.close());
    for (const [i, key] of keys.entries()) {
      // What one workspace has already, the other one gets here.
      for (const id of [2 - i, 3 - i]) {
        for (const post of posts) {
          const path = operations.find((operation) => operation.id === post)?.path as string;
          const { status, body, text } = await store.call('POST', path, { key, body: bodies[post] });
          assert.deepEqual([status, body.id], [201, id], `${post}: ${text}`);
        }
      }
      for (const path of ['/categories', '/pets', '/inventory', '/store/orders'])
        assert.equal((await store.call('GET', path, { key })).body.length, 3 - i, path);
    }
  });
}
