import assert from 'node:assert/strict';
import { chownSync, cpSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createKey } from '../../../src/access/keys/store.ts';
import { openStorage } from '../../../src/db/open.ts';
import { prepareDemo } from '../../../src/store/demo/seed.ts';
import { beginIfMoved } from '../../../src/store/workspaces/after-restore.ts';
import { listWorkspaces } from '../../../src/store/workspaces/store.ts';
import { type Message, startReceiver } from '../../support/dispatching.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { fetchChecked, type JsonAnswer, Petstore } from '../../support/petstore.ts';
import { commands, petstore } from '../../support/service.ts';
import { aboutSqlite } from '../../support/storage.ts';
import { until } from '../../support/until.ts';
import { idsOf, nextPage } from '../../support/values.ts';
import { checkRestore, documented, Operator } from './restore.ts';

const options = { skip: aboutSqlite };
const automatic = 'the database comes from another folder, as after a restore';

test('a restore of SQLite as documented begins a new generation', options, async (t) => {
  const operator = new Operator(t, temporaryFolder(t), {});
  const service = await checkRestore(t, operator, {
    backUp: () => operator.run(documented('Back up SQLite')),
    restore: () => operator.run(documented('Restore SQLite')),
  });
  assert.ok(!service.output().includes(automatic), service.output());
});

test('without the command, the start after a restore begins the generation, once', options, async (t) => {
  const operator = new Operator(t, temporaryFolder(t), {});
  const service = await checkRestore(t, operator, {
    backUp: () => operator.run(documented('Back up SQLite')),
    restore: () => operator.run(documented('Restore SQLite').replace('petstore restored', '')),
  });
  assert.ok(service.output().includes(automatic), service.output());
  await service.stop('SIGTERM');
  const next = await operator.start();
  assert.ok(!next.output().includes(automatic), next.output());
});

/** Opens a data folder as the service does. */
async function openAsService(t: TestContext, dataDir: string) {
  const db = await openStorage({ dataDir, databaseUrl: undefined }, { isService: true });
  t.after(() => db.close());
  return { db, isMoved: await beginIfMoved(db, Date.now()) };
}

/** A data folder with a workspace, which no service uses. */
async function filledFolder(t: TestContext): Promise<string> {
  const dataDir = join(temporaryFolder(t), 'petstore-data');
  const { db } = await openAsService(t, dataDir);
  await prepareDemo(db, dataDir, 0);
  await db.close();
  return dataDir;
}

test('an empty store that was moved to another folder keeps its generation', options, async (t) => {
  const dataDir = temporaryFolder(t);
  await (await openAsService(t, dataDir)).db.close();
  rmSync(join(dataDir, 'generation'));
  assert.equal((await openAsService(t, dataDir)).isMoved, false);
});

test('a data folder whose files belong to another user, as on some shares, keeps its generation', {
  skip: aboutSqlite || (process.geteuid?.() !== 0 && 'only root can give a file away'),
}, async (t) => {
  const dataDir = await filledFolder(t);
  chownSync(join(dataDir, 'generation'), 12_345, 12_345);
  assert.equal((await openAsService(t, dataDir)).isMoved, false);
});

test('a data folder that is moved as a whole keeps its generation', options, async (t) => {
  const dataDir = await filledFolder(t);
  assert.equal(statSync(join(dataDir, 'generation')).mode & 0o777, 0o600);
  const copy = join(temporaryFolder(t), 'copy');
  cpSync(dataDir, copy, { recursive: true });
  rmSync(dataDir, { recursive: true });
  cpSync(copy, dataDir, { recursive: true });
  const { db, isMoved } = await openAsService(t, dataDir);
  assert.equal(isMoved, false);
  assert.deepEqual(
    (await listWorkspaces(db.read)).map(({ name, pets }) => [name, pets]),
    [['demo', 20]],
  );
});

test('the command refuses a running service and an empty storage, and can run twice', options, async (t) => {
  const empty = petstore(['restored'], { PETSTORE_DATA_DIR: temporaryFolder(t) });
  assert.equal(empty.status, 1);
  assert.match(empty.stderr, /^petstore: The storage is empty.*\n$/);
  const dataDir = await filledFolder(t);
  const env = { PETSTORE_DATA_DIR: dataDir };
  const running = await openAsService(t, dataDir);
  const refused = petstore(['restored'], env);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /Process \d+ is running a service on it\. Stop that one/);
  await running.db.close();
  const last = Date.now() * 1_000;
  const runs = await commands([['restored', '--json'], ['restored', '--json'], ['restored']], env);
  for (const { status, stdout, stderr } of runs.slice(0, 2)) {
    assert.equal(status, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), { workspaces: 1 });
  }
  assert.match(runs.at(-1)?.stdout ?? '', /^A new generation has started in 1 workspace: /);
  const { db } = await openAsService(t, dataDir);
  const { key } = await db.write((sql) => createKey(sql, { workspaceId: 1, plan: 'free' }, Date.now()));
  const store = new Petstore(db, dataDir);
  t.after(() => store.close());
  const { body } = await store.call('GET', '/store/events', { key });
  const ids = idsOf(body);
  const [event = 0] = ids;
  assert.deepEqual(ids, [event, event + 1]);
  assert.ok(event > last, `${event} after ${last}`);
});

test('after an unnoticed restore no message gets the id of another', options, async (t) => {
  const operator = new Operator(t, temporaryFolder(t), {});
  const receiver = await startReceiver(t);
  const first = await operator.start();
  const key = await operator.addKey();
  const post = (origin: string, path: string, body: object) =>
    fetchChecked(origin, 'POST', path, { key, body });
  const add = async (origin: string, name: string) => {
    await post(origin, '/categories', { name });
    await until(() => receiver.messages.some(({ body }) => body.includes(name)));
    return receiver.messages.at(-1) as Message;
  };
  await post(first.origin, '/store/webhooks', { url: receiver.url });
  await operator.run(documented('Back up SQLite'));
  const lost = await add(first.origin, 'Lost');
  await first.stop('SIGTERM');
  // Over the old database, so the start cannot notice it.
  await operator.run('cd petstore-data; rm -f petstore.db-wal petstore.db-shm; cp ../backup.db petstore.db');
  const second = await operator.start();
  const found = await add(second.origin, 'New');
  assert.equal(JSON.parse(found.body).id, JSON.parse(lost.body).id);
  assert.notEqual(found.headers['webhook-id'], lost.headers['webhook-id']);
});

test('no command and no cleanup iterates over the ids that a restore skips', options, async (t) => {
  const operator = new Operator(t, temporaryFolder(t), {});
  const seed = ['seed', '--workspace', 'demo', '--pets'];
  const runs = [['workspaces', 'create', 'demo', '--seed'], [...seed, '10001'], ['restored'], [...seed, '2']];
  for (const { status, stderr } of await commands(runs, { PETSTORE_DATA_DIR: operator.dataDir }))
    assert.equal(status, 0, stderr);
  const key = await operator.addKey();
  const service = await operator.start();
  const get = (path: string) => fetchChecked(service.origin, 'GET', path, { key });
  // A page on each side of the gap, by the cursor between them.
  const ids: number[] = [];
  for (let path: string | undefined = '/pets?limit=100'; path; ) {
    const { status, body, headers, text }: JsonAnswer = await get(path);
    assert.equal(status, 200, text);
    ids.push(...idsOf(body));
    path = nextPage({ headers });
  }
  assert.equal(ids.length, 20 + 10_001 + 2);
  const [above = 0, ...others] = ids.slice(-2);
  assert.ok(above > 1e12 && others[0] === above + 1, String(above));
  // Ids of all kinds continue after the same one.
  const { body: events, headers } = await get(`/store/events?after=${above - 1}&type=pet.created`);
  assert.deepEqual([events, headers['last-event-id']], [[], String(above + 2)]);
  const removed = operator.command('workspaces', 'reset', 'demo', '--yes');
  assert.equal(removed.status, 0, removed.stderr);
  assert.equal((await get('/pets?limit=100')).body.length, 20);
});
