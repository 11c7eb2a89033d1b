import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Petstore, startListening, startPetstore } from '../support/petstore.ts';
import { drip, rawRequest, statusesIn } from '../support/raw-client.ts';
import { connectionsOf } from '../support/wire.ts';

/** The time that a slow client has here, and the interval of the check, in milliseconds. */
const limitMs = 300;
const checkEveryMs = 50;
/** A test sets all its limits. Node.js allows no larger limit for header fields. */
const never = 300_000;
const noLimits = { headersMs: never, requestMs: never, idleMs: never, unreadMs: never, checkEveryMs };
/** The number of unread responses that one connection may have. */
const maxUnread = 32;

async function assertServed(store: Petstore, path = '/v1/pets/1'): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${store.port}${path}`, {
    headers: { 'x-api-key': store.key, connection: 'close' },
  });
  assert.equal(answer.status, 200);
  await answer.text();
}

/** The bytes that a client reads until it is disconnected. Others must be served meanwhile. */
async function untilCutOff(store: Petstore, socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  const closed = once(socket, 'close');
  socket.on('end', () => socket.end());
  await assertServed(store);
  await closed;
  await assertServed(store);
  return text;
}

/** The head of a POST. */
const post = (store: Petstore, length: Record<string, string>) =>
  rawRequest(store, 'POST', '/pets', { fields: { 'Content-Type': 'application/json', ...length } });
const long = { 'Content-Length': '60000' };
const chunked = { 'Transfer-Encoding': 'chunked' };

for (const [what, head, drop, requestMs] of [
  ['header fields', () => 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n', 'X-Drop: 1\r\n', never],
  ['a body with a length', (store: Petstore) => post(store, long), ' ', limitMs],
  ['a body in chunks', (store: Petstore) => post(store, chunked), '1\r\n \r\n', limitMs],
] as const) {
  test(`the service returns 408 for ${what} without an end when the time for it is over`, async (t) => {
    const store = await startListening(t, { timeLimits: { ...noLimits, headersMs: limitMs, requestMs } });
    const socket = store.connect(head(store));
    drip(t, socket, drop);
    assert.match(await untilCutOff(store, socket), /^HTTP\/1\.1 408 /);
  });
}

test('a client that closes its half of the connection after a request gets the whole response', async (t) => {
  const store = await startListening(t);
  const socket = store.connect(rawRequest(store, 'GET', '/pets/1'));
  socket.end();
  const text = await untilCutOff(store, socket);
  assert.match(text, /^HTTP\/1\.1 200 [\s\S]*"id":1,/);
});

test('a client that closes its half within a request gets 400, and the connection closes at once', async (t) => {
  const store = await startListening(t, { timeLimits: noLimits });
  const socket = store.connect(post(store, long));
  socket.end('{');
  assert.match(await untilCutOff(store, socket), /^HTTP\/1\.1 400 /);
});

test('pipelined requests get their responses in order; too many unread ones close the connection', async (t) => {
  const store = await startListening(t);
  const statuses = async (requests: number) => {
    const request = (_: unknown, i: number) => rawRequest(store, 'GET', i % 2 ? '/pets/1' : '/nothing');
    const socket = store.connect(Array.from({ length: requests }, request).join(''));
    socket.end();
    const text = await untilCutOff(store, socket);
    return { found: statusesIn(text), closing: text.match(/^connection: close/gim)?.length };
  };
  const answers = (count: number) => Array.from({ length: count }, (_, i) => (i % 2 ? 200 : 404));
  assert.deepEqual((await statuses(maxUnread - 1)).found, answers(maxUnread - 1));
  assert.deepEqual(await statuses(100), { found: answers(maxUnread), closing: 1 });
});

test('a request waits until the client has the response before it', async (t) => {
  const store = await startPetstore(t);
  const { promise: made, resolve: make } = Promise.withResolvers<void>();
  const handled: string[] = [];
  store.app.addHook('preHandler', async ({ url }) => {
    handled.push(url);
    if (url === '/v1/pets/1') await made;
  });
  await store.listen();
  const socket = store.connect([1, 2, 3].map((id) => rawRequest(store, 'GET', `/pets/${id}`)).join(''));
  while (handled.length === 0) await sleep(5);
  await assertServed(store, '/v1/categories');
  assert.deepEqual(handled, ['/v1/pets/1', '/v1/categories']);
  make();
  socket.end();
  const text = await untilCutOff(store, socket);
  assert.deepEqual(text.match(/"id":\d/g), ['"id":1', '"id":2', '"id":3']);
});

test('an idle connection closes after the time that Keep-Alive announces', async (t) => {
  const store = await startListening(t, { timeLimits: { ...noLimits, idleMs: 100 } });
  const socket = store.connect(rawRequest(store, 'GET', '/pets/1'));
  const text = await untilCutOff(store, socket);
  assert.match(text, /^HTTP\/1\.1 200 [\s\S]*"id":1,/);
});

test('an idle connection stays open while its response is in progress', async (t) => {
  const store = await startPetstore(t, { timeLimits: { unreadMs: 100 } });
  const { promise: made, resolve: make } = Promise.withResolvers<void>();
  store.app.addHook('preHandler', () => made);
  await store.listen();
  const connected = once(store.app.server, 'connection');
  const asked = once(store.app.server, 'request');
  const socket = store.connect(rawRequest(store, 'GET', '/pets/1'));
  t.after(() => socket.destroy());
  const [ours] = await connected;
  await asked;
  await once(ours, 'timeout');
  make();
  const [answer] = await Promise.race([once(socket, 'data'), once(socket, 'end')]);
  assert.match(String(answer), /^HTTP\/1\.1 200 /);
});

test('2,000 idle connections do not keep others from being served', async (t) => {
  // The time limit of a silent client is longer than a busy machine needs to connect them all.
  const timeLimits = { headersMs: 60_000, requestMs: 60_000 };
  const store = await startListening(t, { timeLimits });
  const idle = Array.from({ length: 2_000 }, () => store.connect(''));
  t.after(() => {
    for (const socket of idle) socket.destroy();
  });
  await Promise.all(idle.map((socket) => socket.readyState === 'open' || once(socket, 'connect')));
  await Promise.all(Array.from({ length: 20 }, () => assertServed(store)));
  assert.ok(idle.every((socket) => socket.readyState === 'open'));
});

test('200 clients that never read are disconnected; others are served, and few responses wait', async (t) => {
  const store = await startListening(t, { timeLimits: { ...noLimits, unreadMs: limitMs } });
  const lists = rawRequest(store, 'GET', '/pets?limit=100').repeat(200);
  // More than a system buffers for a client.
  const documents = 'GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(maxUnread - 1);
  const sockets = Array.from({ length: 200 }, (_, i) => store.connect(i % 2 ? lists : documents));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  await assertServed(store);
  while ((await connectionsOf(store)) > 0) {
    await assertServed(store);
    await sleep(checkEveryMs);
  }
  const handled = store.log.filter((line) => line.includes('/v1/pets?limit=100'));
  // On a busy machine some connections end before all their responses were read.
  assert.ok(handled.length > 0 && handled.length <= 100 * maxUnread, `${handled.length} were handled`);
  for (const socket of sockets) socket.destroy();
});

for (const [what, next, drop] of [
  ['a body that never ends', 'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n', ' '],
  ['empty lines', '', '\r\n'],
] as const)
  test(`a client that does not read, but sends ${what}, is disconnected`, async (t) => {
    const store = await startListening(t, { timeLimits: { ...noLimits, unreadMs: limitMs } });
    const documents = 'GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(maxUnread - 2);
    const socket = store.connect(documents + next).pause();
    drip(t, socket, drop);
    await once(socket, 'connect');
    while ((await connectionsOf(store)) > 0) await sleep(checkEveryMs);
  });
