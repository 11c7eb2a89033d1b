import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../src/foundation/settings/config.ts';
import { InstallationKey } from '../../src/foundation/settings/secret-key.ts';
import { createLogger } from '../../src/observe/log/logger.ts';
import { startService as serve } from '../../src/service/service.ts';
import { prepareDemo } from '../../src/store/demo/seed.ts';
import { beginPost } from '../support/begin-post.ts';
import { startPetstore } from '../support/petstore.ts';
import { freePort } from '../support/port.ts';
import { rawRequest } from '../support/raw-client.ts';
import { ampleKey, startService } from '../support/service.ts';
import { openTestStorage, temporaryStorage } from '../support/storage.ts';
import { openStream } from '../support/streams.ts';
import { until } from '../support/until.ts';

const clients = 32;
const hourMs = 3_600_000;
const answerHead = /HTTP\/1\.1 (\d+) [\s\S]*?\r\ncontent-length: (\d+)\r\n[\s\S]*?\r\n\r\n/i;

test('SIGTERM under load: no response is cut, acknowledged writes are kept, and the exit code is 0', async (t) => {
  const folder = await temporaryStorage(t);
  const service = await startService(t, folder, { LOG_LEVEL: 'warn' });
  const key = await ampleKey(folder);
  const request = rawRequest({ key }, 'POST', '/categories', { body: { name: 'Dragons' } });
  const ids: number[] = [];
  /** Sends one request after the other until its connection ends, which may happen between two responses. */
  const client = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(Number(new URL(service.origin).port), '127.0.0.1');
      let text = '';
      socket.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
        const head = answerHead.exec(text);
        if (!head || text.length < head[0].length + Number(head[2])) return;
        ids.push(JSON.parse(text.slice(head[0].length)).id);
        text = '';
        if (socket.writable) socket.write(request);
      });
      socket.on('error', () => {});
      socket.on('close', () => (text === '' ? resolve() : reject(new Error(`cut off: ${text}`))));
      socket.write(request);
    });
  const ended = Promise.all(Array.from({ length: clients }, client));
  while (ids.length < 200) await sleep(5);
  assert.deepEqual(await service.stop('SIGTERM'), { code: 0, signal: null });
  await ended;

  const { origin } = await startService(t, folder, { LOG_LEVEL: 'warn' });
  const status = async (id: number) =>
    (await fetch(`${origin}/v1/categories/${id}`, { headers: { 'x-api-key': key } })).status;
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.equal(await status(id), 200, `category ${id} was answered`);
  const unanswered = Math.max(...ids) + clients + 1;
  assert.equal(await status(unanswered), 404, 'no more was made than was asked for');
});

test('SIGUSR1 opens no debugger and does not end the service', async (t) => {
  const service = await startService(t, await temporaryStorage(t));
  service.child.kill('SIGUSR1');
  // Node.js would report its listener at once, before SIGTERM.
  assert.equal((await fetch(`${service.origin}/healthz`)).status, 200);
  assert.deepEqual(await service.stop('SIGTERM'), { code: 0, signal: null });
  assert.doesNotMatch(service.output(), /debugger/i);
});

/** Sent when a terminal is closed. */
test('SIGHUP lets a response that is being read arrive whole, and it announces the end of the connection', async (t) => {
  const service = await startService(t, await temporaryStorage(t));
  const whole = (await (await fetch(`${service.origin}/v1/openapi.json`)).arrayBuffer()).byteLength;
  const socket = connect(Number(new URL(service.origin).port), '127.0.0.1');
  socket.write('GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(30));
  const chunks = await once(socket, 'data');
  socket.pause();
  const stopped = service.stop('SIGHUP');
  // The service checks for idle connections ten times a second.
  await sleep(250);
  socket.on('data', (chunk) => chunks.push(chunk)).resume();
  await once(socket, 'end');
  socket.destroy();
  const answers = Buffer.concat(chunks)
    .toString('latin1')
    .split('HTTP/1.1 200 OK\r\n')
    .slice(1)
    .map((answer) => answer.split('\r\n\r\n') as [head: string, body: string]);
  for (const [, body] of answers) assert.equal(body.length, whole);
  const last = answers.findIndex(([head]) => /^Connection: close\r?$/im.test(head));
  assert.equal(last, answers.length - 1, 'the last response, and no other, says that the connection ends');
  assert.deepEqual(await stopped, { code: 0, signal: null });
});

/** A service in this process. Its stop may wait for an hour, so a test that depended on that would hang. */
async function startHere(t: TestContext) {
  const folder = await temporaryStorage(t);
  const db = await openTestStorage(folder);
  const port = await freePort();
  const service = await serve({
    ...{ db, clock: Date.now, key: new InstallationKey('a key of an installation for tests') },
    config: readConfig({ PORT: String(port), PETSTORE_DATA_DIR: folder }),
    log: createLogger('fatal', { write: () => {} }),
  });
  const key = await prepareDemo(db, folder, Date.now());
  const origin = `http://127.0.0.1:${port}`;
  return { origin, key, drain: () => service.drain(), stop: () => service.stop(hourMs) };
}

test('while an instance drains, /readyz is 404 and petstore_ready is 0, and it serves everything else', async (t) => {
  const store = await startPetstore(t);
  const statusOf = async (path: string) => (await store.send('GET', path)).status;
  assert.equal(await statusOf('/readyz'), 200);
  store.app.drain();
  assert.deepEqual(await Promise.all(['/readyz', '/healthz', '/v1/pets'].map(statusOf)), [404, 200, 200]);
  assert.match((await store.send('GET', '/metrics', { key: null })).text, /^petstore_ready 0$/m);
});

test('a service without other instances does not drain', async (t) => {
  const { origin, drain, stop } = await startHere(t);
  await drain();
  assert.equal((await fetch(`${origin}/readyz`)).status, 200);
  await stop();
});

test('a stop does not wait for a connection that was handed over', async (t) => {
  const { origin, stop } = await startHere(t);
  const socket = connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => {});
  t.after(() => socket.destroy());
  const get = 'GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
  socket.write(`${get}${get}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`);
  await once(socket, 'readable');
  await stop();
});

test('a stop waits for the request in progress, but not for its connection', async (t) => {
  const { origin, key, stop } = await startHere(t);
  const body = '{"name":"Dragons"}';
  const socket = await beginPost(t, origin, key, body.length);
  const stopped = stop();
  socket.write(body);
  assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 201/);
  await stopped;
});

test('a stop ends every stream at once', async (t) => {
  const { origin, key, stop } = await startHere(t);
  const readers = [await openStream(t, origin, { key }), await openStream(t, origin, { key })];
  await stop();
  await until(() => readers.every(({ ended }) => ended === 'whole'));
});
