import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { beginPost } from '../support/begin-post.ts';
import { fakeNodeVersion } from '../support/fake-node-version.ts';
import { isAlive, whyNo } from '../support/programs.ts';
import { ampleKey, bin, environment, petstore, type Service, startService } from '../support/service.ts';
import { temporaryStorage } from '../support/storage.ts';
import { until } from '../support/until.ts';

/** It takes a second at most; the rest is for busy machines. */
const endsWithinMs = 120_000;

/** Makes every Node.js first print its options. */
const teller = 'data:text/javascript,console.log(JSON.stringify(process.execArgv))';

/** The machine's own Node.js, if it is an older one. */
const older = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .map((folder) => join(folder, 'node'))
  .find((node) => /^v2[0-5]\./.test(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout ?? ''));

for (const [who, by, skip] of [
  ['one that claims to be older', [process.execPath, '--import', fakeNodeVersion], whyNo('pgrep')],
  ["the machine's own", [older ?? 'node'], older ? whyNo('pgrep') : 'no older Node.js is in PATH'],
] as [string, [string, ...string[]], string | false][]) {
  describe(`an older Node.js runs the command with the installed one: ${who}`, { skip }, () => {
    test('the command runs as if started directly, and its exit code is passed on', () => {
      const run = (...args: string[]) =>
        spawnSync(by[0], [...by.slice(1), bin, ...args], { env: environment({}), encoding: 'utf8' });
      assert.deepEqual(
        [run('--version').stdout, run('--version').status],
        [petstore(['--version']).stdout, 0],
      );
      assert.equal(run('fly').status, 2);
    });

    test('its memory options are passed on', () => {
      const [program, ...args] = [...by, '--max-semi-space-size=8', '--no-deprecation', bin, '--version'];
      const env = environment({ NODE_OPTIONS: `--import ${teller}` });
      const { stdout } = spawnSync(program as string, args, { env, encoding: 'utf8' });
      assert.deepEqual(JSON.parse(stdout.split('\n')[1] as string), ['--max-semi-space-size=8']);
    });

    for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
      test(`${signal} is passed on`, async (t) => {
        const service = await startService(t, await temporaryStorage(t), {}, { by });
        assert.deepEqual(await service.stop(signal), { code: 0, signal: null });
        assert.match(service.output(), /"stopped"/);
      });
    }

    test('a command that SIGINT ends also ends by SIGINT, so that a shell loop ends', async (t) => {
      const starter = await beginSeed(t, by);
      const ended = once(starter, 'exit', { signal: AbortSignal.timeout(endsWithinMs) });
      starter.kill('SIGINT');
      assert.deepEqual(await ended, [null, 'SIGINT']);
    });

    test('a killed service ends with the exit code that shells use', async (t) => {
      const service = await startService(t, await temporaryStorage(t), {}, { by });
      const exited = once(service.child, 'exit');
      process.kill(childOf(service.child.pid as number) as number, 'SIGKILL');
      assert.deepEqual(await exited, [128 + 9, null]);
    });

    test('after kill -9 of the process that started it, the service finishes its requests and ends', async (t) => {
      const folder = await temporaryStorage(t);
      const service = await startService(t, folder, {}, { by });
      const socket = await beginPost(t, service.origin, await ampleKey(folder));
      const ended = kill(service);
      await Promise.race([ended, until(() => service.output().includes('stopping on SIGTERM'))]);
      socket.write('{}');
      assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 400 [\s\S]*name/);
      await ended;
      await assert.rejects(fetch(`${service.origin}/healthz`));
    });

    test('after kill -9 of the process that started it, a slow request does not keep the service running', async (t) => {
      const folder = await temporaryStorage(t);
      const service = await startService(t, folder, {}, { by });
      await beginPost(t, service.origin, await ampleKey(folder));
      await kill(service);
      assert.doesNotMatch(service.output(), /"stopped"/, 'a stop would have waited for the request');
    });

    test('after kill -9 of the process that started it, any other command ends', async (t) => {
      const starter = await beginSeed(t, by);
      const ended = once(starter.stdout.resume(), 'close', { signal: AbortSignal.timeout(endsWithinMs) });
      starter.kill('SIGKILL');
      await ended;
    });
  });
}

/** Starts a slow command, and waits until it was handed over. */
async function beginSeed(t: TestContext, by: string[]) {
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t) };
  petstore(['workspaces', 'create', 'shop'], env);
  const [program, ...args] = [...by, bin, 'seed', '--workspace', 'shop', '--pets', '100000000'];
  const starter = spawn(program as string, args, { env: environment(env) });
  t.after(() => starter.kill('SIGKILL'));
  await until(() => childOf(starter.pid as number) !== undefined);
  const child = childOf(starter.pid as number) as number;
  t.after(() => isAlive(child) && process.kill(child, 'SIGKILL'));
  return starter;
}

/** Kills the started process, and waits until the processes that share its standard output end. */
async function kill({ child }: Service): Promise<void> {
  const service = childOf(child.pid as number) as number;
  const ended = once(child.stdout as NonNullable<typeof child.stdout>, 'close', {
    signal: AbortSignal.timeout(endsWithinMs),
  });
  child.kill('SIGKILL');
  await ended.finally(() => isAlive(service) && process.kill(service, 'SIGKILL'));
}

function childOf(pid: number): number | undefined {
  return Number(spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' }).stdout) || undefined;
}
