import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ampleKey, startService } from '../support/service.ts';
import { temporaryStorage } from '../support/storage.ts';

const oddBody = (padding: number) => `[${Array(990).fill('1e1')},"${'x'.repeat(padding)}"]`;
const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

for (const [what, path, body] of [
  ['bodies of 64 KiB', '/v1/pets', oddBody(60_000)],
  ['bodies of a small size', '/v1/pets', oddBody(0)],
  ['messages of an agent', '/mcp', message],
  ['requests to the lab', '/lab/rehearsals', '{}'],
  ['requests for documents', '/v1/openapi.json', '{}'],
] as const) {
  test(`a request does not wait for earlier ${what}`, async (t) => {
    const folder = await temporaryStorage(t);
    const service = await startService(t, folder);
    const key = await ampleKey(folder);
    const port = Number(new URL(service.origin).port);
    const fields = `Host: x\r\nX-API-Key: ${key}\r\nAccept: application/json, text/event-stream\r\n`;
    const head = `${body === '{}' ? 'GET' : 'POST'} ${path} HTTP/1.1\r\n${fields}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
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
    // The service reads sockets in turn. After these responses it has read the parts before them.
    for (let i = 0; i < 3; i++) await fetch(`${service.origin}/healthz`);
    // The whole rest is there when it continues.
    service.child.kill('SIGSTOP');
    for (const socket of posts) socket.write(body.slice(-1));
    get.write(`GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`);
    await sleep(50);
    service.child.kill('SIGCONT');
    while (order.length < 65) await sleep(5);
    assert.ok(order.indexOf('GET') < 20, `${order.indexOf('GET')} were answered before it`);
  });
}
