/** `npm start` as operators use it: they send signals to npm, and wait for its end. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { beginPost } from '../../support/begin-post.ts';
import { freePort } from '../../support/port.ts';
import { whyNo } from '../../support/programs.ts';
import { environment, statusAt } from '../../support/service.ts';
import { temporaryStorage } from '../../support/storage.ts';
import { root } from '../../support/tree.ts';
import { until } from '../../support/until.ts';

const skip = process.platform === 'win32' ? 'Windows has no signals' : whyNo('npm');

/** Runs commands in a shell, and waits until the service that they start is ready. */
async function run(t: TestContext, commands: string) {
  const [folder, port] = [await temporaryStorage(t), await freePort()];
  const origin = `http://127.0.0.1:${port}`;
  const env = environment({ PORT: String(port), PETSTORE_DATA_DIR: folder });
  const child = spawn('sh', ['-c', commands], { cwd: root, env, detached: true });
  t.after(() => spawnSync('kill', ['-KILL', '--', `-${child.pid}`]));
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const isServing = async () => (await statusAt(`${origin}/readyz`)) === 200;
  await until(isServing);
  const key = readFileSync(join(folder, 'demo.key'), 'utf8').trim();
  return { child, origin, key, isServing, output: () => output };
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`after ${signal} npm start ends with its service, which first answers the request in flight`, {
    skip,
  }, async (t) => {
    const { child, origin, key, isServing, output } = await run(t, 'exec npm start');
    const socket = await beginPost(t, origin, key);
    const ended = once(child, 'exit');
    child.kill(signal);
    await until(() => output().includes(`stopping on ${signal}`));
    assert.equal(child.exitCode ?? child.signalCode, null, 'npm waits');
    socket.write('{}');
    assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 400 /);
    assert.deepEqual(await ended, [0, null]);
    assert.match(output(), /"stopped"/);
    assert.equal(await isServing(), false);
  });
}

test('without a command the program starts the service, and says where the other commands are', {
  skip,
}, async (t) => {
  const { origin, output } = await run(t, 'exec npm run -s petstore');
  const { port } = new URL(origin);
  assert.match(
    output(),
    /^Starting the demonstration\. "npm run -s petstore -- --help" lists the commands\.\n/,
  );
  await until(() => output().includes(`API          http://localhost:${port}/v1\n`));
});

test('the service outlives the shell that started npm, but not npm', { skip }, async (t) => {
  const { child, output, isServing } = await run(t, 'npm start & echo "npm is $!"; wait; exit');
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  // The service looks for its ancestors four times a second.
  await sleep(600);
  assert.equal(await isServing(), true);
  process.kill(Number(/npm is (\d+)/.exec(output())?.[1]), 'SIGKILL');
  await until(async () => !(await isServing()));
});
