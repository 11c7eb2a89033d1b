import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { readConfig } from '../../../src/foundation/settings/config.ts';
import { startPetstore } from '../../../src/index.ts';
import { createLogger } from '../../../src/observe/log/logger.ts';
import { onFreePort, startService } from '../../../src/service/service.ts';
import { openStore } from '../../../src/service/start/from-code/store.ts';
import { startReceiver } from '../../support/dispatching.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { call, startFromCode } from '../../support/from-code.ts';
import { bin, environment, startCommand } from '../../support/service.ts';

const newPet = { name: 'Smaug', categoryId: 1 };
const index = new URL('../../../src/index.ts', import.meta.url).href;

/** Runs a program that imports the package, in an empty folder that also serves for temporary files. */
async function run(
  t: TestContext,
  program: string,
  { env = {}, flags = [] }: { env?: Record<string, string>; flags?: string[] } = {},
) {
  const folder = temporaryFolder(t);
  const code = `import { startPetstore } from ${JSON.stringify(index)};\n${program}`;
  const child = spawn(process.execPath, [...flags, '--input-type=module-typescript', '--eval', code], {
    cwd: folder,
    env: environment({ TMPDIR: folder, ...env }),
  });
  t.after(() => child.kill('SIGKILL'));
  const [stdout, stderr, [status, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { stdout, stderr, status, signal, left: readdirSync(folder) };
}

test('a program ends by itself after stop(), has no signal listener, and prints only its own output', async (t) => {
  const program = `
    const store = await startPetstore();
    await (await fetch(store.baseUrl + '/pets', { headers: { authorization: 'Bearer ' + store.key } })).text();
    await store.rehearse([{ fault: 'delay' }]);
    await store.record();
    await store.clock.advance('1 day');
    await store.reset();
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'exit', 'uncaughtException', 'unhandledRejection'];
    console.log(signals.flatMap((signal) => process.listeners(signal)).length);
    await store.stop();`;
  const ended = await run(t, program);
  assert.deepEqual(ended, { stdout: '0\n', stderr: '', status: 0, signal: null, left: [] });
});

test('stopped stores leave nothing in memory', async (t) => {
  const program = `
    import { setTimeout as sleep } from 'node:timers/promises';
    const heapAfter = async (count) => {
      for (let i = 0; i < count; i++) {
        const store = await startPetstore();
        await (await fetch(store.baseUrl.replace('/v1', '/metrics'))).text();
        await store.stop();
      }
      await sleep(50);
      gc();
      return process.memoryUsage().heapUsed;
    };
    const before = await heapAfter(8);
    console.log((await heapAfter(16)) - before);`;
  const { stdout, stderr } = await run(t, program, { flags: ['--expose-gc'] });
  assert.ok(Number.parseInt(stdout, 10) < 8_000_000, `${stdout.trim()} bytes in 16 starts ${stderr}`);
});

test('a killed program leaves no file behind', async (t) => {
  const program = `await startPetstore(); process.kill(process.pid, 'SIGKILL');`;
  const { signal, left } = await run(t, program);
  assert.deepEqual({ signal, left }, { signal: 'SIGKILL', left: [] });
});

test('no environment variable changes a store', async (t) => {
  const hostile = {
    PORT: 'x',
    HOST: '0.0.0.0',
    DATABASE_URL: 'postgres://localhost:1/none',
    VALKEY_URL: 'redis://localhost:1',
    PETSTORE_BASE_URL: 'https://pets.example/v1',
    PETSTORE_DATA_DIR: '/dev/null/data',
    PETSTORE_DEMO: 'off',
    PETSTORE_LAB: 'off',
    PETSTORE_ODD: '1',
    LOG_LEVEL: 'trace',
  };
  const program = `
    await using store = await startPetstore();
    await store.record();
    console.log(new URL(store.baseUrl).hostname);`;
  const ended = await run(t, program, { env: hostile });
  assert.deepEqual(ended, { stdout: '127.0.0.1\n', stderr: '', status: 0, signal: null, left: [] });
});

test('a used port or folder is reported in one sentence, and both are free again after a stop', async (t) => {
  const dataDir = temporaryFolder(t);
  const store = await startFromCode(t, { dataDir });
  const port = Number(new URL(store.baseUrl).port);
  await assert.rejects(startPetstore({ port }), {
    message: `Port ${port} of 127.0.0.1 is in use. Leave out port to use a free one.`,
  });
  await assert.rejects(startPetstore({ dataDir }), {
    name: 'Error',
    message: `dataDir ${dataDir} cannot be used: Process ${process.pid} is running a service on it. Stop that one, or choose another folder.`,
  });
  await call(store, 'POST', '/pets', { body: newPet });
  await store.stop();
  const again = await startFromCode(t, { dataDir, port });
  assert.equal((await call(again, 'GET', '/pets/21')).body.name, 'Smaug');
  await again.reset();
  assert.equal((await call(again, 'POST', '/pets', { body: newPet })).body.id, 21);
});

test('a port that another program takes first is replaced by another', async (t) => {
  const store = await openStore({});
  t.after(() => store.db.close());
  const other = createServer();
  t.after(() => other.close());
  const tried: number[] = [];
  const service = await onFreePort('127.0.0.1', async (port) => {
    if (tried.push(port) === 1) await once(other.listen(port, '127.0.0.1'), 'listening');
    const config = readConfig({ PORT: String(port) });
    return startService({ ...store.parts, config, log: createLogger('silent', { write() {} }) });
  });
  t.after(() => service.stop());
  assert.equal(tried.length, 2);
  assert.equal((await fetch(`http://127.0.0.1:${tried[1]}/healthz`)).status, 200);
});

test('a stop aborts a time change that a webhook delays, and refuses waiting calls', async (t) => {
  const receiver = await startReceiver(t);
  receiver.behave = () => {};
  const store = await startFromCode(t, { clock: 'manual' });
  await call(store, 'POST', '/store/webhooks', { body: { url: receiver.url } });
  await call(store, 'POST', '/pets', { body: newPet });
  const asked = [store.clock.advance('1 hour'), store.reset(), store.clock.set(new Date('2999-01-01'))];
  const refused = Promise.all(
    asked.map((one) => assert.rejects(one, { message: 'This store was stopped.' })),
  );
  const startMs = performance.now();
  await store.stop();
  const tookMs = performance.now() - startMs;
  assert.ok(tookMs > 1_900 && tookMs < 2_900, `${tookMs} ms`);
  await refused;
});

/** The service with `--ephemeral`, in an empty folder, with a function for commands. */
async function startEphemeral(t: TestContext, args: string[] = [], env: Record<string, string> = {}) {
  const folder = temporaryFolder(t);
  const all = [bin, 'serve', '--port', '0', '--ephemeral', '--json', ...args];
  const child = spawn(process.execPath, all, {
    cwd: folder,
    env: environment({ PORT: 'x', TMPDIR: folder, ...env }),
  });
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'close');
  const stderr = text(child.stderr);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value ?? 'null');
  const store = await next();
  return {
    ...{ child, ended, folder, store, stderr },
    get: (path: string) => fetch(store.baseUrl + path, { headers: { authorization: `Bearer ${store.key}` } }),
    ask(command: unknown): Promise<{ ok: boolean; now?: string; message?: string }> {
      child.stdin.write(`${typeof command === 'string' ? command : JSON.stringify(command)}\n`);
      return next();
    },
  };
}

test('serve --ephemeral keeps nothing, and accepts commands on standard input until it closes', async (t) => {
  const { store, get, ask, child, ended, folder } = await startEphemeral(t, ['--plan', 'free']);
  assert.equal(store.dataDir, undefined);
  assert.equal(
    (await get('/pets')).headers.get('ratelimit-policy'),
    '"minute";q=60;w=60,"day";q=1000;w=86400',
  );
  const { now = '', ...rest } = await ask({ advance: '1 day' });
  assert.deepEqual(rest, { ok: true });
  assert.ok(Date.parse(now) > Date.now() + 86_000_000, now);
  const dated = (await get('/pets')).headers.get('date') ?? '';
  assert.ok(Date.parse(dated) > Date.now() + 86_000_000, dated);
  assert.equal((await ask({ set: '2099-01-01T00:00:00Z' })).now?.slice(0, 16), '2099-01-01T00:00');
  assert.equal((await ask({ advance: 'soon' })).message?.slice(0, 14), 'A duration is ');
  const advancedMs = Date.parse((await ask({ advance: 0 })).now ?? '');
  for (const line of [
    ...['{', '', 'null', '5', '"x"', '[]', '{}', '{"stop":true}', '{"reset":false}'],
    ...['{"set":5}', '{"advance":true}', '{"advance":"1 day","reset":true}'],
  ])
    assert.match((await ask(line)).message ?? '', /^A command is /, line);
  const { now: kept = '' } = await ask({ advance: 0 });
  assert.ok(Date.parse(kept) - advancedMs < 60_000, 'none of them had an effect');
  assert.ok(Date.parse((await ask({ reset: true })).now ?? '') < Date.now() + 60_000);
  assert.equal((await get('/pets')).headers.get('x-ratelimit-remaining'), '59');
  child.stdin.end();
  assert.deepEqual(await ended, [0, null]);
  assert.deepEqual(readdirSync(folder), []);
});

test('commands are answered in order, after the first line, also by a service that is ending', async (t) => {
  const { child, ended, written } = startCommand(t, ['serve', '--port', '0', '--ephemeral', '--json']);
  child.stdin.end(`{\n${'{"advance":"1 day"}\n{"stop":1}\n'.repeat(50)}{"reset":true}\n`);
  assert.deepEqual(await ended, [0, null]);
  const [ready = '', ...answers] = written.stdout.trim().split('\n');
  assert.ok(JSON.parse(ready).baseUrl);
  const accepted = answers.map((line) => JSON.parse(line).ok);
  assert.deepEqual(accepted, [false, ...Array(50).fill([true, false]).flat(), true]);
});

test('serve --ephemeral without a pipe as standard input runs until a signal', async (t) => {
  const child = spawn(process.execPath, [bin, 'serve', '--port=0', '--ephemeral'], {
    env: environment({}),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'close');
  for await (const line of createInterface(child.stdout)) if (line.includes('limit=2')) break;
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});

for (const [name, value, must] of [
  ['DATABASE_URL', 'postgres://localhost:1/none', 'absent'],
  ['VALKEY_URL', 'redis://localhost:1', 'absent'],
  ['PETSTORE_DEMO', 'off', 'on'],
] as const) {
  test(`serve --ephemeral refuses ${name}`, async (t) => {
    const { ended, stderr, store } = await startEphemeral(t, [], { [name]: value });
    assert.deepEqual(await ended, [1, null]);
    assert.ok((await stderr).startsWith(`petstore: ${name} must be ${must} with --ephemeral`));
    assert.equal(store, null);
  });
}
