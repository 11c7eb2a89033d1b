import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { NameResolver } from '../../../src/store/webhooks/target-policy.ts';
import { makeCertificate, needsOpenssl } from '../../support/certificate.ts';
import { freePort } from '../../support/port.ts';
import { listen, listenWell, receive, sendTo } from '../../support/receiver.ts';

const never = () => new Promise<string[]>(() => {});

/** Answers with this text once the request begins to arrive. */
const answering = (text: string) => (socket: Socket) => void socket.once('data', () => socket.end(text));

test('a webhook arrives as one POST with its fields and its body, the next one on the same connection', async (t) => {
  const requests: unknown[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    requests.push({ method, url, headers, body: (await request.toArray()).join('') });
    response.writeHead(204).end();
  });
  const receiver = await listen(t, server);
  for (let times = 0; times < 2; times++) {
    const { durationMs, ...result } = await sendTo(`${receiver.url}a%20b?c=%2F&d`);
    assert.deepEqual(result, { status: 204 });
    assert.ok(Number.isInteger(durationMs) && durationMs >= 0);
  }
  const headers = {
    ...{ 'content-type': 'application/json', 'content-length': '8', connection: 'keep-alive' },
    host: `localhost:${receiver.port}`,
  };
  const expected = { method: 'POST', url: '/a%20b?c=%2F&d', headers, body: '{"id":1}' };
  assert.deepEqual(requests, [expected, expected]);
  assert.equal(receiver.connections(), 1);
  await receiver.quiet();
});

test('a connection is not used for another URL, or after its host has other addresses', async (t) => {
  const { port, connections } = await listenWell(t);
  const sentTo = [`localhost:${port}/one`, `localhost:${port}/two`, `127.0.0.1:${port}/one`];
  for (const [i, place] of [...sentTo, ...sentTo].entries()) {
    assert.equal((await sendTo(`http://${place}`)).status, 200);
    assert.equal(connections(), Math.min(i + 1, sentTo.length));
  }
});

test('a connection that its receiver closes after a response costs no attempt', async (t) => {
  const server = createServer((request, response) => {
    response.end(() => setImmediate(() => request.socket.resetAndDestroy()));
  });
  const receiver = await listen(t, server);
  for (let times = 0; times < 50; times++) assert.equal((await sendTo(receiver.url)).status, 200);
});

test('a request that is reset on a used connection is sent again on a new one, and fails if that is reset too', async (t) => {
  let requests = 0;
  const receiver = await receive(t, (socket) => {
    socket.on('data', () => {
      requests++;
      if (requests === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      else socket.resetAndDestroy();
    });
  });
  assert.equal((await sendTo(receiver.url)).status, 200);
  assert.equal((await sendTo(receiver.url)).error, 'The connection ended before a response.');
  assert.deepEqual([requests, receiver.connections()], [3, 2]);
});

// Node.js 24 would keep such a connection open and read on.
test('bytes that a receiver sends between two requests end its connection, and count as no response', async (t) => {
  const receiver = await receive(t, (socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      const sending = setInterval(() => socket.write('HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n'), 100);
      socket.on('close', () => clearInterval(sending));
    });
  });
  for (const times of [1, 2]) {
    assert.equal((await sendTo(receiver.url)).status, 200);
    await receiver.quiet();
    assert.equal(receiver.connections(), times);
  }
});

test('a status from 200 to 299 is a success, any other a failure that names it', async (t) => {
  for (const status of [200, 201, 202, 204, 205, 226, 299]) {
    const receiver = await receive(t, answering(`HTTP/1.1 ${status} x\r\n\r\n`));
    const { status: seen, error } = await sendTo(receiver.url);
    assert.deepEqual([seen, error], [status, undefined]);
  }
  for (const status of [300, 304, 400, 401, 404, 410, 418, 429, 500, 503, 599, 600, 999]) {
    const receiver = await receive(t, answering(`HTTP/1.1 ${status} <secret>\r\nX: secret\r\n\r\nSecret`));
    const result = await sendTo(receiver.url);
    assert.equal(result.status, status);
    assert.match(result.error ?? '', new RegExp(`^The receiver returned ${status}\\b`));
    assert.doesNotMatch(JSON.stringify(result), /secret/i);
  }
});

test('Retry-After of a failure is parsed as seconds or as a date', async (t) => {
  const nowMs = Date.UTC(2026, 0, 1);
  const after = async (status: number, value: string) => {
    const head = `HTTP/1.1 ${status} x\r\nRetry-After: ${value}\r\nContent-Length: 0\r\n\r\n`;
    const receiver = await receive(t, answering(head));
    return (await sendTo(receiver.url, { clock: () => nowMs })).retryAfterMs;
  };
  assert.equal(await after(503, '120'), 120_000);
  assert.equal(await after(429, 'Thu, 01 Jan 2026 00:02:00 GMT'), 120_000);
  assert.equal(await after(500, 'soon'), undefined);
  assert.equal(await after(200, '120'), undefined);
});

test('a name without an address, a failed lookup, and a lookup without end have different errors', async () => {
  const failing = (code: string) => () =>
    Promise.reject(Object.assign(new Error('10.0.0.53 said no'), { code }));
  const errorWith = async (resolver: NameResolver, timeoutMs = 60_000) =>
    (await sendTo('https://hooks.public.test/', { resolver, timeoutMs })).error;
  const none = 'The name has no address.';
  const failed = 'The name cannot be resolved.';
  assert.equal(await errorWith({ resolve4: async () => [], resolve6: async () => [] }), none);
  for (const [code4, code6, error] of [
    ['ENOTFOUND', 'ENODATA', none],
    ['ETIMEOUT', 'ENODATA', failed],
    ['ESERVFAIL', 'ESERVFAIL', failed],
  ] as const)
    assert.equal(await errorWith({ resolve4: failing(code4), resolve6: failing(code6) }), error);
  const endless = await errorWith({ resolve4: never, resolve6: failing('ENODATA') }, 50);
  assert.equal(endless, 'No response within 0.05 s.');
});

test('a port without a listener gives a connection error', async () => {
  const { status, error } = await sendTo(`http://localhost:${await freePort()}/`);
  assert.deepEqual([status, error], [undefined, 'No connection.']);
});

test('localhost is called on either loopback address', async (t) => {
  const receiver = await listenWell(t, undefined, '::1').catch(() => undefined);
  if (!receiver) return t.skip('this machine has no IPv6');
  for (const host of ['localhost', '[::1]'])
    assert.equal((await sendTo(`http://${host}:${receiver.port}/`)).status, 200);
});

test('an attempt can be aborted at any moment, and leaves no listener behind', async (t) => {
  const silent = await receive(t, () => {});
  const controller = new AbortController();
  const { signal } = controller;
  const under = [
    sendTo(silent.url, { signal }),
    sendTo('https://hooks.public.test/', { signal, resolver: { resolve4: never, resolve6: never } }),
  ];
  while (silent.connections() < 1) await setImmediate();
  assert.equal(getEventListeners(signal, 'abort').length, 2);
  controller.abort();
  const late = await sendTo(silent.url, { signal });
  for (const { status, error } of [...(await Promise.all(under)), late])
    assert.deepEqual([status, error], [undefined, 'The attempt was aborted.']);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  await silent.quiet();
  assert.equal(silent.connections(), 1);
});

test('https requires a trusted certificate that is valid for the name', needsOpenssl, async (t) => {
  const serve = async (name: string) => {
    const certificate = makeCertificate(t, name);
    const { port } = await listenWell(t, certificate);
    return { url: `https://localhost:${port}/`, ca: certificate.cert };
  };
  const right = await serve('localhost');
  const other = await serve('other.test');
  assert.equal((await sendTo(right.url, { ca: right.ca })).status, 200);
  for (const [url, trust] of [
    [right.url, {}],
    [right.url, { ca: other.ca }],
    [other.url, { ca: other.ca }],
  ] as const) {
    const { status, error } = await sendTo(url, trust);
    assert.deepEqual([status, error], [undefined, 'The certificate is not valid.']);
  }
  const plain = await listenWell(t);
  const { error } = await sendTo(plain.url.replace('http:', 'https:'));
  assert.equal(error, 'No TLS connection.');
});

test('no proxy and no other trust is taken from the environment', needsOpenssl, async (t) => {
  const [proxy, plain] = [await listenWell(t), await listenWell(t)];
  const secure = await listenWell(t, makeCertificate(t, 'localhost'));
  const variables = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
  const env = {
    ...Object.fromEntries(variables.map((name) => [name, proxy.url])),
    ...{ PATH: process.env.PATH, NODE_USE_ENV_PROXY: '1', NODE_OPTIONS: '--use-env-proxy' },
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  };
  const program = fileURLToPath(new URL('../../support/send-once.ts', import.meta.url));
  const resultOf = async (url: string) => {
    const { stdout } = await promisify(execFile)(process.execPath, [program, plain.url, url], { env });
    return JSON.parse(stdout);
  };
  assert.equal((await resultOf(plain.url)).status, 200);
  assert.deepEqual([proxy.connections(), plain.connections()], [1, 1], 'what is not ours goes to the proxy');
  const { status, error } = await resultOf(`https://localhost:${secure.port}/`);
  assert.deepEqual([status, error], [undefined, 'The certificate is not valid.']);
  assert.deepEqual([proxy.connections(), secure.connections()], [2, 1]);
});
