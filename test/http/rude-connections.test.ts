import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { exchange } from '../support/exchange.ts';
import { type Petstore, startListening } from '../support/petstore.ts';
import { assertSurvivesBrokenConnections } from '../support/rude.ts';
import { until } from '../support/until.ts';
import { connectionsOf } from '../support/wire.ts';

const connects = 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n';
const connectsWithContent = 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc';
/** How long an ending connection may linger here, in milliseconds. */
const lingerMs = 100;
/** Less than the time until other limits end it. The rest is for slow machines. */
const endedWithinMs = 8_000;

const allEnd = (store: Petstore) => until(async () => (await connectionsOf(store)) === 0, endedWithinMs);

test('1,000 connections that abort at any moment, with any method, affect no other connection', async (t) => {
  const broken = await assertSurvivesBrokenConnections(t, 1_000, 20_261_121);
  assert.ok(
    Object.values(broken).every((count) => count > 100),
    JSON.stringify(broken),
  );
});

for (const content of ['', 'Content-Length: 9\r\n']) {
  test(`an error on the socket of a CONNECT ${content && 'with content '}ends only that connection`, async (t) => {
    const store = await startListening(t, { seed: false });
    const client = store.connect();
    t.after(() => client.destroy());
    const handedOver = once(store.app.server, 'connect');
    client.write(`CONNECT x:1 HTTP/1.1\r\nHost: x\r\n${content}\r\n`);
    const [request, stream] = await handedOver;
    for (const emitter of [request.socket, stream]) {
      assert.ok(emitter.listenerCount('error') > 0);
      emitter.destroy(new Error('It breaks.'));
    }
    await allEnd(store);
  });
}

test('every connection has its own error listener from its first moment', async (t) => {
  const store = await startListening(t, { seed: false });
  const connected = once(store.app.server, 'connection');
  const client = store.connect();
  t.after(() => client.destroy());
  const [socket] = await connected;
  // The other listener belongs to Node.js, which removes it from handed-over sockets.
  assert.equal(socket.listenerCount('error'), 2);
});

for (const [what, text] of [
  ['CONNECT', connects],
  ['CONNECT with content', connectsWithContent],
  ['CONNECT after a request', `GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n${connects}`],
] as const) {
  test(`${what}, then a reset, ends the connection and nothing else`, async (t) => {
    const store = await startListening(t, { seed: false });
    for (const pauseMs of [0, 1, 20]) {
      const socket = store.connect();
      await once(socket, 'connect');
      socket.write(text);
      await sleep(pauseMs);
      socket.resetAndDestroy();
      await once(socket, 'close');
    }
    // An error without a listener would end the process of the test.
    assert.equal((await store.call('GET', '/pets')).status, 200);
    await allEnd(store);
  });
}

for (const [what, text] of [
  ['CONNECT', connects],
  ['CONNECT with content', connectsWithContent],
  ['a broken request', 'NONSENSE\r\n\r\n'],
] as const) {
  test(`after ${what} a client cannot keep its side of the connection open for long`, async (t) => {
    const store = await startListening(t, { seed: false, timeLimits: { lingerMs } });
    const socket = store.connect(text);
    t.after(() => socket.destroy());
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 400 /);
    await allEnd(store);
  });
}

test('a client that continues to send after a malformed request can still read the response', async (t) => {
  const store = await startListening(t, { seed: false });
  for (let i = 0; i < 20; i++) {
    const answer = await exchange(store, `NONSENSE\r\n\r\n${'x'.repeat(200_000)}`, 'x'.repeat(200_000));
    assert.equal(answer.status, 400);
  }
});
