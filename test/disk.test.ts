import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { temporaryFolder } from './support/folder.ts';
import { assertSound } from './support/invariants.ts';
import { fetchChecked } from './support/petstore.ts';
import { ampleKey, petstore, startService } from './support/service.ts';
import { aboutSqlite } from './support/storage.ts';

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;

test('no room to write: 503 and reading goes on; with room again service resumes, and nothing is corrupt', {
  skip: aboutSqlite || (!hasPrlimit && 'prlimit is not installed'),
}, async (t) => {
  const folder = temporaryFolder(t);
  const service = await startService(t, folder, { LOG_LEVEL: 'fatal' });
  const key = ampleKey(folder);
  const create = () =>
    fetchChecked(service.origin, 'POST', '/categories', {
      key,
      body: { name: 'Dragons', description: 'x'.repeat(2_000) },
    });
  const limitFiles = (bytes: string) =>
    assert.equal(
      spawnSync('prlimit', [`--pid=${service.child.pid}`, `--fsize=${bytes}:unlimited`]).status,
      0,
    );
  limitFiles(String(statSync(join(folder, 'petstore.db-wal')).size + 200_000));
  const ids: number[] = [];
  let answer = await create();
  for (; answer.status === 201; answer = await create()) ids.push(answer.body.id);
  assert.equal(answer.status, 503, answer.text);
  assert.equal((await fetchChecked(service.origin, 'GET', '/pets/1', { key })).status, 200);
  limitFiles('unlimited');
  answer = await create();
  assert.equal(answer.status, 201, answer.text);
  assert.equal(answer.body.id, (ids.at(-1) as number) + 1, 'what was refused left nothing');
  await service.stop('SIGKILL');
  assertSound(folder);
  const database = new DatabaseSync(join(folder, 'petstore.db'));
  t.after(() => database.close());
  for (const id of ids) {
    assert.ok(database.prepare('select id from categories where workspace_id = 1 and id = ?').get(id));
  }
});

test('a data folder that cannot be made stops the start with one line that names it', {
  skip: aboutSqlite,
}, (t) => {
  const file = join(temporaryFolder(t), 'file');
  writeFileSync(file, '');
  const { status, stderr } = petstore(['serve'], { PETSTORE_DATA_DIR: join(file, 'data') });
  assert.equal(status, 1);
  assert.match(stderr, /^petstore: PETSTORE_DATA_DIR .*file\/data cannot be used: .*\n$/);
});
