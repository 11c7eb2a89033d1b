import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gradeProgram } from '../../src/grade/grade-program.ts';
import { openGradingService } from '../../src/grade/grading-service.ts';
import { fakeNodeVersion } from '../support/fake-node-version.ts';
import { temporaryFolder } from '../support/folder.ts';
import { programOf } from '../support/grading.ts';
import { isAlive } from '../support/programs.ts';
import { bin, environment, petstore, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const careful = programOf('careful');

const labOnly = { PETSTORE_DEMO: 'off', PETSTORE_LAB: 'on' };

/** A service with a lab, the environment of its commands, and the workspaces that it has. */
async function startLab(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const { origin } = await startService(t, dataDir, labOnly);
  const env = { PETSTORE_DATA_DIR: dataDir, PETSTORE_BASE_URL: `${origin}/v1` };
  const workspaces = () => JSON.parse(petstore(['workspaces', 'list', '--json'], env).stdout);
  return { dataDir, env, workspaces };
}

test('at a running service, programs are graded in workspaces that are deleted afterwards', async (t) => {
  const { env, workspaces } = await startLab(t);
  const store = await openGradingService(environment(env));
  assert.deepEqual(workspaces(), [], 'nothing is left of the trial at the start');

  const { verdict, faults } = await gradeProgram({ command: careful, store, faults: ['lost-answer'] });
  assert.deepEqual([verdict, faults[0]?.verdict], ['passed', 'survived']);
  assert.deepEqual(workspaces(), []);

  const stop = new AbortController();
  const stopped = gradeProgram({
    ...{ command: careful, store, faults: ['rate-limited'], signal: stop.signal },
    onProgress: ({ stage }) => stage === 'begun' && stop.abort(new Error('Ctrl-C')),
  });
  await assert.rejects(stopped, /Ctrl-C/);
  assert.deepEqual(workspaces(), []);

  await new Promise((resolve) => store.inWorkspace(async () => new Promise(() => resolve(undefined))));
  assert.match(workspaces()[0].name, /^grade-[\da-f]{12}$/);
  await store.close();
  assert.deepEqual(workspaces(), [], 'what is left is removed at the end');
});

test('a service that cannot be used for grading is explained in words', async (t) => {
  const [dataDir, other] = [temporaryFolder(t), temporaryFolder(t)];
  const withoutLab = await startService(t, dataDir, { PETSTORE_DEMO: 'off' });
  const open = (origin: string, folder: string) =>
    openGradingService(environment({ PETSTORE_DATA_DIR: folder, PETSTORE_BASE_URL: `${origin}/v1` }));
  await assert.rejects(open(withoutLab.origin, dataDir), /There is no lab at .*PETSTORE_LAB=on/);
  await withoutLab.stop('SIGTERM');
  const withLab = await startService(t, dataDir, labOnly);
  await assert.rejects(open(withLab.origin, other), /unknown or revoked.*PETSTORE_DATA_DIR or DATABASE_URL/);
  const none = join(dataDir, 'none');
  const unreachable = /cannot be reached .*\? PETSTORE_BASE_URL sets its address\.$/;
  await assert.rejects(open('http://127.0.0.1:1', none), unreachable);
  assert.ok(!existsSync(none), 'without a service no folder is created');
});

test('after kill -9 of an older Node.js that started the installed one, a grading leaves no workspace', async (t) => {
  const { dataDir, env, workspaces } = await startLab(t);
  const pids = join(dataDir, 'pids');
  const command = [bin, 'grade', '--', ...programOf('rude', 'stays', pids)];
  const options = { env: environment(env) };
  const starter = spawn(process.execPath, ['--import', fakeNodeVersion, ...command], options);
  t.after(() => starter.kill('SIGKILL'));
  const ended = once(starter.stdout.resume(), 'close');
  await until(() => existsSync(pids) && readFileSync(pids, 'utf8').split('\n').length === 3);
  assert.equal(workspaces().length, 1);
  starter.kill('SIGKILL');
  await ended;
  assert.deepEqual(workspaces(), []);
  for (const pid of readFileSync(pids, 'utf8').trim().split('\n').map(Number)) assert.ok(!isAlive(pid));
});
