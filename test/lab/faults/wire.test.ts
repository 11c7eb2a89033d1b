import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performedOf, rehearse } from '../../support/lab.ts';
import { startListening } from '../../support/petstore.ts';
import { openRaw, partsOf, rawRequest } from '../../support/raw-client.ts';
import { until } from '../../support/until.ts';
import { countDragons, dragons, loggedStatuses, receivedUntil } from '../../support/wire.ts';

const created = /^HTTP\/1.1 201 /;
const ok = /^HTTP\/1.1 200 /;

test('reset: the connection is reset, and nothing is changed', async (t) => {
  const store = await startListening(t);
  const { id } = await rehearse(store, [{ fault: 'reset', operation: 'createCategory' }]);
  const before = await store.content();
  const request = rawRequest(store, 'POST', '/categories', dragons);
  assert.equal(await receivedUntil('RST', t, store, request), '');
  assert.equal(await store.content(), before);
  assert.deepEqual(await performedOf(store, id), [1]);
  assert.deepEqual(loggedStatuses(store, 'reset'), [0]);
  assert.match(await openRaw(t, store).ask(request), created);
});

test('reset applies to a request whose body is still being sent, and to a stream', async (t) => {
  const store = await startListening(t);
  await rehearse(store, ['reset']);
  const request = rawRequest(store, 'POST', '/categories', dragons);
  for (const text of [request.slice(0, -3), rawRequest(store, 'GET', '/store/events/stream')])
    assert.equal(await receivedUntil('RST', t, store, text), '');
  assert.deepEqual(loggedStatuses(store, 'reset'), [0, 0]);
});

for (const [fault, parameters] of [
  ['lost-answer', {}],
  ['gateway-timeout', {}],
  ['stall', { silenceMs: 30_000 }],
  ['no-answer', { silenceMs: 30_000 }],
] as const)
  test(`${fault}: the change is committed once, and a retry with the same key gets the first response`, async (t) => {
    const store = await startListening(t);
    await rehearse(store, [{ fault, operation: 'createCategory', ...parameters }]);
    const fields = { 'Idempotency-Key': 'k1' };
    const request = rawRequest(store, 'POST', '/categories', { ...dragons, fields });
    openRaw(t, store).send(request);
    await until(async () => (await countDragons(store)) === 1);
    const again = await openRaw(t, store).ask(request);
    assert.match(again, created);
    assert.match(again, /^Idempotency-Replayed: true\r$/m);
    assert.equal(await countDragons(store), 1);
  });

test('lost-answer applies to errors, responses without a body and HEAD', async (t) => {
  const store = await startListening(t);
  const { body } = await store.call('POST', '/categories', dragons);
  const { id } = await rehearse(store, [{ fault: 'lost-answer', times: 2 }]);
  for (const [method, path, given] of [
    ['DELETE', `/categories/${body.id}`],
    ['DELETE', `/categories/${body.id}`],
    ['HEAD', '/pets/1'],
    ['GET', '/pets?limit=x'],
    ['POST', '/categories', dragons],
  ] as const)
    assert.equal(await receivedUntil('RST', t, store, rawRequest(store, method, path, given)), '');
  assert.equal(await countDragons(store), 1);
  assert.deepEqual(await performedOf(store, id), [5]);
  assert.deepEqual(loggedStatuses(store, 'lost-answer'), [0, 0, 0, 0, 0]);
});

test('truncated: the Content-Length of the whole body, half of the body, then a FIN', async (t) => {
  const store = await startListening(t);
  const request = rawRequest(store, 'GET', '/pets');
  const whole = partsOf(await openRaw(t, store).ask(request));
  const { id } = await rehearse(store, ['truncated']);
  const { head, announced, body } = partsOf(await receivedUntil('FIN', t, store, request));
  assert.match(head, ok);
  assert.equal(announced, whole.announced);
  assert.equal(body, whole.body.slice(0, Math.floor(whole.body.length / 2)));
  assert.match(head, new RegExp(`^Petstore-Rehearsal: ${id}; fault=truncated\r?$`, 'm'));
  assert.deepEqual(loggedStatuses(store, 'truncated'), [200]);
});

test('truncated applies to errors, also about bodies, and the request is processed', async (t) => {
  const store = await startListening(t);
  await rehearse(store, [{ fault: 'truncated', times: 2 }]);
  const tooLarge = { 'Content-Length': '70000', Expect: '100-continue' };
  for (const [status, method, path, options] of [
    [404, 'GET', '/pets/999', {}],
    [201, 'POST', '/categories', dragons],
    [413, 'POST', '/categories', { fields: { ...tooLarge, 'Content-Type': 'application/json' } }],
  ] as const) {
    const text = await receivedUntil('FIN', t, store, rawRequest(store, method, path, options));
    const { announced = 0, body } = partsOf(text);
    assert.match(text, new RegExp(`^HTTP/1.1 ${status} `));
    assert.equal(body.length, Math.floor(announced / 2));
  }
  assert.equal(await countDragons(store), 1);
  assert.deepEqual(loggedStatuses(store, 'truncated'), [404, 201, 413]);
});

test('truncated, slow and stall wait for a request whose response has a body, and no-answer ignores streams', async (t) => {
  const store = await startListening(t);
  const { headers } = await store.call('GET', '/pets/1');
  const { body } = await store.call('POST', '/categories', dragons);
  const { id } = await rehearse(store, ['truncated', { fault: 'slow', bytesPerSecond: 1_000_000 }, 'stall']);
  const client = openRaw(t, store);
  await client.ask(rawRequest(store, 'HEAD', '/pets/1'));
  const fields = { 'If-None-Match': headers.etag as string };
  assert.match(await client.ask(rawRequest(store, 'GET', '/pets/1', { fields })), /^HTTP\/1.1 304 /);
  assert.match(await client.ask(rawRequest(store, 'DELETE', `/categories/${body.id}`)), /^HTTP\/1.1 204 /);
  assert.deepEqual(await performedOf(store, id), [0, 0, 0]);
  const { id: silent } = await rehearse(store, ['stall', 'no-answer']);
  assert.match(await openRaw(t, store).ask(rawRequest(store, 'GET', '/store/events/stream')), ok);
  assert.deepEqual(await performedOf(store, silent), [0, 0]);
});

test('stale-connection: an idle connection closes as it is used again, and nothing is changed', async (t) => {
  const store = await startListening(t);
  const { id } = await rehearse(store, ['stale-connection']);
  const request = rawRequest(store, 'POST', '/categories', dragons);
  const client = openRaw(t, store);
  assert.match(await client.ask(request), created);
  assert.deepEqual(await performedOf(store, id), [0]);
  client.send(request);
  assert.equal(await client.ended(), 'FIN');
  assert.equal(client.text, '');
  assert.equal(await countDragons(store), 1);
  assert.deepEqual(loggedStatuses(store, 'stale-connection'), [0]);
  assert.match(await openRaw(t, store).ask(request), created);
});

test('slow: the head at once, the body in pieces, and the connection stays usable', async (t) => {
  const store = await startListening(t);
  const request = rawRequest(store, 'GET', '/pets/1');
  const { body } = partsOf(await openRaw(t, store).ask(request));
  const ms = 400;
  await rehearse(store, [{ fault: 'slow', bytesPerSecond: Math.ceil((body.length * 1000) / ms) }]);
  const client = openRaw(t, store);
  const startMs = performance.now();
  client.send(request);
  await until(() => client.text.endsWith('\r\n\r\n'));
  await until(() => partsOf(client.text).body.length === body.length);
  assert.ok(performance.now() - startMs >= ms * 0.9, `${performance.now() - startMs} ms`);
  assert.ok(client.pieces > 3, `${client.pieces} pieces`);
  assert.equal(partsOf(client.text).body, body);
  assert.match(await client.ask(request), ok);
  assert.deepEqual(loggedStatuses(store, 'slow'), [200]);
});

test('delay: the request is processed and answered after a while', async (t) => {
  const store = await startListening(t);
  const delayMs = 200;
  await rehearse(store, [{ fault: 'delay', operation: 'createCategory', delayMs }]);
  const client = openRaw(t, store);
  const startMs = performance.now();
  const answer = client.ask(rawRequest(store, 'POST', '/categories', dragons));
  const performedMs = until(async () => (await countDragons(store)) === 1).then(() => performance.now());
  assert.match(await answer, created);
  assert.ok((await performedMs) - startMs >= delayMs * 0.9);
  assert.deepEqual(loggedStatuses(store, 'delay'), [201]);
});

test('delay applies to a stream', async (t) => {
  const store = await startListening(t);
  const delayMs = 100;
  await rehearse(store, [{ fault: 'delay', delayMs }]);
  const client = openRaw(t, store);
  const startMs = performance.now();
  client.send(rawRequest(store, 'GET', '/store/events/stream'));
  await until(() => ok.test(client.text));
  assert.ok(performance.now() - startMs >= delayMs * 0.9);
  client.socket.resetAndDestroy();
  await until(() => loggedStatuses(store, 'delay').length > 0);
  assert.deepEqual(loggedStatuses(store, 'delay'), [200]);
});
