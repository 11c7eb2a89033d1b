import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { maxDelayed } from '../../../src/lab/lab-bounds.ts';
import { performedOf, rehearse } from '../../support/lab.ts';
import { openRaw, partsOf, rawRequest } from '../../support/raw-client.ts';
import { until } from '../../support/until.ts';
import { connectionsOf, countDragons, dragons, loggedStatuses, startListening } from '../../support/wire.ts';

const longMs = 30_000;
const ok = /^HTTP\/1.1 200 /;
const created = /^HTTP\/1.1 201 /;
const keyed = { ...dragons, fields: { 'Idempotency-Key': 'k1' } };

test('stall: the head and half of the body, then silence, then a reset', async (t) => {
  const store = await startListening(t);
  const whole = partsOf(await openRaw(t, store).ask(rawRequest(store, 'GET', '/pets')));
  const silenceMs = 200;
  const { id } = await rehearse(store, [{ fault: 'stall', silenceMs }]);
  const client = openRaw(t, store);
  const startMs = performance.now();
  client.send(rawRequest(store, 'GET', '/pets'));
  assert.equal(await client.ended(), 'RST');
  assert.match(client.text, ok);
  assert.ok(performance.now() - startMs >= silenceMs * 0.9);
  const { head, announced, body } = partsOf(client.text);
  assert.equal(announced, whole.announced);
  assert.equal(body, whole.body.slice(0, Math.floor(whole.body.length / 2)));
  assert.match(head, new RegExp(`^Petstore-Rehearsal: ${id}; fault=stall\r?$`, 'm'));
  assert.deepEqual(loggedStatuses(store, 'stall'), [0]);
});

test('no-answer: silence, then a reset', async (t) => {
  const store = await startListening(t);
  const silenceMs = 200;
  await rehearse(store, [{ fault: 'no-answer', times: 4, silenceMs }]);
  for (const [method, path] of [
    ['GET', '/pets'],
    ['HEAD', '/pets/1'],
    ['GET', '/pets/999'],
    ['DELETE', '/categories/7'],
  ] as const) {
    const client = openRaw(t, store);
    const startMs = performance.now();
    client.send(rawRequest(store, method, path));
    assert.equal(await client.ended(), 'RST', `${method} ${path}`);
    assert.ok(performance.now() - startMs >= silenceMs * 0.9, `${method} ${path}`);
    assert.equal(client.text, '');
  }
  assert.deepEqual(loggedStatuses(store, 'no-answer'), [0, 0, 0, 0]);
  assert.equal((await store.call('GET', '/categories/7')).status, 404);
});

for (const fault of ['stall', 'no-answer']) {
  test(`${fault}: the change is committed once, and a retry with the same key gets the first response`, async (t) => {
    const store = await startListening(t);
    await rehearse(store, [{ fault, operation: 'createCategory', silenceMs: longMs }]);
    const request = rawRequest(store, 'POST', '/categories', keyed);
    const silent = openRaw(t, store);
    silent.send(request);
    await until(async () => (await countDragons(store)) === 1);
    const again = await openRaw(t, store).ask(request);
    assert.match(again, created);
    assert.match(again, /^Idempotency-Replayed: true\r$/m);
    assert.equal(await countDragons(store), 1);
  });

  for (const way of ['FIN', 'RST'])
    test(`${fault}: a client that leaves by ${way} is noticed at once, logged once and recorded as left`, async (t) => {
      const store = await startListening(t, { timeLimits: { lingerMs: 20 } });
      const recording = await store.send('POST', '/lab/recordings', { body: {} });
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
      const { body } = await store.send('GET', `/lab/recordings/${recording.body.id}/requests`);
      assert.deepEqual(
        body.map((one: Record<string, unknown>) => [one.fault, one.left]),
        [[fault, true]],
      );
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
  await rehearse(
    store,
    ['stall', 'no-answer'].map((fault) => ({
      fault,
      operation: 'getPet',
      times: maxDelayed,
      silenceMs: longMs,
    })),
  );
  const clients = Array.from({ length: maxDelayed + 50 }, () => openRaw(t, store));
  for (const client of clients) client.send(rawRequest(store, 'GET', '/pets/1'));
  const ended = () => clients.filter(({ end }) => end === 'RST').length;
  await until(() => ended() === 50);
  await sleep(50);
  assert.equal(ended(), 50);
  await store.app.close();
  await until(() => ended() === clients.length);
  assert.equal(
    loggedStatuses(store, 'stall').length + loggedStatuses(store, 'no-answer').length,
    clients.length,
  );
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
