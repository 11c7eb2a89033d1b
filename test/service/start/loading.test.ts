import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { bin, environment } from '../../support/service.ts';
import { temporaryStorage } from '../../support/storage.ts';
import { textOf } from '../../support/tree.ts';

/** The packages of every start. Other dependencies are loaded for a request, a setting or a command that needs them. */
const needed = ['commander', 'fastify', 'ipaddr.js', 'lru-cache', 'marked', 'pino', 'typebox'];

const { dependencies } = JSON.parse(textOf('package.json'));

/** Prints the loaded packages of a program, and the loaded parts of Node.js. */
const reporter = `
import { registerHooks } from 'node:module';
const packages = new Set();
registerHooks({
  load(url, context, next) {
    packages.add(/\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]);
    return next(url, context);
  },
});
process.on('message', () => process.send({ packages: [...packages], builtins: process.moduleLoadList }));
process.channel.unref();
`;

test('a service loads modules only when a request needs them', async (t) => {
  const child = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(reporter)}`, bin, 'serve', '--json'],
    {
      env: environment({ PORT: '0', PETSTORE_DATA_DIR: await temporaryStorage(t) }),
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    },
  );
  t.after(() => child.kill('SIGKILL'));
  const loaded = async () => {
    child.send('report');
    const [{ packages, builtins }] = await once(child, 'message');
    return {
      dependencies: packages.filter((name: string) => name in dependencies).sort(),
      hasClient: builtins.includes('NativeModule internal/deps/undici/undici'),
    };
  };
  const [line] = await once(createInterface(child.stdout as NodeJS.ReadableStream), 'line');
  const { baseUrl, key } = JSON.parse(line);
  const headers = { authorization: `Bearer ${key}` };
  assert.equal((await fetch(`${baseUrl}/pets/1`, { headers })).status, 200);
  assert.deepEqual(await loaded(), { dependencies: needed, hasClient: false });
  const accept = 'application/json, text/event-stream';
  const message = {
    method: 'POST',
    headers: { ...headers, accept, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  };
  const twice = (path: string, init?: RequestInit) =>
    [1, 2].map(async () => (await fetch(new URL(path, baseUrl), init)).status);
  const first = await Promise.all([twice('/metrics'), twice('/mcp', message)].flat());
  assert.deepEqual(first, [200, 200, 200, 200]);
  const neededThen = [...needed, '@modelcontextprotocol/server', 'light-my-request', 'prom-client'];
  assert.deepEqual((await loaded()).dependencies, neededThen.sort());
});
