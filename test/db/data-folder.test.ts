import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs, {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Database } from '../../src/db/database.ts';
import { openStorage } from '../../src/db/open.ts';
import { loadSecretKey } from '../../src/foundation/settings/secret-key.ts';
import { prepareDemo } from '../../src/store/demo/seed.ts';
import { temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/port.ts';
import { whyNo } from '../support/programs.ts';
import { bin, petstore, startService } from '../support/service.ts';
import { aboutSqlite, openTestStorage, temporaryStorage } from '../support/storage.ts';

const files = [
  '.gitignore',
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

/** Runs a command on a folder. Returns its exit code and what it printed to standard error. */
const runOn = (folder: string, by: string[] = []) => {
  const { status, stderr } = petstore(['workspaces', 'list'], { PETSTORE_DATA_DIR: folder }, by);
  return { status, stderr };
};

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
  chmodSync(folder, 0o755);
  for (const file of files) chmodSync(join(folder, file), 0o666);
  assert.deepEqual(runOn(folder), { status: 0, stderr: '' });
  assert.deepEqual(modesIn(folder), ownersAlone(files));
  await db.close();
  chmodSync(folder, 0o777);
  for (const file of readdirSync(folder)) chmodSync(join(folder, file), 0o644);
  await open(t, folder);
  assert.deepEqual(modesIn(folder), ownersAlone(files));
});

const warning = (folder: string) =>
  `petstore: Other users may change the files in PETSTORE_DATA_DIR ${folder}. Give the service its own folder.\n`;

const refused = (folder: string, reason: string) => ({
  status: 1,
  stderr: `petstore: PETSTORE_DATA_DIR ${folder} cannot be used: ${reason} or choose another folder.\n`,
});

test('a folder of ours with other files keeps its mode, and git sees the other files; a warning appears if other users can write to it', {
  skip: noModes || aboutSqlite || whyNo('git'),
}, async (t) => {
  const folder = temporaryFolder(t);
  await (await open(t, folder)).close();
  rmSync(join(folder, '.gitignore'));
  mkdirSync(join(folder, 'work'));
  for (const name of ['notes.txt', 'work/pet.js']) {
    writeFileSync(join(folder, name), '');
    chmodSync(join(folder, name), 0o644);
  }
  for (const [mode, said] of [
    [0o755, ''],
    [0o777, warning(folder)],
  ] as const) {
    chmodSync(folder, mode);
    assert.deepEqual(runOn(folder), { status: 0, stderr: said });
    const { '.': own, 'notes.txt': notes, work } = modesIn(folder);
    assert.deepEqual([own, notes, work], [mode.toString(8), '644', '755']);
  }
  assert.deepEqual(seenByGit(folder), ['.gitignore', 'notes.txt', 'work/pet.js']);
});

test('git sees nothing of a new folder, nor of one that an earlier version left', {
  skip: aboutSqlite || whyNo('git'),
}, async (t) => {
  const project = temporaryFolder(t);
  const folder = join(project, 'petstore-data');
  const db = await open(t, folder);
  writeFileSync(join(folder, 'backup.db'), '');
  assert.deepEqual(seenByGit(project), []);
  await db.close();
  rmSync(join(folder, 'backup.db'));
  rmSync(join(folder, '.gitignore'));
  assert.notDeepEqual(seenByGit(project), []);
  await (await open(t, folder)).close();
  assert.equal(readFileSync(join(folder, '.gitignore'), 'utf8'), '*\n');
  assert.deepEqual(seenByGit(project), []);
  writeFileSync(join(folder, '.gitignore'), '*.db*\n');
  await (await open(t, folder)).close();
  assert.equal(readFileSync(join(folder, '.gitignore'), 'utf8'), '*.db*\n', "a user's own file stays");
});

/** The files of a folder that git offers to commit. */
function seenByGit(folder: string): string[] {
  const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' });
  git('init', '--quiet');
  return git('ls-files', '--others', '--exclude-standard').trim().split('\n').filter(Boolean);
}

test('a folder with files of somebody else is refused and stays as it is', { skip: aboutSqlite }, (t) => {
  for (const files of [['pets.csv'], ['secret.key', 'app.js'], ['.gitignore'], ['lost+found', '.env']]) {
    const folder = temporaryFolder(t);
    for (const file of files) writeFileSync(join(folder, file), '*.log\n');
    chmodSync(folder, 0o755);
    const before = modesIn(folder);
    const reason = 'It contains other files. Use a new folder in it,';
    assert.deepEqual(runOn(folder), refused(folder, reason), String(files));
    assert.deepEqual(modesIn(folder), before);
  }
});

test('an empty folder is used, also with the lost+found of its file system, or kept in git', {
  skip: aboutSqlite,
}, async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'lost+found'));
  writeFileSync(join(folder, '.gitkeep'), '');
  writeFileSync(join(folder, '.gitignore'), '*\n!.gitkeep\n');
  await open(t, folder);
  assert.deepEqual(readdirSync(folder).sort(), [...files, 'lost+found', '.gitkeep'].sort());
  assert.equal(readFileSync(join(folder, '.gitignore'), 'utf8'), '*\n!.gitkeep\n');
});

test('after a crash at any moment of the first start, the next one works', {
  skip: aboutSqlite,
}, async (t) => {
  const folder = temporaryFolder(t);
  const moments: string[] = [];
  for (const name of ['openSync', 'fsyncSync', 'linkSync', 'renameSync', 'rmSync'] as const) {
    const original = fs[name] as (...args: unknown[]) => unknown;
    t.mock.method(fs, name, (...args: unknown[]) => {
      const result = original(...args);
      const copy = temporaryFolder(t);
      fs.cpSync(folder, copy, { recursive: true });
      moments.push(copy);
      return result;
    });
  }
  const start = async (folder: string) => {
    loadSecretKey(folder);
    await (await open(t, folder)).close();
  };
  syncBuiltinESMExports();
  try {
    await start(folder);
  } finally {
    t.mock.reset();
    syncBuiltinESMExports();
  }
  const states = new Set(moments.map((moment) => String(readdirSync(moment).sort())));
  assert.ok(states.size > 8, String(states.size));
  for (const moment of moments) {
    await start(moment);
    assert.ok(files.slice(0, 3).every((file) => readdirSync(moment).includes(file)));
  }
});

const notRoot = process.geteuid?.() !== 0;

test("another user's folder keeps its mode, and a warning appears; if more users can write to it, it is refused", {
  skip: aboutSqlite || (notRoot && 'only root can give a folder away'),
}, (t) => {
  const folder = temporaryFolder(t);
  chownSync(folder, 65_534, 65_534);
  for (const mode of [0o777, 0o1777, 0o775]) {
    chmodSync(folder, mode);
    const reason = 'It belongs to another user, and others can write to it. Make it your own,';
    assert.deepEqual(runOn(folder), refused(folder, reason));
    assert.deepEqual(readdirSync(folder), []);
  }
  chmodSync(folder, 0o755);
  assert.deepEqual(runOn(folder), { status: 0, stderr: warning(folder) });
  assert.equal(modesIn(folder)['.'], '755');
});

const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] as const;
const cannotBeNobody =
  spawnSync('setpriv', [...asNobody.slice(1), 'test', '-r', bin]).status !== 0 &&
  'only root can become another user, who must be able to read the program';

test("a folder of root that all users can write to, as a container's volume, works with a warning", {
  skip: aboutSqlite || cannotBeNobody,
}, (t) => {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o777);
  assert.deepEqual(runOn(folder, [...asNobody]), { status: 0, stderr: warning(folder) });
});

test('a link, a pipe or a folder in place of a file that SQLite opens stops the start, and the target of a link stays', {
  skip: noModes || aboutSqlite || whyNo('mkfifo'),
}, async (t) => {
  const elsewhere = temporaryFolder(t);
  await (await open(t, elsewhere)).close();
  const target = join(elsewhere, 'petstore.db');
  const before = readFileSync(target);
  for (const name of ['petstore.db', 'petstore.db-wal', 'petstore.db-shm', 'service.lock'])
    for (const put of [
      (file: string) => symlinkSync(target, file),
      (file: string) => symlinkSync(join(elsewhere, 'none'), file),
      (file: string) => linkSync(target, file),
      (file: string) => execFileSync('mkfifo', [file]),
      (file: string) => mkdirSync(file),
    ]) {
      const folder = temporaryFolder(t);
      put(join(folder, name));
      const reason = `${name} is a link, or not a file. Put the file itself there,`;
      await assert.rejects(open(t, folder), ({ message }: Error) =>
        refused(folder, reason).stderr.includes(message),
      );
      assert.deepEqual(readdirSync(folder), [name]);
    }
  assert.deepEqual(readFileSync(target), before);
  assert.ok(!readdirSync(elsewhere).includes('none'));
});

test('the data folder may be a link to a folder, to which the same rules apply', {
  skip: noModes || aboutSqlite,
}, (t) => {
  const folder = temporaryFolder(t);
  const link = join(temporaryFolder(t), 'link');
  symlinkSync(folder, link);
  chmodSync(folder, 0o755);
  assert.deepEqual(runOn(link), { status: 0, stderr: '' });
  assert.deepEqual(modesIn(folder), ownersAlone(['.gitignore', 'petstore.db']));
  if (notRoot) return;
  chownSync(folder, 65_534, 65_534);
  chmodSync(folder, 0o777);
  assert.equal(runOn(link).status, 1);
});

test('a start without PETSTORE_DATA_DIR says how to continue with the folder of an earlier version', {
  skip: aboutSqlite || (process.platform === 'win32' && 'Windows has no sh'),
}, async (t) => {
  const project = temporaryFolder(t);
  const by = ['sh', '-c', 'cd "$0" && exec "$@"', project] as const;
  const inProject = (env = {}) => startService(t, '', env, { by: [...by, process.execPath] });
  const earlier = await inProject({ PETSTORE_DATA_DIR: './data' });
  assert.ok(!earlier.output().includes('earlier version'));
  await earlier.stop('SIGTERM');
  const key = readFileSync(join(project, 'data/demo.key'), 'utf8');

  const next = await inProject();
  const [line = ''] = /^.*earlier version.*$/m.exec(next.output()) ?? [];
  assert.match(JSON.parse(line).msg, /\.\/data\/petstore\.db .* set PETSTORE_DATA_DIR=\.\/data\.$/);
  assert.notEqual(readFileSync(join(project, 'petstore-data/demo.key'), 'utf8'), key);
  await next.stop('SIGTERM');
  const { status, stderr } = petstore(['keys', 'list'], {}, [...by]);
  assert.equal(status, 0);
  assert.match(stderr, /^petstore: \.\/data\/petstore\.db is from an earlier version.*\n$/);

  const continued = await inProject({ PETSTORE_DATA_DIR: './data' });
  assert.ok(continued.output().includes(key.trim()));
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
