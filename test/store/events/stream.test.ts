import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../src/db/database.ts';
import { Fragment } from '../../../src/db/sql.ts';
import { StorageUnavailableError } from '../../../src/foundation/errors.ts';
import { EventBroadcaster } from '../../../src/store/events/broadcaster.ts';
import { ChangeNotifier } from '../../../src/store/history/record.ts';
import { forgetOldEvents } from '../../../src/store/history/store.ts';
import { clearWorkspace } from '../../../src/store/workspaces/store.ts';
import { addCategory } from '../../support/dispatching.ts';
import { exchange } from '../../support/exchange.ts';
import { times } from '../../support/limits.ts';
import { fetchChecked, Petstore, startPetstore } from '../../support/petstore.ts';
import { openTestStorage } from '../../support/storage.ts';
import { openStream, Reader } from '../../support/streams.ts';
import { until } from '../../support/until.ts';
import { idsOf, numbers } from '../../support/values.ts';

const path = '/store/events/stream';

/** A listening store with an empty history. */
async function start(t: TestContext) {
  const store = await startPetstore(t, { seed: false });
  const origin = await store.listen();
  const open = (query = '', headers = {}) => openStream(t, origin, { key: store.key, query, headers });
  const add = (count = 1) => times(count, () => addCategory(store, 'Drägons'));
  return { store, origin, open, add };
}

/** Keeps the newest `count` events. */
const keepOnly = (store: Petstore, count: number) =>
  forgetOldEvents(store.db, { maxAgeMs: Number.MAX_SAFE_INTEGER, maxCount: count }, store.nowMs);

test('a stream starts with new events, and sends each event once, in order, equal to the event in lists', async (t) => {
  const { store, open, add } = await start(t);
  await add(2);
  const reader = await open();
  const { body: category } = await addCategory(store, 'Drägons');
  const smaug = { name: 'Smaug', categoryId: category.id };
  const { body: pet } = await store.call('POST', '/pets', { body: smaug });
  await store.call('DELETE', `/pets/${pet.id}`);
  await reader.untilIds([3, 4, 5]);
  assert.deepEqual(
    reader.events.map(({ type, data }) => [type, data]),
    [
      ['category.created', category],
      ['pet.created', pet],
      ['pet.deleted', pet],
    ],
  );
  assert.match(reader.text, /^retry: 2\d{3}\nid: 3\n/);
});

test('the response of a stream has the usual header fields, and must not be cached', async (t) => {
  const { store, open } = await start(t);
  const { status, headers } = await open('', { 'x-request-id': 'walk-1', accept: 'application/json' });
  assert.equal(status, 200);
  assert.partialDeepStrictEqual(headers, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-request-id': 'walk-1',
  });
  assert.ok(!('content-encoding' in headers));
  const head = await store.call('HEAD', path, { headers: { 'last-event-id': '0' } });
  assert.deepEqual([head.status, head.headers['content-type']], [200, headers['content-type']]);
  assert.equal((await store.call('HEAD', path, { headers: { 'last-event-id': '1' } })).status, 400);
  assert.match(await store.metrics(), /^petstore_open_streams 1$/m);
});

test('a reader continues after its position; the header field takes precedence over the query', async (t) => {
  const { open, add } = await start(t);
  await add(5);
  await (await open('?after=0')).untilIds([1, 2, 3, 4, 5]);
  const byQuery = await open('?after=3');
  const byHeader = await open('?after=0', { 'last-event-id': '4' });
  const all = await open('?after=5');
  await add();
  await byQuery.untilIds([4, 5, 6]);
  await byHeader.untilIds([5, 6]);
  await all.untilIds([6]);
});

test('a reader gets more than one page, and the history continues after a reset', async (t) => {
  const { store, open, add } = await start(t);
  await add(250);
  await store.change((sql) => clearWorkspace(sql, 1));
  await add();
  const reader = await open('?after=0');
  await reader.untilIds(numbers(252));
  const reset = reader.events.at(-2);
  assert.deepEqual([reset?.id, reset?.type, reset?.data], [251, 'workspace.reset', {}]);
});

test('a reader continues at its position after a restart', async (t) => {
  const { store, open, add } = await start(t);
  const reader = await open();
  await add(2);
  await reader.untilIds([1, 2]);
  await store.app.close();
  await reader.untilEnded();
  assert.equal(reader.ended, 'whole');

  const again = new Petstore(await openTestStorage(store.folder), store.folder);
  t.after(() => again.close());
  again.key = store.key;
  await addCategory(again);
  const headers = { 'last-event-id': String(reader.place) };
  await (await openStream(t, await again.listen(), { key: store.key, headers })).untilIds([3]);
});

test('types are filtered, and for skipped events an id alone moves the position of the reader', async (t) => {
  const { store, open, add } = await start(t);
  await add(250);
  await store.call('DELETE', '/categories/7');
  await add();
  const filtered = await open('?after=0&type=category.deleted&type=pet.created');
  await filtered.untilIds([251]);
  assert.deepEqual(filtered.text.match(/^id: \d+\n\n/gm), ['id: 100\n\n', 'id: 200\n\n', 'id: 252\n\n']);
  const none = await open('?after=0&type=order.placed');
  await until(() => none.place === 252);
  assert.deepEqual(none.events, []);
  await add();
  await until(() => none.place === 253 && filtered.place === 253);
  assert.deepEqual(filtered.ids, [251]);
});

test('a position that is no longer kept is 410 with a link to the oldest event; one that does not exist yet is 400', async (t) => {
  const { store, open, add } = await start(t);
  /** The refusals by a list and by a stream, which also reads a header field. */
  const refusals = async (after: number | string) => {
    const answers = await Promise.all([
      store.call('GET', `/store/events?after=${after}`),
      store.call('GET', `${path}?after=${after}`),
      store.call('GET', `${path}?after=0`, { headers: { 'last-event-id': String(after) } }),
    ]);
    return answers.map(({ status, body, headers }) => [status, body.code, body.message, headers.link]);
  };
  await add(10);
  await keepOnly(store, 4);
  const advice = 'The oldest is 7. Read the lists again, and then the events after 6.';
  for (const after of [0, 5]) {
    const message = `The events after ${after} are no longer stored. ${advice}`;
    const link = '<http://localhost:8080/v1/store/events>; rel="first"';
    assert.deepEqual(await refusals(after), Array(3).fill([410, 'events_expired', message, link]));
  }
  assert.equal((await store.call('GET', '/store/events/6')).status, 404);
  for (const query of ['', '?after=6'])
    assert.deepEqual(idsOf((await store.call('GET', `/store/events${query}`)).body), [7, 8, 9, 10]);
  await (await open('?after=6')).untilIds([7, 8, 9, 10]);
  await keepOnly(store, 0);
  assert.deepEqual(
    (await refusals(9)).map(([status]) => status),
    [410, 410, 410],
  );
  const waiting = await open('?after=10');
  for (const after of ['11', '9007199254740993', '9223372036854775000', '9223372036854775807']) {
    const message = `Event ${after} does not exist yet. The last event is 10.`;
    assert.deepEqual(await refusals(after), Array(3).fill([400, 'invalid_request', message, undefined]));
  }
  for (const after of ['-1', '9223372036854775808']) {
    const [list, stream] = await refusals(after);
    assert.deepEqual(list, stream);
    assert.equal(list?.[2], 'Query parameter after must be a 64-bit integer of at least 0.');
  }
  await add();
  await waiting.untilIds([11]);
});

test('a refused stream gets a JSON error, and no stream is opened', async (t) => {
  const { store, origin, add } = await start(t);
  await add();
  const { key: poor } = await store.addKey('enterprise', { perMinute: 1, perDay: 100 });
  await store.call('GET', '/pets', { key: poor });
  for (const [status, query, options] of [
    [400, '?after=x', {}],
    [400, '?after=1&after=1', {}],
    [400, '?type=pet.born', {}],
    [400, '?limit=1', {}],
    [400, '', { headers: { 'last-event-id': 'x' } }],
    [400, '', { headers: { 'last-event-id': '' } }],
    [400, '?after=0', { headers: { 'last-event-id': '99999999999999999999' } }],
    [401, '', { key: null }],
    [429, '', { key: poor }],
  ] as const) {
    const answer = await store.call('GET', path + query, options);
    assert.equal(answer.status, status, `${query} ${answer.text}`);
    if ('headers' in options) assert.match(answer.body.message, /^Last-Event-ID must be /);
  }
  const twice = await exchange(
    store,
    `GET /v1${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${store.key}\r\nLast-Event-ID: 0\r\nLast-Event-ID: 0\r\nConnection: close\r\n\r\n`,
  );
  assert.equal(twice.status, 400);
  assert.equal((await fetchChecked(origin, 'POST', path, { key: store.key, body: {} })).status, 405);
  assert.deepEqual(await store.db.read`select id from streams`, []);
});

test('while the database is down no stream can be opened, and open streams continue once it is back', async (t) => {
  const { store, open, add } = await start(t);
  const reader = await open();
  const { read } = store.db;
  const database = store.db as { read: typeof read };
  let asked = 0;
  database.read = async (texts, ...values) => {
    const parts = values.flatMap((value) => (value instanceof Fragment ? value.strings : []));
    if ([...texts, ...parts].join('').includes('from events'))
      throw new StorageUnavailableError('It is away.');
    asked++;
    return read(texts, ...values);
  };
  assert.equal((await store.call('GET', path)).status, 503);
  // The event is written and the stream is notified, but it cannot read the event.
  await add();
  await until(() => asked > 6);
  database.read = read;
  await reader.untilIds([1]);
  await add();
  await reader.untilIds([1, 2]);
});

test('an idle stream sends a comment every fifteen seconds', async (t) => {
  const { store, open } = await start(t);
  const reader = await open();
  for (let count = 1; count <= 3; count++) {
    store.aheadMs += 14_500;
    await until(() => reader.comments === count);
  }
  assert.equal(reader.ended, 'no');
});

test('a reader that is disconnected again and again gets each event once while writers write', async (t) => {
  const { store, origin } = await start(t);
  const writes = 600;
  const writer = async (from: number) => {
    for (let i = from; i < writes; i += 3) {
      await addCategory(store, `Dragons ${i}`);
      if (i % 7 === 0) await sleep(Math.random() * 20);
    }
  };
  const writing = Promise.all([writer(0), writer(1), writer(2)]);
  const ids: number[] = [];
  let cuts = 0;
  while (ids.length < writes) {
    const headers = { 'last-event-id': String(ids.at(-1) ?? 0) };
    const reader = new Reader(origin, { key: store.key, headers });
    const enough = writes - ids.length;
    const cutAt = performance.now() + Math.random() * 60;
    await until(() => reader.ids.length >= enough || (reader.status !== 0 && performance.now() > cutAt));
    ids.push(...reader.ids);
    reader.cut();
    cuts++;
  }
  await writing;
  assert.deepEqual(ids, numbers(writes));
  assert.ok(cuts > 5, `${cuts} cuts`);
});

/** A broadcaster whose database answers reads with `read`. */
function broadcast(read: (...statement: never[]) => Promise<unknown>, clock = () => 0) {
  const changes = new ChangeNotifier();
  return { changes, broadcaster: new EventBroadcaster({ read } as unknown as Database, changes, clock) };
}

test('readers at one position share a read, unless it began before the change', async () => {
  let reads = 0;
  const { changes, broadcaster } = broadcast(() => {
    reads++;
    return new Promise(() => {});
  });
  const [one, other] = [broadcaster.subscribe(1, () => {}), broadcaster.subscribe(1, () => {})];
  for (const watch of [one, other]) void watch.read(0);
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  assert.equal(reads, 1);
  changes.notify(1);
  for (const watch of [one, other]) void watch.read(0);
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  assert.equal(reads, 2);
});

test('a reader that catches up with long events gets each once, in small pages', async (t) => {
  const { store, open, add } = await start(t);
  await add(250);
  const long = JSON.stringify({ id: 1, name: 'a', description: '\u0001'.repeat(2_000) });
  await store.db.write((sql) => sql`update events set data = ${long} where id between 51 and 100`);
  const reader = await open('?after=0&type=category.deleted');
  await until(() => reader.place === 250);
  const pages = [...reader.text.matchAll(/^id: (\d+)\n\n/gm)].map(([, id]) => Number(id));
  assert.deepEqual(pages.slice(0, 10), [54, 58, 62, 66, 70, 74, 78, 82, 86, 90]);
  const all = await open('?after=0');
  await all.untilIds(numbers(250));
});

test('after a page that took long, readers that catch up pause, and up-to-date readers do not', async () => {
  let nowMs = 0;
  const read = async () => {
    nowMs += 40;
    // A whole page, so that more may follow.
    return numbers(100).map((id) => [id, 'category.created', 0, null, '{}', null, 100, 1]);
  };
  const { broadcaster } = broadcast(read, () => nowMs);
  const reader = broadcaster.subscribe(1, () => {});
  await reader.read(0, true);
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  const startedMs = performance.now();
  const order: string[] = [];
  const behind = reader.read(0, true).then(() => order.push('behind'));
  await reader.read(0).then(() => order.push('up to date'));
  await behind;
  assert.deepEqual(order, ['up to date', 'behind']);
  // Twice as long as both statements of the page took is more than the longest pause.
  assert.ok(performance.now() - startedMs >= 95, `${performance.now() - startedMs} ms`);
});

for (const isBehind of [false, true])
  test(`readers ${isBehind ? 'that catch up ' : ''}read a few pages per turn of the event loop, and workspaces take turns`, async () => {
    const read: number[] = [];
    const { broadcaster } = broadcast(async ({ raw }: TemplateStringsArray, workspaceId: number) => {
      if (raw.join().includes('octet_length')) return [];
      read.push(workspaceId);
      return [[1, 'category.created', 0, null, '{}', null, 1, 1]];
    });
    const [many, one] = [broadcaster.subscribe(1, () => {}), broadcaster.subscribe(2, () => {})];
    const reading = Array.from({ length: 100 }, (_, after) => many.read(after, isBehind));
    reading.push(one.read(0, isBehind));
    while (read.length < reading.length) {
      const before = read.length;
      await nextTurn();
      assert.ok(read.length - before <= 2, `${read.length - before} reads in a turn`);
    }
    await Promise.all(reading);
    assert.ok(read.indexOf(2) < 5, `the other workspace waited for ${read.indexOf(2)} reads`);
  });
