import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateKey } from '../../src/access/keys/store.ts';
import { type Petstore, startListening } from '../support/petstore.ts';
import { openRaw, statusesIn } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

const body = '{"name":"Dragons"}';

/** A POST that announces a body and does not send it. */
const announce = (path: string, fields: Record<string, string>) => {
  const length = 'Transfer-Encoding' in fields ? {} : { 'Content-Length': body.length };
  const all = { Host: 'x', 'Content-Type': 'application/json', ...length, ...fields };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
};

function open(t: TestContext, store: Petstore, text: string) {
  const client = openRaw(t, store);
  client.send(text);
  return client;
}

test('a refusal based on the headers is sent without 100 Continue, and ends the connection', async (t) => {
  const store = await startListening(t);
  const own = { 'X-API-Key': store.key };
  const { key: usedUp } = await store.addKey('enterprise', { perMinute: 1, perDay: 1 });
  await store.call('GET', '/pets', { key: usedUp });
  const { key: banned } = await store.addKey('enterprise', { perMinute: 1, perDay: 1 });
  for (let i = 0; i < 12; i++) await store.call('GET', '/pets', { key: banned });
  for (const [status, path, fields] of [
    [401, '/v1/categories', {}],
    [401, '/v1/categories', { 'X-API-Key': generateKey() }],
    [403, '/v1/categories', { 'X-API-Key': banned }],
    [404, '/v1/petz', own],
    [404, '/pets', {}],
    [405, '/v1/pets/1', own],
    [405, '/healthz', {}],
    [413, '/v1/categories', { ...own, 'Content-Length': '70000' }],
    [415, '/v1/categories', { ...own, 'Content-Type': 'text/plain' }],
    [415, '/v1/categories', { ...own, 'Content-Type': 'nonsense' }],
    [415, '/v1/categories', { ...own, 'Content-Encoding': 'gzip' }],
    [429, '/v1/categories', { 'X-API-Key': usedUp }],
  ] as const) {
    const connection = open(t, store, announce(path, { ...fields, Expect: '100-continue' }));
    await connection.ended();
    assert.deepEqual(statusesIn(connection.text), [status], `${path} ${JSON.stringify(fields)}`);
    assert.match(connection.text, /^connection: close\r$/im);
  }
});

test('a client that sends the body anyway gets no reset, so it can read the refusal', async (t) => {
  const store = await startListening(t);
  for (const [path, fields] of [
    ['/v1/categories', { Expect: '100-continue' }],
    ['/v1/categories', { Connection: 'close' }],
    ['/v1/petz', { Expect: '100-continue' }],
  ] as const) {
    const socket = store.connect(announce(path, fields)).setEncoding('utf8');
    const [text] = await once(socket, 'data');
    assert.deepEqual(statusesIn(text), [401]);
    for (let part = 0; part < 10; part++) {
      socket.write('x'.repeat(10_000));
      await sleep(2);
    }
    socket.end();
    await once(socket, 'close');
  }
});

test('a client that waits for 100 Continue gets it once, and its connection stays open', async (t) => {
  const store = await startListening(t);
  const head = announce('/v1/categories', { 'X-API-Key': store.key, Expect: '100-Continue' });
  const connection = open(t, store, head);
  await until(() => connection.text.endsWith('\r\n\r\n'));
  assert.deepEqual(statusesIn(connection.text), [100]);
  connection.socket.write(body);
  await until(() => connection.text.endsWith('}\n'));
  // A client that does not wait gets the same.
  connection.socket.write(head + body);
  await until(() => connection.text.split('"Dragons"').length === 3);
  assert.deepEqual(statusesIn(connection.text), [100, 201, 100, 201]);
});

test('a request behind a refused body gets the same response as if the body had been read', async (t) => {
  const store = await startListening(t);
  const next = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  for (const [status, path] of [
    [401, '/v1/categories'],
    [404, '/pets'],
  ] as const) {
    const connection = open(t, store, announce(path, {}));
    await until(() => connection.text.endsWith('}\n'));
    connection.socket.write(body + next);
    await connection.ended();
    assert.deepEqual(statusesIn(connection.text), [status, 200]);
  }
});

for (const [what, fields, rest] of [
  ['breaks', { 'Transfer-Encoding': 'chunked' }, 'ZZZ\r\n'],
  ['ends too soon', {}, undefined],
] as const) {
  test(`a body that ${what} after its refusal gets no second response`, async (t) => {
    const store = await startListening(t);
    const connection = open(t, store, announce('/v1/categories', fields));
    await until(() => connection.text.endsWith('}\n'));
    if (rest) connection.socket.write(rest);
    else connection.socket.end('{');
    await connection.ended();
    assert.deepEqual(statusesIn(connection.text), [401]);
  });
}

test('Keep-Alive promises no longer time than an idle connection stays open', async (t) => {
  const store = await startListening(t, { timeLimits: { idleMs: 1_000 } });
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${store.key}\r\n\r\n`;
  for (const path of ['/v1/pets/1', '/healthz', '/v1/petz']) {
    const connected = once(store.app.server, 'connection');
    const { socket } = open(t, store, request(path));
    const [answer] = await once(socket, 'data');
    const [, promised] = /^keep-alive: timeout=(\d+)\r$/im.exec(answer) as unknown as [string, string];
    assert.equal(promised, '1');
    const [ours] = await connected;
    await until(() => ours.timeout > Number(promised) * 1_000);
  }
});
