import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { revokeKey } from '../../../src/access/keys/store.ts';
import type { Transaction } from '../../../src/db/database.ts';
import { maxStreams, type Plan } from '../../../src/foundation/settings/plans.ts';
import { recordEvent } from '../../../src/store/history/record.ts';
import { forgetOldEvents } from '../../../src/store/history/store.ts';
import { categoryCreated } from '../../../src/store/resources/categories/schema.ts';
import { deleteWorkspace } from '../../../src/store/workspaces/store.ts';
import { addCategory } from '../../support/dispatching.ts';
import { remaining, times } from '../../support/limits.ts';
import { type Petstore, type StoreSetup, startPetstore } from '../../support/petstore.ts';
import { openStream } from '../../support/streams.ts';
import { until } from '../../support/until.ts';
import { numbers } from '../../support/values.ts';

const path = '/v1/store/events/stream';
const minuteMs = 60_000;

async function start(t: TestContext, options: StoreSetup = {}) {
  const store = await startPetstore(t, { seed: false, ...options });
  const origin = await store.listen();
  const open = (key = store.key, query = '') => openStream(t, origin, { key, query });
  return { store, origin, open };
}

/** Adds more bytes of events than a system buffers for a client. */
async function addMuch(store: Petstore): Promise<number> {
  const longEvents = async (sql: Transaction) => {
    for (let n = 0; n < 1_000; n++) recordEvent(sql, 1, categoryCreated, { id: 1, name: 'x'.repeat(200) });
  };
  await times(30, () => store.change(longEvents));
  return 30_000;
}

/** Waits until no stream has a row or is counted. */
async function untilNoneIsOpen(store: Petstore): Promise<void> {
  await until(async () => (await store.db.read`select id from streams`).length === 0);
  assert.match(await store.metrics(), /^petstore_open_streams 0$/m);
}

/** Disables comments, since a failed comment shows that a client is gone. */
function withoutComments(store: Petstore): void {
  const nowMs = performance.now();
  store.stopwatch = () => nowMs;
}

/** A raw connection that has requested a stream. */
function ask(t: TestContext, store: Petstore, { query = '', after = '' } = {}): Socket {
  const head = `GET ${path}${query} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${store.key}\r\n\r\n`;
  const socket = store.connect(head + after);
  t.after(() => socket.destroy());
  return socket;
}

test('a stream ends when its key is revoked, and others do not', async (t) => {
  const { store, open } = await start(t);
  const { key, id } = await store.addKey('pro');
  const [reader, other] = [await open(key), await open()];
  await store.db.write((sql) => revokeKey(sql, id, store.nowMs));
  await reader.untilEnded();
  assert.deepEqual([reader.ended, other.ended], ['whole', 'no']);
  assert.equal((await store.call('GET', '/store/events/stream', { key })).status, 401);
});

test('a stream ends when its key is banned', async (t) => {
  const { store, open } = await start(t);
  // The limit allows only the stream.
  const { key } = await store.addKey('enterprise', { perMinute: 1, perDay: 100 });
  const [reader, other] = [await open(key), await open()];
  let status = 0;
  while (status !== 403) ({ status } = await store.call('GET', '/pets', { key }));
  await reader.untilEnded();
  assert.deepEqual([reader.ended, other.ended], ['whole', 'no']);
});

test('a stream ends when its workspace is deleted', async (t) => {
  const { store, open } = await start(t);
  const { key, workspaceId } = await store.addWorkspace('second', true);
  const reader = await open(key);
  await store.change((sql) => deleteWorkspace(sql, workspaceId), workspaceId);
  await reader.untilEnded();
  await untilNoneIsOpen(store);
});

for (const [plan, most] of Object.entries(maxStreams) as [Plan, number][]) {
  test(`a ${plan} key has at most ${most} streams; one more ends the oldest`, async (t) => {
    const { store, open } = await start(t);
    const quota = plan === 'enterprise' ? { perMinute: 1_000, perDay: 1_000 } : undefined;
    const { key } = await store.addKey(plan, quota);
    const { key: other } = await store.addKey('free');
    const readers = [await open(other)];
    for (let i = 0; i < most; i++) readers.push(await open(key));
    assert.ok(readers.every(({ ended }) => ended === 'no'));
    // The clock of one instance may be behind that of another.
    store.nowMs -= 2 * minuteMs;
    readers.push(await open(key));
    await until(() => readers.some(({ ended }) => ended !== 'no'));
    const ended = readers.keys().filter((i) => readers[i]?.ended !== 'no');
    assert.deepEqual([...ended], [1]);
  });
}

test('streams end after about 15 minutes, not all at once', async (t) => {
  const { store, open } = await start(t);
  const readers = await Promise.all(Array.from({ length: 20 }, () => open()));
  const left = () => readers.filter(({ ended }) => ended === 'no').length;
  store.aheadMs += 13 * minuteMs;
  await until(() => readers.every(({ comments }) => comments > 0));
  assert.equal(left(), readers.length);
  store.aheadMs += 2 * minuteMs;
  await until(() => left() < readers.length);
  assert.ok(left() > 0, 'a part of them ends later');
  store.aheadMs += 2 * minuteMs;
  await until(() => left() === 0);
  assert.ok(readers.every(({ ended }) => ended === 'whole'));
  await untilNoneIsOpen(store);
});

test('a stream that falls behind the oldest kept event ends', async (t) => {
  const { store, open } = await start(t);
  const count = await addMuch(store);
  const reader = await open(undefined, '?after=0');
  reader.pause();
  await forgetOldEvents(store.db, { maxAgeMs: Number.MAX_SAFE_INTEGER, maxCount: 1 }, store.nowMs);
  reader.resume();
  await reader.untilEnded();
  const { ids } = reader;
  assert.deepEqual(ids, numbers(ids.length));
  assert.ok(ids.length < count);
});

test('a stream that its client does not read uses little memory, and ends', async (t) => {
  const { store } = await start(t, { timeLimits: { unreadMs: 1_200 } });
  await addMuch(store);
  const accepted = once(store.app.server, 'connection') as Promise<[Socket]>;
  const socket = ask(t, store, { query: '?after=0' });
  socket.pause();
  const [connection] = await accepted;
  let most = 0;
  const watching = setInterval(() => (most = Math.max(most, connection.writableLength)), 5);
  t.after(() => clearInterval(watching));
  // Comments are due, but the lifetime of the stream is not over.
  const aging = setInterval(() => (store.aheadMs += 15_000), 400);
  t.after(() => clearInterval(aging));
  await until(() => connection.destroyed);
  // A page of events with its field names.
  assert.ok(most > 0 && most < 100 * 1_000, `${most} bytes waited`);
  await untilNoneIsOpen(store);
});

test('a client that closes its half of the connection ends its stream', async (t) => {
  const { store } = await start(t);
  withoutComments(store);
  const socket = ask(t, store);
  await once(socket, 'data');
  socket.end();
  await untilNoneIsOpen(store);
});

test('clients that disconnect at any moment leave no stream and no error behind', async (t) => {
  const { store, open } = await start(t);
  withoutComments(store);
  const failures: unknown[] = [];
  const fail = (error: unknown) => failures.push(error);
  process.on('unhandledRejection', fail);
  t.after(() => process.off('unhandledRejection', fail));
  const writes: Promise<unknown>[] = [];
  const writing = setInterval(() => writes.push(addCategory(store)), 5);
  for (let round = 0; round < 150; round++) {
    const socket = ask(t, store, { query: round % 2 ? '?after=0' : '' });
    setTimeout(() => (round % 3 ? socket.destroy() : socket.resetAndDestroy()), Math.random() * 30);
    if (round % 5 === 0) await sleep(5);
  }
  clearInterval(writing);
  // Otherwise the client below would also get the last event.
  await Promise.all(writes);
  await untilNoneIsOpen(store);
  assert.deepEqual(failures, []);
  assert.ok(!store.log.some((line) => /"level":"(error|fatal)"/.test(line)), store.log.join(''));
  const reader = await open();
  await addCategory(store);
  await until(() => reader.ids.length === 1);
});

test('the service reads no more events for a client that has disconnected', async (t) => {
  const { store } = await start(t);
  await addMuch(store);
  const socket = ask(t, store, { query: '?after=0' });
  await once(socket, 'data');
  socket.pause();
  await sleep(200);
  const { reads } = store.db.counts;
  socket.resetAndDestroy();
  await untilNoneIsOpen(store);
  assert.ok(store.db.counts.reads - reads < 50, `${store.db.counts.reads - reads} reads`);
});

test('a client that disconnects before its stream begins opens none', async (t) => {
  const { store } = await start(t);
  withoutComments(store);
  let isHeld = false;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { write } = store.db;
  Object.assign(store.db, {
    write: async (...args: Parameters<typeof write>) => {
      const result = await write.apply(store.db, args);
      isHeld = true;
      await released;
      return result;
    },
  });
  const accepted = once(store.app.server, 'connection') as Promise<[Socket]>;
  const socket = ask(t, store);
  const [connection] = await accepted;
  await until(() => isHeld);
  socket.destroy();
  await until(() => connection.destroyed || connection.readableEnded);
  release();
  await untilNoneIsOpen(store);
});

test('a stream is the last request on its connection, so no other request waits behind it', async (t) => {
  const { store } = await start(t);
  const get = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-API-Key: ${store.key}\r\n\r\n`;
  // A request in the same packet is answered, and the stream is refused.
  const together = ask(t, store, { after: get.repeat(3) });
  let text = '';
  together.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  const statuses = () => text.match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];
  await until(() => statuses().length === 4);
  assert.deepEqual(statuses(), ['400', '200', '200', '200']);
  assert.match(text, /must be the last request on its connection/);

  // Later bytes are dropped.
  const left = async () => remaining(await store.call('GET', '/pets'));
  const before = await left();
  const later = ask(t, store);
  let stream = '';
  later.setEncoding('utf8').on('data', (chunk) => (stream += chunk));
  await until(() => stream.includes('retry:'));
  for (let i = 0; i < 100; i++) later.write(i < 50 ? get : 'nonsense\r\n\r\n');
  await addCategory(store);
  await until(() => stream.includes('category.created'));
  assert.equal(await left(), before - 3, 'the stream, the category and this were charged');
  later.destroy();
  await untilNoneIsOpen(store);
});

test('the duration of a stream is not counted as latency, and each stream is counted and logged once', async (t) => {
  const { store, open } = await start(t);
  const [left, ended] = [ask(t, store), await open()];
  await once(left, 'data');
  left.resetAndDestroy();
  store.aheadMs += 20 * minuteMs;
  await ended.untilEnded();
  const lines = () =>
    store.log.map((line) => JSON.parse(line)).filter(({ operation }) => operation === 'streamEvents');
  await until(() => lines().length === 2);
  const metrics = await store.metrics();
  assert.match(metrics, /^petstore_requests_total\{operation="streamEvents",status="200"\} 2$/m);
  assert.match(metrics, /^petstore_request_duration_seconds_count\{operation="streamEvents"\} 0$/m);
  assert.ok(lines().every(({ address, err }) => address === '127.0.0.1' && !err));
  assert.match(metrics, /^petstore_events_total 0$/m);
});
