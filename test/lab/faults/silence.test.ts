import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { maxDelayed } from '../../../src/lab/lab-bounds.ts';
import { performedOf, rehearse } from '../../support/lab.ts';
import { startListening } from '../../support/petstore.ts';
import { openRaw, partsOf, rawRequest } from '../../support/raw-client.ts';
import { recordedIn, startRecording, valuesOf } from '../../support/recordings.ts';
import { until } from '../../support/until.ts';
import { connectionsOf, loggedStatuses, receivedUntil } from '../../support/wire.ts';

const silenceMs = 200;
const longMs = 30_000;
const ok = /^HTTP\/1.1 200 /;

test('stall: the head and half of the body, then silence, then a reset', async (t) => {
  const store = await startListening(t);
  const request = rawRequest(store, 'GET', '/pets');
  const whole = partsOf(await openRaw(t, store).ask(request));
  const { id } = await rehearse(store, [{ fault: 'stall', silenceMs }]);
  const startMs = performance.now();
  const { head, announced, body } = partsOf(await receivedUntil('RST', t, store, request));
  assert.ok(performance.now() - startMs >= silenceMs * 0.9);
  assert.match(head, ok);
  assert.equal(announced, whole.announced);
  assert.equal(body, whole.body.slice(0, Math.floor(whole.body.length / 2)));
  assert.match(head, new RegExp(`^Petstore-Rehearsal: ${id}; fault=stall\r?$`, 'm'));
  assert.deepEqual(loggedStatuses(store, 'stall'), [0]);
});

test('no-answer: silence, then a reset', async (t) => {
  const store = await startListening(t);
  await rehearse(store, [{ fault: 'no-answer', times: 4, silenceMs }]);
  for (const [method, path] of [
    ['GET', '/pets'],
    ['HEAD', '/pets/1'],
    ['GET', '/pets/999'],
    ['DELETE', '/categories/7'],
  ] as const) {
    const startMs = performance.now();
    assert.equal(await receivedUntil('RST', t, store, rawRequest(store, method, path)), '');
    assert.ok(performance.now() - startMs >= silenceMs * 0.9, `${method} ${path}`);
  }
  assert.deepEqual(loggedStatuses(store, 'no-answer'), [0, 0, 0, 0]);
  assert.equal((await store.call('GET', '/categories/7')).status, 404);
});

for (const fault of ['stall', 'no-answer']) {
  for (const way of ['FIN', 'RST'])
    test(`${fault}: a client that leaves by ${way} is noticed at once, logged once and recorded as left`, async (t) => {
      const store = await startListening(t, { timeLimits: { lingerMs: 20 } });
      const recording = await startRecording(store);
      const { id } = await rehearse(store, [{ fault, operation: 'getPet', silenceMs: longMs }]);
      const client = openRaw(t, store);
      client.send(rawRequest(store, 'GET', '/pets/1'));
      await until(async () => (await performedOf(store, id))[0] === 1);
      if (fault === 'stall') await until(() => ok.test(client.text));
      assert.deepEqual(loggedStatuses(store, fault), []);
      if (way === 'FIN') client.socket.end();
      else client.socket.resetAndDestroy();
      await until(async () => (await connectionsOf(store)) === 0);
      await until(() => loggedStatuses(store, fault).length > 0);
      assert.deepEqual(loggedStatuses(store, fault), [0]);
      assert.deepEqual(valuesOf(await recordedIn(store, recording), 'fault', 'left'), [`${fault} true`]);
    });

  test(`${fault} does not apply to requests through a proxy`, async (t) => {
    const store = await startListening(t);
    const { id } = await rehearse(store, [{ fault, silenceMs: longMs }]);
    const fields = { 'X-Forwarded-For': '192.0.2.1' };
    assert.match(await openRaw(t, store).ask(rawRequest(store, 'GET', '/pets/1', { fields })), ok);
    assert.deepEqual(await performedOf(store, id), [0]);
  });
}

test(`a key has at most ${maxDelayed} silent responses: one more ends the oldest, and a stop ends all`, async (t) => {
  const store = await startListening(t);
  const often = { operation: 'getPet', times: maxDelayed, silenceMs: longMs };
  await rehearse(store, [
    { fault: 'stall', ...often },
    { fault: 'no-answer', ...often },
  ]);
  const clients = Array.from({ length: maxDelayed + 50 }, () => openRaw(t, store));
  for (const client of clients) client.send(rawRequest(store, 'GET', '/pets/1'));
  const ended = () => clients.filter(({ end }) => end === 'RST').length;
  await until(() => ended() === 50);
  await sleep(50);
  assert.equal(ended(), 50);
  await store.app.close();
  await until(() => ended() === clients.length);
  const logged = ['stall', 'no-answer'].flatMap((fault) => loggedStatuses(store, fault));
  assert.equal(logged.length, clients.length);
});

test('an upload that is refused early and stalls gets no second response when its time is over', async (t) => {
  const timeLimits = { requestMs: 100, headersMs: 100, checkEveryMs: 20, lingerMs: 20 };
  const store = await startListening(t, { timeLimits });
  await rehearse(store, [{ fault: 'stall', silenceMs: 600 }]);
  const client = openRaw(t, store);
  const fields = { 'Content-Type': 'application/json', 'Content-Length': '70000' };
  client.send(rawRequest(store, 'POST', '/categories', { fields }));
  await client.ended();
  assert.match(client.text, /^HTTP\/1.1 413 /);
  assert.doesNotMatch(client.text, /408/);
  const { announced = 0, body } = partsOf(client.text);
  assert.equal(body.length, Math.floor(announced / 2));
});
