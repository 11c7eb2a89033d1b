import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { readConfig } from '../../../src/foundation/settings/config.ts';
import { welcomeText } from '../../../src/service/start/welcome.ts';
import { startPetstore } from '../../support/petstore.ts';
import { whyNo } from '../../support/programs.ts';
import { startCommand } from '../../support/service.ts';
import { temporaryStorage } from '../../support/storage.ts';

test('serve --json prints one line for programs when the service is ready, with its address', async (t) => {
  const dataDir = await temporaryStorage(t);
  const env = { PORT: '0', PETSTORE_DATA_DIR: dataDir, PETSTORE_ODD: '1' };
  const { child, ended, written } = startCommand(t, ['serve', '--json'], env);
  const [line] = await once(createInterface(child.stdout), 'line');
  const { key, port, ...rest } = JSON.parse(line);
  const origin = `http://localhost:${port}`;
  assert.deepEqual(rest, {
    ready: true,
    baseUrl: `${origin}/v1`,
    referenceUrl: `${origin}/reference`,
    host: '127.0.0.1',
    pid: child.pid,
    dataDir,
    version: '1.0.0',
  });
  assert.equal(key, readFileSync(join(dataDir, 'demo.key'), 'utf8').trim());
  const headers = { authorization: `Bearer ${key}` };
  assert.equal((await fetch(`${rest.baseUrl}/pets?limit=2`, { headers })).status, 200);
  assert.equal((await fetch(rest.referenceUrl)).status, 200);
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  assert.equal(written.stdout, `${line}\n`);
  const log = written.stderr
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text).msg);
  assert.ok(log.includes('answered') && log.includes('stopped'), written.stderr);
});

test('serve --json prints no key without demo data, and nothing if it cannot start', async (t) => {
  const env = { PORT: '0', PETSTORE_DEMO: 'off', LOG_LEVEL: 'silent' };
  const start = async (own = {}) =>
    startCommand(t, ['serve', '--json'], { ...env, PETSTORE_DATA_DIR: await temporaryStorage(t), ...own });
  const { child, written } = await start();
  const [ready] = await once(createInterface(child.stdout), 'line');
  const { port, key } = JSON.parse(ready);
  assert.equal(key, undefined);
  assert.equal(written.stderr, '');
  const second = await start({ PORT: String(port) });
  assert.deepEqual(await second.ended, [1, null]);
  assert.equal(second.written.stdout, '');
  const line = new RegExp(`^petstore: PORT ${port} on 127\\.0\\.0\\.1 is in use\\. .*PORT=0 npm start\\n$`);
  assert.match(second.written.stderr, line);
});

const hasAddress = (address: string) =>
  Object.values(networkInterfaces()).some((all) => all?.some((one) => one.address === address));

test('the curl command of the welcome works unchanged, on every HOST', {
  skip: whyNo('curl'),
}, async (t) => {
  for (const [host, inUrl, isHere] of [
    ['127.0.0.1', 'localhost', true],
    ['0.0.0.0', 'localhost', true],
    // Other systems have one loopback address.
    ['127.0.0.2', '127.0.0.2', process.platform === 'linux'],
    ['::1', '[::1]', hasAddress('::1')],
  ] as const) {
    if (!isHere) continue;
    const store = await startPetstore(t);
    await store.app.listen({ host, port: 0 });
    const { port } = store.app.server.address() as AddressInfo;
    const config = readConfig({ HOST: host, PORT: String(port), PETSTORE_DATA_DIR: 'a folder' });
    const [line = '', url = ''] = / {2}curl .* "(.*)"/.exec(welcomeText(config, store.key)) ?? [];
    assert.equal(url, `http://${inUrl}:${port}/v1/pets?limit=2`);
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', line]);
    assert.equal(JSON.parse(stdout).length, 2, stderr);
  }
});

test('the welcome uses a base URL with a path', () => {
  const baseUrl = 'https://pets.example/shop/v1';
  const text = welcomeText(readConfig({ PETSTORE_BASE_URL: baseUrl }), 'pet_x');
  assert.ok(text.includes(`"${baseUrl}/pets?limit=2"\n`));
  assert.match(text, /\n {2}https:\/\/pets\.example\/shop\/reference#key=pet_x\n/);
});
