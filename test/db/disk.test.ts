import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { openSqlite } from '../../src/db/sqlite.ts';
import { attemptSqlite } from '../../src/db/sqlite-errors.ts';
import { GroupedReads } from '../../src/db/sqlite-reads.ts';
import { StorageUnavailableError } from '../../src/foundation/errors.ts';
import { temporaryFolder } from '../support/folder.ts';
import { assertSound } from '../support/invariants.ts';
import { fetchChecked } from '../support/petstore.ts';
import { whyNo } from '../support/programs.ts';
import { ampleKey, petstore, type Service, startService } from '../support/service.ts';
import { aboutSqlite } from '../support/storage.ts';
import { until } from '../support/until.ts';

/** Root may do anything unless it drops its privileges. */
const isRoot = process.getuid?.() === 0;
const withoutPrivileges = isRoot ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];
const noSetpriv = isRoot && whyNo('setpriv');

const noPrlimit = whyNo('prlimit');
const noMounts = !canMount() && process.env.CI !== 'true' && 'mounting is not permitted';

const readiness = async ({ origin }: Service) => (await fetch(`${origin}/readyz`)).status;

/** A service on a folder, and a function that creates a category. */
async function startWriting(t: TestContext, folder: string) {
  const service = await startService(t, folder, { LOG_LEVEL: 'fatal' });
  const key = await ampleKey(folder);
  const body = { name: 'Dragons', description: 'x'.repeat(2_000) };
  const create = () => fetchChecked(service.origin, 'POST', '/categories', { key, body });
  return { service, key, create };
}

test('without disk space writes get 503 and reads work; with space again service resumes, and nothing is corrupt', {
  skip: aboutSqlite || noPrlimit,
}, async (t) => {
  const folder = temporaryFolder(t);
  const { service, key, create } = await startWriting(t, folder);
  limitFiles(service.child.pid, String(statSync(join(folder, 'petstore.db-wal')).size + 200_000));
  const ids: number[] = [];
  let answer = await create();
  for (; answer.status === 201; answer = await create()) ids.push(answer.body.id);
  assert.equal(answer.status, 503, answer.text);
  assert.equal((await fetchChecked(service.origin, 'GET', '/pets/1', { key })).status, 200);
  await until(async () => (await readiness(service)) === 503);
  limitFiles(service.child.pid, 'unlimited');
  answer = await create();
  assert.equal(answer.status, 201, answer.text);
  await until(async () => (await readiness(service)) === 200);
  assert.equal(answer.body.id, (ids.at(-1) as number) + 1, 'what was refused left nothing');
  await service.stop('SIGKILL');
  assertSound(folder);
  const database = new DatabaseSync(join(folder, 'petstore.db'));
  t.after(() => database.close());
  for (const id of ids) {
    assert.ok(database.prepare('select id from categories where workspace_id = 1 and id = ?').get(id));
  }
});

test('a read that lacks disk space for sorting fails alone, and works again later', {
  skip: aboutSqlite || noPrlimit,
}, async (t) => {
  const connection = new DatabaseSync(':memory:', { returnArrays: true });
  t.after(() => connection.close());
  connection.exec('pragma temp_store = file; create table one (i); insert into one values (1)');
  const reads = new GroupedReads(connection);
  const read = (sql: string) => reads.add(() => attemptSqlite(() => connection.prepare(sql).all()) as never);
  const sorted = `
    with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000)
    select max(n.i) from (select n.i from n, one order by n.i % 7, hex(zeroblob(100)) limit -1 offset 1) n`;
  limitFiles(process.pid, '4096');
  const results = await Promise.allSettled([read('select 1'), read(sorted), read('select 2')]);
  limitFiles(process.pid, 'unlimited');
  const [before, failed, after] = results;
  assert.deepEqual(before, { status: 'fulfilled', value: [[1]] });
  assert.ok(failed?.status === 'rejected' && failed.reason instanceof StorageUnavailableError);
  assert.deepEqual(after, { status: 'fulfilled', value: [[2]] });
  assert.deepEqual(await read(sorted), [[20_000]]);
});

test('while files are read-only, writes get 503 and reads work; when they are writable again, service resumes', {
  skip: aboutSqlite || (!canBeImmutable() && 'chattr +i is not permitted or not known to this file system'),
}, async (t) => {
  const folder = temporaryFolder(t);
  const files = ['petstore.db', 'petstore.db-wal', 'petstore.db-shm'].map((file) => join(folder, file));
  const { service, key, create } = await startWriting(t, folder);
  const first = await create();
  await whileImmutable(files.slice(0, 2), async () => {
    assert.equal((await create()).status, 503);
    assert.equal((await create()).status, 503);
    await until(async () => (await readiness(service)) === 503);
    const path = `/categories/${first.body.id}`;
    assert.equal((await fetchChecked(service.origin, 'GET', path, { key })).text, first.text);
  });
  const next = await create();
  assert.equal(next.status, 201, next.text);
  assert.equal(next.body.id, first.body.id + 1, 'what was refused left nothing');
  await whileImmutable(files, async () => {
    // SQLite maps -shm into memory. The system kills a process that cannot write there (SIGBUS).
    const answer = await create().catch(() => undefined);
    assert.ok(answer === undefined || answer.status === 503);
    await service.stop('SIGKILL');
    assertRefused(folder, petstore(['serve'], { PETSTORE_DATA_DIR: folder }));
  });
  assertSound(folder);
  const restarted = await startService(t, folder, { LOG_LEVEL: 'fatal' });
  const kept = await fetchChecked(restarted.origin, 'GET', '/categories?limit=100', { key });
  assert.deepEqual(kept.body.slice(-2), [first.body, next.body]);
});

test('the service needs write access only to the data folder, not even to /tmp', {
  skip: aboutSqlite || noMounts,
}, (t) => {
  const folder = temporaryFolder(t);
  const script = `for folder in /tmp /var/tmp; do mount --bind "$folder" "$folder" && mount -o remount,bind,ro "$folder"; done
    mount -o remount,bind,ro / && mount --bind "$0" "$0" && mount -o remount,bind,rw "$0" && cd / && exec "$@"`;
  const everythingElseReadOnly = inOwnMounts(script, folder);
  const run = (...args: string[]) => petstore(args, { PETSTORE_DATA_DIR: folder }, everythingElseReadOnly);
  for (const args of [
    ['workspaces', 'create', 'shop', '--seed'],
    ['seed', '--workspace', 'shop', '--pets', '20000'],
    ['workspaces', 'reset', 'shop'],
  ]) {
    const { status, stderr } = run(...args);
    assert.deepEqual([status, stderr], [0, ''], args.join(' '));
  }
});

test('a command that fills the disk says so, and how much it has done', {
  skip: aboutSqlite || noMounts,
}, (t) => {
  const folder = temporaryFolder(t);
  const disk = inOwnMounts(
    'mount -t tmpfs -o size=5m tmpfs "$0" && "$1" "$2" workspaces create demo > "$0/output" && exec "$@"',
    folder,
  );
  const args = ['seed', '--workspace', 'demo', '--pets', '1000000'];
  const { status, stderr } = petstore(args, { PETSTORE_DATA_DIR: join(folder, 'data') }, disk);
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^petstore: .*\/data cannot be used: The disk is full\. .* [1-9]\d*0000 of 1000000 pets were added before this\.\n$/,
  );
});

test('a command whose output cannot be written ends with one line', {
  skip: process.platform !== 'linux' && 'it is about Linux',
}, () => {
  const intoFull = ['sh', '-c', 'exec "$@" > /dev/full', 'sh'];
  const { status, stderr } = petstore(['openapi'], {}, intoFull);
  assert.deepEqual([status, stderr], [1, 'petstore: Standard output cannot be written (ENOSPC).\n']);
});

describe('a start with an unusable data folder stops with one line that names it', {
  skip: aboutSqlite,
}, () => {
  test('the folder is below a file, or a file itself', async (t) => {
    const file = join(temporaryFolder(t), 'file');
    writeFileSync(file, '');
    for (const folder of [file, join(file, 'data')]) await assertUnusable(folder);
  });

  test('the file system allows no folders, such as /proc', {
    skip: process.platform !== 'linux' && 'it is about Linux',
  }, async () => {
    for (const folder of ['/proc/petstore', '/sys/petstore/data']) await assertUnusable(folder);
  });

  for (const [what, mode] of [
    ['written to', 0o500],
    ['read', 0o300],
    ['entered', 0o600],
  ] as const) {
    test(`the folder may not be ${what}`, { skip: noSetpriv }, async (t) => {
      const folder = await filledFolder(t);
      chmodSync(folder, mode);
      const ended = petstore(['serve'], { PETSTORE_DATA_DIR: folder }, withoutPrivileges);
      chmodSync(folder, 0o700);
      assertRefused(folder, ended);
    });
  }

  test('the database is read-only', { skip: noSetpriv }, async (t) => {
    const folder = await filledFolder(t);
    chmodSync(join(folder, 'petstore.db'), 0o400);
    assertRefused(folder, petstore(['serve'], { PETSTORE_DATA_DIR: folder }, withoutPrivileges));
    assertSound(folder);
  });

  test('the database is another kind of file', (t) => {
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, 'petstore.db'), 'Dear diary, '.repeat(1000));
    assertRefused(folder, petstore(['serve'], { PETSTORE_DATA_DIR: folder }));
  });

  test('the disk is full at the start, fills up during the start, or filled up since', {
    skip: noMounts,
  }, (t) => {
    const fill = 'cat /dev/zero > "$0/fill" 2>/dev/null';
    for (const [size, before] of [
      ['4k', fill],
      ...['32k', '256k'].map((size) => [size, 'true']),
      ['1m', `mkdir -m 700 "$0/data" && "$1" "$2" workspaces create demo > "$0/output"; ${fill}`],
    ] as const) {
      const folder = temporaryFolder(t);
      const disk = inOwnMounts(
        `mount -t tmpfs -o size=${size} tmpfs "$0" && { ${before}; exec "$@"; }`,
        folder,
      );
      const ended = petstore(['serve'], { PETSTORE_DATA_DIR: join(folder, 'data'), PORT: '0' }, disk);
      assertRefused(join(folder, 'data'), ended);
      assert.match(ended.stderr, /: The disk is full\. Free some space, or choose another folder\.\n$/, size);
    }
  });

  test('the file system is mounted read-only, empty or not', { skip: noMounts }, async (t) => {
    for (const folder of [temporaryFolder(t), await filledFolder(t)]) {
      const before = readdirSync(folder);
      assertRefused(folder, petstore(['serve'], { PETSTORE_DATA_DIR: folder }, mountedReadOnly(folder)));
      assert.deepEqual(readdirSync(folder), before);
    }
  });
});

test('a demo key in a folder that may only be read, as instances with PostgreSQL may have, is used', {
  skip: noSetpriv,
}, (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'demo.key');
  writeFileSync(file, 'the key', { mode: 0o400 });
  chmodSync(folder, 0o500);
  const dataDir = new URL('../../src/foundation/settings/data-dir.ts', import.meta.url).href;
  const program = `import { inDataDir, readOwnFile } from '${dataDir}';
    process.stdout.write(inDataDir('${folder}', () => readOwnFile('${file}')));`;
  const [command, ...args] = [...withoutPrivileges, process.execPath, '--input-type=module', '-e', program];
  const { stdout, stderr } = spawnSync(command as string, args, { encoding: 'utf8' });
  assert.deepEqual([stdout, stderr], ['the key', '']);
});

/** Limits the size of files that a process writes. */
function limitFiles(pid: number | undefined, bytes: string): void {
  assert.equal(spawnSync('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:unlimited`]).status, 0);
}

/** A data folder with a database in it. */
async function filledFolder(t: TestContext): Promise<string> {
  const folder = temporaryFolder(t);
  const db = await openSqlite(folder);
  await db.close();
  return folder;
}

/** A start would show the message, as other tests here do. */
const assertUnusable = (folder: string) =>
  assert.rejects(openSqlite(folder), ({ message }: Error) => {
    assertRefused(folder, { status: 1, stdout: '', stderr: `petstore: ${message}\n` });
    return true;
  });

function assertRefused(folder: string, { status, stdout, stderr }: ReturnType<typeof petstore>): void {
  assert.match(stderr, /^petstore: PETSTORE_DATA_DIR .* cannot be used: .* or choose another folder\.\n$/);
  assert.ok(stderr.includes(` ${folder} `), stderr);
  assert.deepEqual([status, stdout], [1, '']);
}

/** Runs a program for which alone the folder is mounted read-only. */
function mountedReadOnly(folder: string): string[] {
  return inOwnMounts('mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"', folder);
}

/** Runs a program by a script that gets the folder as `$0`. Only that script sees its mounts. */
function inOwnMounts(script: string, folder: string): string[] {
  const asRoot = isRoot ? [] : ['--map-root-user'];
  return ['unshare', '--mount', ...asRoot, 'sh', '-c', script, folder];
}

function canMount(): boolean {
  const [program = '', ...args] = mountedReadOnly(tmpdir());
  return spawnSync(program, [...args, 'true']).status === 0;
}

function canBeImmutable(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-'));
  const set = (flag: string) => spawnSync('chattr', [flag, folder]).status === 0;
  const can = set('+i') && set('-i');
  rmdirSync(folder);
  return can;
}

/** Nobody can write to these files meanwhile, not even through descriptors opened before. */
async function whileImmutable(files: string[], action: () => Promise<void>): Promise<void> {
  assert.equal(spawnSync('chattr', ['+i', ...files]).status, 0);
  try {
    await action();
  } finally {
    assert.equal(spawnSync('chattr', ['-i', ...files]).status, 0);
  }
}
