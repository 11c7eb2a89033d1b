import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Arrivals } from '../src/http/arrivals.ts';
import { ampleKey, startService } from './support/service.ts';
import { temporaryStorage } from './support/storage.ts';

/** A server whose requests and bodies note when they are handled, and take a while. */
function scene() {
  const order: string[] = [];
  const server = createServer((request) => {
    order.push(request.url as string);
  });
  const arrivals = new Arrivals(server);
  const request = (url: string, socket = new Socket()) => {
    const request = Object.assign(new IncomingMessage(socket), { url });
    server.emit('request', request, new ServerResponse(request));
    return socket;
  };
  const body = (name: string, length: number) =>
    arrivals.readBody(length, () => {
      for (const endMs = performance.now() + 3; performance.now() < endMs; );
      order.push(name);
    });
  const settled = async (count: number) => {
    while (order.length < count) await new Promise(setImmediate);
    return order;
  };
  return { order, server, request, body, settled };
}

test('a request that comes while many large bodies wait is handled before the third of them', async () => {
  const { request, body, settled } = scene();
  for (let i = 0; i < 20; i++) body('large', 65_536);
  await new Promise(setImmediate);
  request('/');
  const order = await settled(21);
  assert.ok(order.indexOf('/') <= 2, order.join(' '));
});

test('a small body is read at once, and large ones are read however many requests come', async () => {
  const { order, request, body, settled } = scene();
  body('large', 513);
  body('small', 512);
  assert.deepEqual(order, ['small']);
  for (let i = 0; i < 1_000; i++) request('/');
  assert.ok((await settled(100)).indexOf('large') <= 65, order.join(' '));
});

test('a turn handles at most 64 requests, in the order in which they came', async () => {
  const { order, request, settled } = scene();
  const urls = Array.from({ length: 200 }, (_, i) => `/${i}`);
  for (const url of urls) request(url);
  await new Promise(setImmediate);
  assert.equal(order.length, 64);
  assert.deepEqual(await settled(200), urls);
});

test('where a connection breaks, its requests are handled at once, and those of others in their turn', async () => {
  const { order, server, request, settled } = scene();
  request('/other');
  const broken = request('/broken');
  server.on('clientError', () => order.push('error'));
  server.emit('clientError', new Error('broken'), broken);
  assert.deepEqual(order, ['/broken', 'error']);
  assert.deepEqual(await settled(3), ['/broken', 'error', '/other']);
});

for (const [what, padding] of [
  ['64 KiB', 60_000],
  ['a small size', 0],
] as const) {
  test(`the service answers a request before the bodies of ${what} that were there before it`, async (t) => {
    const folder = await temporaryStorage(t);
    const service = await startService(t, folder);
    const key = ampleKey(folder);
    const port = Number(new URL(service.origin).port);
    const body = `[${Array(990).fill('1e1')},"${'x'.repeat(padding)}"]`;
    const fields = `Host: x\r\nX-API-Key: ${key}\r\n`;
    const head = `POST /v1/pets HTTP/1.1\r\n${fields}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const order: string[] = [];
    const open = async (name: string) => {
      const socket = connect(port, '127.0.0.1');
      t.after(() => socket.destroy());
      socket.once('data', () => order.push(name));
      await once(socket, 'connect');
      return socket;
    };
    const posts = await Promise.all(Array.from({ length: 64 }, () => open('POST')));
    const get = await open('GET');
    for (const socket of posts) socket.write(head + body.slice(0, -1));
    await sleep(200);
    // All of the rest is there when it goes on.
    service.child.kill('SIGSTOP');
    for (const socket of posts) socket.write(']');
    get.write(`GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`);
    await sleep(50);
    service.child.kill('SIGCONT');
    while (order.length < 65) await sleep(5);
    assert.ok(order.indexOf('GET') < 20, `${order.indexOf('GET')} were answered before it`);
  });
}
