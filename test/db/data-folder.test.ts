import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Database } from '../../src/db/database.ts';
import { openStorage } from '../../src/db/open.ts';
import { prepareDemo } from '../../src/demo/prepare.ts';
import { temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/port.ts';
import { whyNo } from '../support/programs.ts';
import { petstore, startService } from '../support/service.ts';
import { aboutSqlite, openTestStorage, temporaryStorage } from '../support/storage.ts';

const files = [
  'demo.key',
  'petstore.db',
  'petstore.db-shm',
  'petstore.db-wal',
  'service.lock',
  'service.pid',
];
const noModes = process.platform === 'win32' && 'Windows has no modes';

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** The modes of a folder and of its files, by name. */
const modesIn = (folder: string) =>
  Object.fromEntries(['.', ...readdirSync(folder)].map((name) => [name, modeOf(join(folder, name))]));

const ownersAlone = (names: string[]) =>
  Object.fromEntries([['.', '700'], ...names.map((name) => [name, '600'])]);

/** Opens the storage as the service does, with the demo data. */
async function open(t: TestContext, folder: string): Promise<Database> {
  const db = await openStorage({ dataDir: folder, databaseUrl: undefined }, { isService: true });
  t.after(() => db.close());
  await prepareDemo(db, folder, 0);
  return db;
}

for (const umask of [0o000, 0o022, 0o777]) {
  test(`under umask ${umask.toString(8)} only the owner can access the data folder and its files`, {
    skip: noModes || aboutSqlite,
  }, async (t) => {
    const folder = join(temporaryFolder(t), 'new', 'data');
    const before = process.umask(umask);
    try {
      await open(t, folder);
    } finally {
      process.umask(before);
    }
    assert.deepEqual(modesIn(folder), ownersAlone(files));
    assert.equal(modeOf(join(folder, '..')), '700');
  });
}

test('the next start and the next command make an open data folder private', {
  skip: noModes || aboutSqlite,
}, async (t) => {
  const folder = temporaryFolder(t);
  const db = await open(t, folder);
  const openUp = () => {
    chmodSync(folder, 0o755);
    for (const file of files) chmodSync(join(folder, file), 0o666);
  };
  openUp();
  const { status, stderr } = petstore(['workspaces', 'list'], { PETSTORE_DATA_DIR: folder });
  assert.deepEqual([status, stderr], [0, '']);
  assert.deepEqual(modesIn(folder), ownersAlone(files));
  await db.close();
  const left = readdirSync(folder);
  chmodSync(folder, 0o777);
  for (const file of left) chmodSync(join(folder, file), 0o644);
  await open(t, folder);
  assert.deepEqual(modesIn(folder), ownersAlone(files));
});

test('a folder with other files keeps its mode; a warning appears if other users can write to it', {
  skip: noModes || aboutSqlite,
}, (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'work'));
  writeFileSync(join(folder, 'notes.txt'), '');
  chmodSync(join(folder, 'notes.txt'), 0o644);
  for (const [mode, warning] of [
    [0o755, /^$/],
    [0o777, /^petstore: Other users may change the files in PETSTORE_DATA_DIR .*\n$/],
  ] as const) {
    chmodSync(folder, mode);
    const { status, stderr } = petstore(['workspaces', 'list'], { PETSTORE_DATA_DIR: folder });
    assert.equal(status, 0);
    assert.match(stderr, warning);
    assert.deepEqual(modesIn(folder), {
      '.': mode.toString(8),
      'notes.txt': '644',
      'petstore.db': '600',
      work: '755',
    });
  }
});

test("another user's folder keeps its mode, and a warning appears", {
  skip: aboutSqlite || (process.geteuid?.() !== 0 && 'only root can give a folder away'),
}, (t) => {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o755);
  chownSync(folder, 65_534, 65_534);
  const { status, stderr } = petstore(['workspaces', 'list'], { PETSTORE_DATA_DIR: folder });
  assert.equal(status, 0);
  assert.match(stderr, /^petstore: Other users may change the files in PETSTORE_DATA_DIR .*\n$/);
  assert.equal(modesIn(folder)['.'], '755');
});

test('the target of a link in the data folder is not read as a key, not written, and keeps its mode', {
  skip: noModes,
}, async (t) => {
  const folder = await temporaryStorage(t);
  const db = await openTestStorage(folder);
  t.after(() => db.close());
  const key = await prepareDemo(db, folder, 0);
  assert.equal(await prepareDemo(db, folder, 0), key);
  const bait = join(temporaryFolder(t), 'bait');
  writeFileSync(bait, key);
  chmodSync(bait, 0o644);
  const keyFile = join(folder, 'demo.key');
  rmSync(keyFile);
  for (const name of ['demo.key', 'demo.key.new', 'service.pid']) symlinkSync(bait, join(folder, name));
  const fresh = await prepareDemo(db, folder, 0);
  assert.notEqual(fresh, key);
  assert.equal(readFileSync(keyFile, 'utf8'), `${fresh}\n`);
  assert.ok(lstatSync(keyFile).isFile());
  assert.deepEqual([readFileSync(bait, 'utf8'), modeOf(bait), modeOf(keyFile)], [key, '644', '600']);
});

test('a demo.key from another user, or a pipe of that name, is replaced', {
  skip: noModes || whyNo('mkfifo'),
}, async (t) => {
  const folder = await temporaryStorage(t);
  const db = await openTestStorage(folder);
  t.after(() => db.close());
  const keyFile = join(folder, 'demo.key');
  execFileSync('mkfifo', [keyFile]);
  const key = await prepareDemo(db, folder, 0);
  assert.equal(readFileSync(keyFile, 'utf8'), `${key}\n`);
  if (process.geteuid?.() !== 0) return;
  chownSync(keyFile, 65_534, 65_534);
  assert.notEqual(await prepareDemo(db, folder, 0), key);
});

test('a second service on a folder stops with one line that names the folder and the process; commands still work', {
  skip: aboutSqlite,
}, async (t) => {
  const folder = temporaryFolder(t);
  const service = await startService(t, folder);
  const env = { PETSTORE_DATA_DIR: folder, PORT: String(await freePort()) };
  const { status, stdout, stderr } = petstore(['serve'], env);
  assert.equal(
    stderr,
    `petstore: PETSTORE_DATA_DIR ${folder} cannot be used: Process ${service.child.pid} is running a service on it. Stop that one, or choose another folder.\n`,
  );
  assert.deepEqual([status, stdout], [1, '']);
  assert.equal(petstore(['seed', '--workspace', 'demo', '--pets', '1'], env).status, 0);
  assert.equal((await fetch(`${service.origin}/readyz`)).status, 200);
  await service.stop('SIGKILL');
  // As if another process had got the number since.
  writeFileSync(join(folder, 'service.pid'), String(process.pid));
  const next = await startService(t, folder);
  assert.equal(readFileSync(join(folder, 'service.pid'), 'utf8'), `${next.child.pid}\n`);
});

test('of several services that start on one folder at once, exactly one runs', {
  skip: aboutSqlite,
}, async (t) => {
  const folder = temporaryFolder(t);
  const starts = await Promise.allSettled(Array.from({ length: 3 }, () => startService(t, folder)));
  const running = starts.filter((start) => start.status === 'fulfilled');
  const refused = starts.filter((start) => start.status === 'rejected');
  assert.deepEqual([running.length, refused.length], [1, 2]);
  const line = `Process ${running[0]?.value.child.pid} is running a service on it. Stop that one, or choose another folder.`;
  for (const { reason } of refused) assert.ok(reason.message.includes(line), reason.message);
});
