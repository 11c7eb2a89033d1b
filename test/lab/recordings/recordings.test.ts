import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { deleteRemoved } from '../../../src/lab/recordings/store.ts';
import { exchange } from '../../support/exchange.ts';
import { startListening, startPetstore } from '../../support/petstore.ts';
import {
  holdRecordings,
  recordedIn,
  recordingAt,
  startRecording,
  valuesOf,
} from '../../support/recordings.ts';

const order = { petId: 1, quantity: 1 };

test('a recording keeps the requests and responses of its key', async (t) => {
  const petstore = await startPetstore(t);
  await petstore.call('GET', '/pets');
  const begun = await petstore.send('POST', '/lab/recordings', {
    body: { name: 'my client', expiresInSeconds: 600 },
  });
  const { id } = begun.body;
  assert.equal(begun.headers.location, `http://localhost:8080/lab/recordings/${id}`);
  const recording = {
    ...{ id, name: 'my client', requests: 0, leftOut: 0 },
    createdAt: '2026-06-01T12:00:00.000Z',
    expiresAt: '2026-06-01T12:10:00.000Z',
  };
  assert.deepEqual(begun.body, recording);
  const placed = await petstore.call('POST', '/store/orders', {
    body: order,
    headers: { 'Idempotency-Key': 'abc', 'User-Agent': 'mine/1', 'X-Mine': 'secret' },
  });
  await petstore.call('DELETE', '/pets/999999');

  const path = `/lab/recordings/${id}`;
  const [first, second, ...rest] = await recordedIn(petstore, path);
  assert.deepEqual(rest, []);
  const { at, offsetMs, durationMs, connection, fingerprint, answerHeaders, ...kept } = first;
  assert.match(connection, /^\w{8}-\d+$/);
  assert.match(fingerprint, /^[\w-]+\.[\w-]+$/);
  assert.ok(Math.abs(offsetMs) < 10_000, String(offsetMs));
  assert.equal(answerHeaders.location, placed.headers.location);
  assert.equal(answerHeaders['content-length'], placed.headers['content-length']);
  assert.ok(durationMs > 0 && durationMs < 10_000, String(durationMs));
  assert.ok(Math.abs(Date.parse(at) - petstore.nowMs) < 10_000, at);
  assert.deepEqual(kept, {
    ...{ id: '1', requestId: placed.headers['x-request-id'], method: 'POST', target: '/v1/store/orders' },
    operation: 'placeOrder',
    headers: {
      ...{ authorization: '(not kept)', 'x-mine': '(not kept)' },
      ...{ 'idempotency-key': 'abc', 'user-agent': 'mine/1', 'content-type': 'application/json' },
      ...{ 'content-length': '24', host: 'localhost:80' },
    },
    ...{ body: '{"petId":1,"quantity":1}', bodyBytes: 24, status: 201 },
  });
  assert.deepEqual(
    [second.operation, second.status, second.code, second.bodyBytes, 'body' in second, 'gapMs' in second],
    ['deletePet', 404, 'not_found', 0, false, false],
  );
  assert.deepEqual(await recordingAt(petstore, path), { ...recording, requests: 2 });
});

test('a recording belongs to one key: other keys cannot read or end it, and are not in it', async (t) => {
  const petstore = await startPetstore(t);
  const { key } = await petstore.addKey('pro');
  const recording = await startRecording(petstore);
  await petstore.call('GET', '/pets', { key });
  for (const path of ['', '/requests', '/har'])
    assert.equal((await petstore.send('GET', recording + path, { key })).status, 404);
  assert.equal((await petstore.send('POST', `${recording}/end`, { key })).status, 404);
  assert.equal((await petstore.send('DELETE', recording, { key })).status, 404);
  assert.deepEqual((await petstore.send('GET', '/lab/recordings', { key })).body, []);
  await petstore.call('GET', '/categories');
  const recorded = await recordedIn(petstore, recording);
  assert.deepEqual(valuesOf(recorded, 'operation'), ['listCategories']);
});

test('a recording keeps nothing more after it was ended, replaced, expired or removed', async (t) => {
  const petstore = await startPetstore(t);
  const call = () => petstore.call('GET', '/pets/1');
  const replaced = await startRecording(petstore);
  await call();
  const ended = await startRecording(petstore);
  await call();
  await call();
  const answer = await petstore.send('POST', `${ended}/end`);
  assert.equal(answer.body.endedAt, '2026-06-01T12:00:00.000Z');
  await call();
  const expired = await startRecording(petstore, petstore.key, { expiresInSeconds: 60 });
  await call();
  petstore.nowMs += 60_001;
  petstore.aheadMs += 60_001;
  await call();
  assert.equal((await petstore.send('POST', `${expired}/end`)).body.endedAt, undefined);
  const removed = await startRecording(petstore);
  await call();
  await petstore.send('DELETE', removed);
  await call();
  assert.equal((await petstore.send('GET', `${removed}/requests`)).status, 404);
  for (const [recording, count] of [
    [replaced, 1],
    [ended, 2],
    [expired, 1],
  ] as const) {
    assert.equal((await recordedIn(petstore, recording)).length, count);
    assert.equal((await recordingAt(petstore, recording)).requests, count);
  }
  const listed = valuesOf((await petstore.send('GET', '/lab/recordings')).body, 'id');
  assert.deepEqual(new Set(listed.map((id) => `/lab/recordings/${id}`)), new Set([expired, ended, replaced]));
  await deleteRemoved(petstore.db);
  assert.equal((await petstore.db.read`select * from recorded_requests`).length, 4);
});

test('requests refused by the limits are recorded, and their retries are linked', async (t) => {
  const petstore = await startPetstore(t);
  const { key } = await petstore.addKey('enterprise', { perMinute: 1, perDay: 100 });
  const recording = await startRecording(petstore, key);
  const post = () => petstore.call('POST', '/store/orders', { key, body: order });
  await petstore.call('GET', '/pets', { key });
  await post();
  petstore.nowMs += 60_000;
  await post();
  for (let i = 0; i < 11; i++) await petstore.call('GET', '/pets/2', { key });
  const recorded = await recordedIn(petstore, recording, key);
  const codes = recorded.map(({ status, code }) => code ?? status);
  assert.deepEqual(codes, [200, 'rate_limited', 201, ...Array(10).fill('rate_limited'), 'key_banned']);
  const [, refused, retry] = recorded;
  // Its body was not read, so nothing else identifies the request.
  assert.deepEqual([refused.body, refused.bodyBytes, refused.gapMs], [undefined, undefined, undefined]);
  assert.ok(retry.gapMs > 59_000 && retry.gapMs < 60_100, String(retry.gapMs));
  assert.deepEqual([refused.retryOf, retry.retryOf], [undefined, refused.id]);
});

test('simulated responses are recorded with their fault, and lab requests are not recorded', async (t) => {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  const faults = ['internal-error', 'unauthorized'].map((fault) => ({ fault, operation: 'getPet' }));
  await petstore.send('POST', '/lab/rehearsals', { body: { faults } });
  await petstore.send('GET', '/lab/account');
  for (let i = 0; i < 3; i++) await petstore.call('GET', '/pets/1');
  const recorded = await recordedIn(petstore, recording);
  assert.deepEqual(valuesOf(recorded, 'status', 'code', 'fault'), [
    '500 internal_error internal-error',
    '401 unauthorized unauthorized',
    '200',
  ]);
  assert.ok(recorded[1].gapMs >= 0);
});

test('a request that repeats a failed one links to it, also across pages, and one after a success links to none', async (t) => {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  const faults = [{ fault: 'internal-error', operation: 'placeOrder', times: 2 }];
  await petstore.send('POST', '/lab/rehearsals', { body: { faults } });
  for (const quantity of [1, 1, 10, 1, 1]) {
    await petstore.call('POST', '/store/orders', { body: { petId: 1, quantity } });
    await petstore.call('DELETE', '/pets/999999');
  }
  for (const limit of [1, 100]) {
    const recorded = await recordedIn(petstore, recording, petstore.key, limit);
    const expected = ['500', '404', '500 1', '404 2', '409', '404 4', '201 3', '404 6', '201', '404 8'];
    assert.deepEqual(valuesOf(recorded, 'status', 'retryOf'), expected);
  }
});

test('times of requests follow a clock that is set ahead, and do not go back if it is set back by seconds', async (t) => {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  for (const setMs of [0, -4_000, 20_000]) {
    petstore.nowMs += setMs;
    await petstore.call('GET', '/pets/1');
  }
  const times = (await recordedIn(petstore, recording)).map(({ at }) => Date.parse(at));
  const [first, second, third] = times as [number, number, number];
  assert.ok(second >= first && second < first + 3_000, `${second - first}`);
  assert.ok(Math.abs(third - petstore.nowMs) < 3_000, `${third - petstore.nowMs}`);
});

test('requests of every kind are recorded: HEAD, OPTIONS, unknown paths, wrong methods, paths that cannot be decoded', async (t) => {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  const sent = [
    ['HEAD', '/pets/1', 'getPet', 200],
    ['OPTIONS', '/pets/1', undefined, 204],
    ['GET', '/nothing', undefined, 404],
    ['PATCH', '/store/orders', undefined, 405],
    ['GET', '/pets/%E0%', undefined, 400],
    ['GET', '/pets?limit=0', 'listPets', 400],
  ] as const;
  for (const [method, path] of sent) await petstore.call(method, path);
  const recorded = await recordedIn(petstore, recording);
  assert.deepEqual(
    recorded.map(({ method, target, operation, status }) => [method, target.slice(3), operation, status]),
    sent,
  );
});

test('a request with an incomplete body is recorded', async (t) => {
  const petstore = await startListening(t);
  const recording = await startRecording(petstore);
  const fields = `Host: a\r\nX-API-Key: ${petstore.key}\r\nContent-Type: application/json\r\n`;
  const rest = `${fields}Transfer-Encoding: chunked\r\n\r\nnonsense\r\n`;
  for (const path of ['/v1/pets', '/lab/rehearsals'])
    assert.equal((await exchange(petstore, `POST ${path} HTTP/1.1\r\n${rest}`)).status, 400);
  const [broken, ...others] = await recordedIn(petstore, recording);
  assert.deepEqual(others, []);
  const { method, target, status, code, headers } = broken;
  assert.deepEqual(
    [method, target, status, code, headers['x-api-key'], 'body' in broken],
    ['POST', '/v1/pets', 400, 'invalid_request', '(not kept)', false],
  );
});

test('a recording is read in pages, and as an HTTP Archive', async (t) => {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  assert.equal((await petstore.call('POST', '/store/orders?a=1&b=%20', { body: order })).status, 400);
  for (let i = 0; i < 4; i++) await petstore.call('GET', '/pets/1');
  const recorded = await recordedIn(petstore, recording, petstore.key, 2);
  assert.deepEqual(valuesOf(recorded, 'id'), ['1', '2', '3', '4', '5']);
  const { log } = (await petstore.send('GET', `${recording}/har`)).body;
  assert.deepEqual([log.version, log.entries.length], ['1.2', 5]);
  const { request, response, time, timings, startedDateTime } = log.entries[0];
  assert.partialDeepStrictEqual(request, {
    ...{ url: 'http://localhost:8080/v1/store/orders?a=1&b=%20', bodySize: 24, headersSize: -1 },
    queryString: ['1', ' '].map((value, i) => ({ name: 'ab'[i], value })),
    postData: { mimeType: 'application/json', text: JSON.stringify(order) },
  });
  assert.deepEqual([response.status, response.statusText], [400, 'Bad Request']);
  assert.ok(response.content.size > 20 && response.bodySize === response.content.size);
  assert.match(response.content.mimeType, /^application\/json/);
  assert.equal(time, timings.send + timings.wait + timings.receive);
  assert.equal(new Date(startedDateTime).toISOString(), startedDateTime);
});

test('a recording shows which requests shared a connection, and which was the last', async (t) => {
  const petstore = await startListening(t);
  const recording = await startRecording(petstore);
  const get = (fields: string) =>
    `GET /v1/pets/1 HTTP/1.1\r\nHost: a\r\nX-API-Key: ${petstore.key}\r\n${fields}\r\n`;
  await exchange(petstore, get('') + get('Connection: close\r\n')).catch(() => {});
  await exchange(petstore, get('Connection: close\r\n'));
  const { entries } = (await petstore.send('GET', `${recording}/har`)).body.log;
  const [first, second, third] = entries.map(({ connection }: { connection: string }) => connection);
  assert.equal(first, second);
  assert.notEqual(second, third);
  // The service ends a connection on which the client asks for an upgrade.
  await exchange(petstore, get('Connection: Upgrade\r\nUpgrade: h2c\r\n'));
  const requests = await recordedIn(petstore, recording);
  assert.deepEqual(
    requests.map(({ answerHeaders }) => answerHeaders.connection),
    [undefined, 'close', 'close', 'close'],
  );
});

test('a recording contains all earlier requests, even while those of other keys are being written', async (t) => {
  const petstore = await startPetstore(t);
  const others = [];
  for (let i = 0; i < 5; i++) {
    const { key } = await petstore.addWorkspace(`key ${i}`, true);
    others.push({ key, recording: await startRecording(petstore, key) });
  }
  const release = holdRecordings(petstore);
  for (const { key } of others) await petstore.call('GET', '/pets/1', { key });
  // The first of them is being written while the last is read.
  await setTimeout(50);
  const reading = others.map(({ key, recording }) => recordedIn(petstore, recording, key));
  await release();
  for (const recorded of await Promise.all(reading)) assert.equal(recorded.length, 1);
});
