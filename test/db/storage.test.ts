import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { openSqlite, openSqliteMemory } from '../../src/db/sqlite.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startListening, startPetstore } from '../support/petstore.ts';
import { rawRequest } from '../support/raw-client.ts';
import { petstore } from '../support/service.ts';
import { aboutSqlite, openTestStorage, temporaryStorage } from '../support/storage.ts';
import { assertDeclared, sqliteCatalog } from './schema.ts';

test('a database that is newer than the code is refused with one clear line', {
  skip: aboutSqlite,
}, async (t) => {
  const folder = temporaryFolder(t);
  await (await openSqlite(folder)).close();
  const direct = new DatabaseSync(join(folder, 'petstore.db'));
  direct.exec('pragma user_version = 4711');
  direct.close();
  const { status, stderr } = petstore(['serve'], { PETSTORE_DATA_DIR: folder });
  assert.equal(status, 1);
  assert.match(stderr, /^petstore: The database has version 4711.*newer Petstore.*\n$/);
});

test('several processes that open a new folder at once migrate it once', { skip: aboutSqlite }, async (t) => {
  const folder = temporaryFolder(t);
  const databases = await Promise.all(Array.from({ length: 5 }, () => openSqlite(folder)));
  for (const db of databases) {
    assert.deepEqual(await db.read`select count(*) from workspaces`, [[0]]);
    await db.close();
  }
});

test('writes are on disk before their responses: WAL, synchronous FULL', { skip: aboutSqlite }, async (t) => {
  const db = await openSqlite(temporaryFolder(t));
  t.after(() => db.close());
  await db.write(async (sql) => {
    assert.deepEqual(await sql`pragma journal_mode`, [['wal']]);
    assert.deepEqual(await sql`pragma synchronous`, [[2]]);
    assert.deepEqual(await sql`pragma foreign_keys`, [[1]]);
  });
});

test('a refused write does not affect the writes of its group, and no read sees uncommitted rows', async (t) => {
  const db = await openTestStorage(await temporaryStorage(t));
  t.after(() => db.close());
  const insert = (name: string, fails: boolean) =>
    db.write(async (sql) => {
      await sql`insert into workspaces (name, created_at_ms) values (${name}, 0)`;
      assert.equal((await db.read`select name from workspaces where name = ${name}`).length, 0);
      if (fails) throw new Error('refused');
    });
  const results = await Promise.allSettled(['a', 'b', 'c', 'd'].map((name) => insert(name, name === 'b')));
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  );
  assert.deepEqual(await db.read`select name from workspaces order by name`, [['a'], ['c'], ['d']]);
});

test('a read fails after the database is closed', async () => {
  const db = await openSqliteMemory();
  await db.close();
  await assert.rejects(db.read`select 1`, /not open|finalized/);
});

test('concurrent pets on many connections share a commit', { skip: aboutSqlite }, async (t) => {
  const store = await startListening(t);
  const sockets = Array.from({ length: 30 }, () => store.connect());
  for (const socket of sockets) socket.write(rawRequest(store, 'GET', '/pets/1'));
  await Promise.all(sockets.map((socket) => once(socket, 'data')));
  await store.holdLimits();
  const before = store.db.counts.commits;
  const create = rawRequest(store, 'POST', '/pets', {
    body: { name: 'Zed', categoryId: 1 },
    fields: { Connection: 'close' },
  });
  const answers = await Promise.all(sockets.map((socket) => text(socket.end(create))));
  for (const answer of answers) assert.match(answer, /^HTTP\/1.1 201 /);
  // They may arrive in two turns of the event loop.
  assert.ok(store.db.counts.commits - before <= 2, `${store.db.counts.commits - before} commits`);
});

test('a full disk refuses the whole group with 503, keeps nothing of it, and reads still work', {
  skip: aboutSqlite,
}, async (t) => {
  const store = await startPetstore(t);
  await store.db.write((sql) => sql`pragma max_page_count = 1`);
  const before = await store.content();
  const description = 'x'.repeat(2000);
  const create = () => store.call('POST', '/categories', { body: { name: 'Dragons', description } });
  let answers = [await create()];
  while (answers.every(({ status }) => status === 201))
    answers = await Promise.all([create(), create(), create()]);
  assert.ok(
    answers.every(({ body }) => body.code === 'unavailable'),
    JSON.stringify(answers.map(({ text }) => text)),
  );
  assert.ok(answers.every(({ headers }) => Number(headers['retry-after']) >= 1));
  assert.equal((await store.call('GET', '/categories/1')).status, 200);
  assert.ok((await store.content()).length >= before.length);
  await store.db.write((sql) => sql`pragma max_page_count = 1000000`);
  assert.equal((await create()).status, 201);
  assert.deepEqual(await store.db.read`pragma integrity_check`, [['ok']]);
});

test('another process that holds the write lock delays a write, which gets 503 in time, and blocks no read', {
  skip: aboutSqlite,
}, async (t) => {
  const store = await startPetstore(t);
  const other = new DatabaseSync(join(store.folder, 'petstore.db'));
  t.after(() => other.close());
  const create = () => store.call('POST', '/categories', { body: { name: 'Dragons' } });
  other.exec('begin immediate');
  const write = create();
  assert.equal((await store.call('GET', '/categories/8')).status, 404);
  assert.equal((await store.call('GET', '/pets/1')).status, 200);
  other.exec('commit');
  assert.equal((await write).status, 201);
  other.exec('begin immediate');
  const refused = await create();
  assert.deepEqual([refused.status, refused.body.code], [503, 'unavailable']);
  assert.ok(Number(refused.headers['retry-after']) >= 1);
  other.exec('commit');
  assert.equal((await create()).status, 201);
});

test('the migrations of both engines create the same tables', () => {
  const folder = new URL('../../src/db/migrations/', import.meta.url);
  const files = readdirSync(folder);
  const migrations = (engine: string) => files.filter((file) => file.endsWith(`.${engine}.sql`)).sort();
  const meaning = (file: string) =>
    readFileSync(new URL(file, folder), 'utf8')
      .replaceAll(/^ *--.*\n/gm, '')
      .replaceAll('primary key autoincrement', 'generated by default as identity primary key')
      .replaceAll(/\) strict(, without rowid)?;/g, ');')
      .replaceAll(/\binteger\b/g, 'bigint');
  assert.ok(files.length >= 4);
  assert.deepEqual(
    migrations('postgres').map((file) => file.replace('postgres', 'sqlite')),
    migrations('sqlite'),
  );
  // Migrations for planners concern one engine only.
  const tables = migrations('postgres').filter((file) => !file.startsWith('0003-'));
  for (const file of tables) assert.equal(meaning(file), meaning(file.replace('postgres', 'sqlite')));
});

test('the tables of SQLite are the declared ones, in an order that allows emptying a workspace', async (t) => {
  const db = await openSqlite(temporaryFolder(t));
  t.after(() => db.close());
  await assertDeclared(db.read, sqliteCatalog);
});

test('every filter of a list uses its index, also in an empty database', async (t) => {
  const folder = temporaryFolder(t);
  await (await openSqlite(folder)).close();
  const connection = new DatabaseSync(join(folder, 'petstore.db'), { readOnly: true });
  t.after(() => connection.close());
  const planOf = (table: string, filter: string) =>
    connection
      .prepare(
        `explain query plan select * from ${table} where workspace_id = ? and ${filter} order by id limit ?`,
      )
      .all()
      .map(({ detail }) => detail);
  for (const [table, filter, terms] of [
    ['pets', 'id > ?', 'PRIMARY KEY (workspace_id=? AND id>?)'],
    ['pets', 'id > ? and status = ?', 'INDEX pets_by_status (workspace_id=? AND status=? AND id>?)'],
    [
      'pets',
      'id > ? and category_id = ?',
      'INDEX pets_by_category (workspace_id=? AND category_id=? AND id>?)',
    ],
    [
      'pets',
      'id > ? and status = ? and category_id = ?',
      'INDEX pets_by_category_and_status (workspace_id=? AND category_id=? AND status=? AND id>?)',
    ],
    ['pets', 'id > ? and id in (?, ?)', 'PRIMARY KEY (workspace_id=? AND id=?)'],
    ['orders', 'id > ? and pet_id = ?', 'INDEX orders_by_pet (workspace_id=? AND pet_id=? AND id>?)'],
    [
      'orders',
      'id > ? and complete = ?',
      'INDEX orders_by_complete (workspace_id=? AND complete=? AND id>?)',
    ],
  ] as const) {
    assert.deepEqual(planOf(table, filter), [`SEARCH ${table} USING ${terms}`], filter);
  }
});
