import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCodes } from '../src/errors.ts';
import { needsNginx, startNginx } from './support/nginx.ts';
import { type Options, type Petstore, startPetstore } from './support/petstore.ts';
import { freePort } from './support/port.ts';
import { openStream } from './support/streams.ts';
import { until } from './support/until.ts';

/** How many requests one address may have under way. */
const maxConnections = 100;
/** More than any time limit of these tests, and less than those of the configuration. */
const endsWithinMs = 8_000;

const shortLinger = { 'lingering_time 5s;': 'lingering_time 1s; lingering_timeout 1s;' };

/** nginx before a service that trusts it. What keeps a test waiting may be changed to something shorter. */
async function start(t: TestContext, changes: Record<string, string> = {}, options: Options = {}) {
  const store = await startPetstore(t, { trustProxy: ['loopback'], ...options });
  const instance = Number(new URL(await store.listen()).port);
  return { store, port: await startNginx(t, [instance, instance, instance], changes) };
}

/** A connection, what has come on it, and when it ends. */
function open(t: TestContext, port: number, text = '', localAddress = '127.0.0.1') {
  const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
  t.after(() => socket.destroy());
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const connection = { socket, text: '', ended };
  socket.on('error', () => {}).setEncoding('utf8');
  socket.on('data', (chunk) => (connection.text += chunk)).on('end', () => socket.end());
  socket.write(text);
  return connection;
}

const post = ({ key }: Petstore, length: string) =>
  `POST /v1/pets HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;

/** Sends a piece again and again. */
function drip(t: TestContext, socket: Socket, drop: string): void {
  const timer = setInterval(() => socket.writable && socket.write(drop), 100);
  t.after(() => clearInterval(timer));
}

/** Waits for the end of a connection and tells after how many milliseconds it came. */
async function untilEnded({ ended }: { ended: Promise<unknown> }): Promise<number> {
  const startMs = performance.now();
  await Promise.race([ended, sleep(2 * endsWithinMs, undefined, { ref: false })]);
  return performance.now() - startMs;
}

/** Whether an answer is the Error object of this status, and one that the service could give. */
function assertError(answer: string, status: number): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  assert.match(head, new RegExp(`^HTTP/1.1 ${status} `));
  assert.match(head, /^Content-Type: application\/json/m);
  assert.match(head, /^X-Request-Id: \S+/m);
  assert.match(body, /\}\n$/);
  const error = JSON.parse(body);
  assert.deepEqual(Object.keys(error), ['code', 'message', 'status']);
  assert.equal(error.status, status);
  assert.equal(errorCodes[error.code as keyof typeof errorCodes][0], status);
}

describe('the load balancer', { ...needsNginx, concurrency: true }, () => {
  test('ends a connection whose header fields never end', async (t) => {
    const { port } = await start(t, { 'client_header_timeout 10s': 'client_header_timeout 1s' });
    const head = 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n';
    const silent = open(t, port, head);
    const empty = open(t, port);
    const dripping = open(t, port, head);
    drip(t, dripping.socket, 'X-Drop: 1\r\n');
    for (const connection of [silent, empty, dripping])
      assert.ok((await untilEnded(connection)) < endsWithinMs);
  });

  for (const [what, length, drop] of [
    ['that comes drop by drop', 'Content-Length: 60000', ' '],
    ['in chunks', 'Transfer-Encoding: chunked', '1\r\n \r\n'],
    ['that does not come', 'Content-Length: 60000', ''],
  ] as const) {
    test(`lets the service end a body ${what}`, async (t) => {
      const timeLimits = { headersMs: 500, requestMs: 1_000, checkEveryMs: 50 };
      const { store, port } = await start(t, shortLinger, { timeLimits });
      const connection = open(t, port, post(store, length));
      if (drop) drip(t, connection.socket, drop);
      assert.ok((await untilEnded(connection)) < endsWithinMs);
      assertError(connection.text, 408);
    });
  }

  test('ends a connection whose answers are not read', async (t) => {
    const { store, port } = await start(t, { 'send_timeout 10s': 'send_timeout 1s' });
    const documents = 400;
    const connection = open(t, port, 'GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(documents));
    connection.socket.pause();
    // nginx asks for no more when nothing more can be sent, and gives up a second later.
    for (let asked = -1; asked !== store.log.length; await sleep(1_500)) asked = store.log.length;
    connection.socket.resume();
    assert.ok((await untilEnded(connection)) < endsWithinMs);
    assert.ok(connection.text.split('"openapi":').length < documents);
  });

  test('keeps the metrics inside, however their path is spelled', async (t) => {
    const { store, port } = await start(t);
    for (const path of [
      '/metrics',
      '/metrics?x=1',
      '/metrics#x',
      '/metrics/',
      '//metrics',
      '/%6detrics',
      '/%6Detrics?x',
      '/./metrics',
      '/v1/../metrics',
      '/v1/%2e%2e/metrics',
      '/x/..//%6d%65trics/.',
      'http://x/metrics',
    ]) {
      const connection = open(t, port, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      await untilEnded(connection);
      assertError(connection.text, 404);
    }
    assert.ok(!store.log.some((line) => line.includes('etrics')));
    assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200);
  });

  test('tells the service who calls, whatever the caller claims', async (t) => {
    const { store, port } = await start(t);
    const remaining = [];
    for (const claim of ['192.0.2.1', '192.0.2.2, 127.0.0.1', 'unknown']) {
      const { headers } = await fetch(`http://127.0.0.1:${port}/v1/pets/1`, {
        headers: { 'x-forwarded-for': claim, forwarded: `for=${claim}`, 'x-real-ip': claim },
      });
      remaining.push(Number(headers.get('x-ratelimit-remaining')));
    }
    assert.deepEqual(remaining, [59, 58, 57]);
    const addresses = store.log.map((line) => JSON.parse(line)).filter(({ url }) => url === '/v1/pets/1');
    assert.deepEqual(
      addresses.map(({ address }) => address),
      ['127.0.0.1', '127.0.0.1', '127.0.0.1'],
    );
  });

  test('refuses one request too many of an address, and of no other', async (t) => {
    const { store, port } = await start(t);
    const get = `GET /v1/pets/1 HTTP/1.1\r\nHost: x\r\nX-API-Key: ${store.key}\r\nConnection: close\r\n\r\n`;
    const ask = async (localAddress: string) => {
      const connection = open(t, port, get, localAddress);
      await untilEnded(connection);
      return connection.text;
    };
    let underWay = 0;
    store.app.server.on('request', ({ method }) => method === 'POST' && underWay++);
    const begin = () => open(t, port, `${post(store, 'Content-Length: 9')}{`).socket;
    const waiting = Array.from({ length: maxConnections - 1 }, begin);
    await until(() => underWay === maxConnections - 1);
    assert.match(await ask('127.0.0.1'), /^HTTP\/1.1 200 /);
    const last = begin();
    await until(() => underWay === maxConnections);
    const refused = await ask('127.0.0.1');
    assertError(refused, 429);
    assert.match(refused, /^retry-after: 1\r$/im);
    assert.match(await ask('127.0.0.2'), /^HTTP\/1.1 200 /);
    last.destroy();
    await until(async () => (await ask('127.0.0.1')).startsWith('HTTP/1.1 200 '));
    for (const socket of waiting) socket.destroy();
  });

  test('passes the events of a stream on at once, and leaves it open while nothing happens', async (t) => {
    const quick = {
      'proxy_read_timeout 30s;': 'proxy_read_timeout 3s;',
      'send_timeout 10s;': 'send_timeout 1s;',
    };
    const { store, port } = await start(t, quick);
    const reader = await openStream(t, `http://127.0.0.1:${port}`, { key: store.key });
    // A comment comes within each time that is promised. Those of this test are short, however long the rest of it takes.
    let promised = 0;
    const startBeat = () => {
      const beat = setInterval(() => {
        if (reader.comments < promised) return;
        promised++;
        store.aheadMs += 15_000;
      }, 50);
      t.after(() => clearInterval(beat));
      return beat;
    };
    const beat = startBeat();
    const places: number[] = [];
    for (let i = 0; i < 3; i++) {
      await store.call('POST', '/categories', { body: { name: 'Dragons' } });
      await until(() => reader.events.length === i + 1);
      places.push(reader.place as number);
    }
    assert.deepEqual(places, [2, 3, 4]);
    // Longer than nginx waits for anything to come.
    await sleep(3_500);
    clearInterval(beat);
    await until(() => reader.comments === promised);
    assert.equal(reader.ended, 'no');
    startBeat();
    await store.app.close();
    await reader.untilEnded();
    assert.equal(reader.ended, 'whole');
  });

  test('counts streams of an address apart from its other requests', async (t) => {
    const { store, port } = await start(t, { 'limit_conn addresses 100;': 'limit_conn addresses 2;' });
    const origin = `http://127.0.0.1:${port}`;
    for (let i = 0; i < 5; i++) assert.equal((await openStream(t, origin, { key: store.key })).status, 200);
    assert.equal((await fetch(`${origin}/v1/pets/1`, { headers: { 'x-api-key': store.key } })).status, 200);
    assert.match(await store.metrics(), /^petstore_open_streams 5$/m);
  });

  test('ends a stream at the service when its reader is gone', async (t) => {
    const { store, port } = await start(t);
    const reader = await openStream(t, `http://127.0.0.1:${port}`, { key: store.key });
    reader.cut();
    await until(async () => (await store.db.read`select id from streams`).length === 0);
  });

  test('answers in the form of the service where it answers by itself', async (t) => {
    const { store, port } = await start(t, shortLinger);
    const close = 'Host: x\r\nConnection: close\r\n\r\n';
    for (const [request, status] of [
      ['nonsense\r\n\r\n', 400],
      [`GET /v1/pets HTTP/9.9\r\n${close}`, 400],
      ['GET /v1/pets HTTP/1.1\r\n\r\n', 400],
      [`TRACE /v1/pets HTTP/1.1\r\n${close}`, 400],
      [`CONNECT x:1 HTTP/1.1\r\n${close}`, 400],
      [`GET /error HTTP/1.1\r\n${close}`, 404],
      [`GET /${'a'.repeat(40_000)} HTTP/1.1\r\n${close}`, 431],
      [`GET /v1/pets HTTP/1.1\r\nX-Long: ${'a'.repeat(40_000)}\r\n${close}`, 431],
      [`GET /v1/pets HTTP/1.1\r\nX-Long: ${'a'.repeat(20_000)}\r\n${close}`, 431],
      [post(store, 'Content-Length: 2000000'), 413],
      [post(store, 'Transfer-Encoding: gzip'), 400],
    ] as const) {
      const connection = open(t, port, request);
      await untilEnded(connection);
      assertError(connection.text, status);
    }
  });

  test('finds the instance that is left, and says 503 when there is none', async (t) => {
    const store = await startPetstore(t);
    const instance = Number(new URL(await store.listen()).port);
    const port = await startNginx(t, [await freePort(), instance, await freePort()]);
    for (let i = 0; i < 6; i++) {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/categories`, {
        method: 'POST',
        headers: { 'x-api-key': store.key, 'content-type': 'application/json' },
        body: '{"name":"Dragons"}',
      });
      assert.equal(answer.status, 201);
    }
    await store.app.close();
    const connection = open(t, port, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await untilEnded(connection);
    assertError(connection.text, 503);
    assert.match(connection.text, /^retry-after: 1\r$/im);
  });
});
