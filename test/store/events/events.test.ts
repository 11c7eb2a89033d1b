import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forgetOldEvents } from '../../../src/store/history/store.ts';
import { eventTypes } from '../../../src/store/webhooks/schema.ts';
import { clearWorkspace } from '../../../src/store/workspaces/store.ts';
import { description, validator } from '../../support/description.ts';
import { type JsonAnswer, Petstore, startPetstore } from '../../support/petstore.ts';
import { openTestStorage, temporaryStorage } from '../../support/storage.ts';
import { idsOf, nextPage, numbers } from '../../support/values.ts';

/** Adds categories. Each is an event. */
async function happen(store: Petstore, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const headers = { 'x-request-id': `happen-${n}` };
    await store.call('POST', '/categories', { body: { name: `Kind ${n}` }, headers });
  }
}

/** The pages of a list of events. */
async function walk(store: Petstore, query: string): Promise<JsonAnswer[]> {
  const pages: JsonAnswer[] = [];
  for (let path: string | undefined = `/store/events?${query}`; path; ) {
    const page = await store.call('GET', path);
    pages.push(page);
    path = nextPage(page);
  }
  return pages;
}

test('the history starts with the first change, and each event says who changed what, and when', async (t) => {
  const store = await startPetstore(t, { seed: false });
  assert.deepEqual((await store.call('GET', '/store/events')).body, []);
  await happen(store, 1);
  store.nowMs += 1_000;
  const dragons = { name: 'Dragons', description: 'Warm.' };
  await store.call('PUT', '/categories/1', { body: dragons, headers: { 'x-request-id': 'second' } });
  const { body, headers } = await store.call('GET', '/store/events');
  assert.deepEqual(body, [
    {
      id: 1,
      type: 'category.created',
      timestamp: '2026-06-01T12:00:00.000Z',
      requestId: 'happen-0',
      data: { id: 1, name: 'Kind 0' },
    },
    {
      id: 2,
      type: 'category.updated',
      timestamp: '2026-06-01T12:00:01.000Z',
      requestId: 'second',
      data: { id: 1, ...dragons },
      previous: { name: 'Kind 0', description: null },
    },
  ]);
  assert.equal(headers['last-event-id'], '2');
  assert.deepEqual((await store.call('GET', '/store/events/2')).body, body[1]);
  assert.equal((await store.call('GET', '/store/events/3')).status, 404);
});

test('ids give the order of events, also if the clock of an instance is behind that of another', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await happen(store, 1);
  store.nowMs -= 238;
  await happen(store, 1);
  const { body } = await store.call('GET', '/store/events');
  assert.deepEqual(
    body.map(({ id, timestamp }: { id: number; timestamp: string }) => [id, timestamp]),
    [
      [1, '2026-06-01T12:00:00.000Z'],
      [2, '2026-06-01T11:59:59.762Z'],
    ],
  );
  const times = JSON.stringify(description).match(/"timestamp":{[^}]*made it\.[^}]*}/g) ?? [];
  assert.equal(times.length, eventTypes.length);
  for (const text of times) assert.match(text, /order events by `id`/);
});

test('a list from the oldest event is not empty while that event is removed', async (t) => {
  const folder = await temporaryStorage(t);
  const db = await openTestStorage(folder);
  const { read } = db;
  let beforeEvents: (() => Promise<void>) | undefined;
  const removing: typeof read = async (...statement) => {
    if (statement[0].join().includes('join events e')) {
      const remove = beforeEvents;
      beforeEvents = undefined;
      await remove?.();
    }
    return read(...statement);
  };
  const store = new Petstore(Object.assign(db, { read: removing }), folder);
  t.after(() => store.close());
  await store.ready;
  store.key = (await store.addWorkspace('first', false)).key;
  await happen(store, 1_010);
  beforeEvents = () => forgetOldEvents(db, { maxAgeMs: Number.MAX_SAFE_INTEGER, maxCount: 5 }, store.nowMs);
  const { body, headers } = await store.call('GET', '/store/events?limit=2');
  assert.deepEqual(idsOf(body), [1_006, 1_007]);
  assert.match(String(headers.link), /rel="next"/);
});

test('an event that no request caused has no request id, and one event covers all seeded rows', async (t) => {
  const store = await startPetstore(t);
  const { body } = await store.call('GET', '/store/events');
  assert.deepEqual(body, [
    { id: 1, type: 'workspace.seeded', timestamp: '2026-06-01T12:00:00.000Z', data: {} },
  ]);
});

test('pages have no gap between them, and Last-Event-ID is the position for new events', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await happen(store, 5);
  const first = await store.call('GET', '/store/events?limit=2');
  assert.deepEqual(idsOf(first.body), [1, 2]);
  assert.equal(first.headers['last-event-id'], '2');
  const second = await store.call('GET', nextPage(first) as string);
  assert.deepEqual(idsOf(second.body), [3, 4]);
  const rest = await store.call('GET', `/store/events?after=${second.headers['last-event-id']}`);
  assert.deepEqual(idsOf(rest.body), [5]);
  assert.equal(rest.headers.link, undefined);
  await happen(store, 1);
  const news = await store.call('GET', `/store/events?after=${rest.headers['last-event-id']}`);
  assert.deepEqual(idsOf(news.body), [6]);
});

test('a reader with a filter keeps its position, also where nothing matches', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await happen(store, 3);
  await store.call('POST', '/pets', { body: { name: 'Smaug', categoryId: 1 } });
  await happen(store, 1);
  const pets = await store.call('GET', '/store/events?type=pet.created&type=pet.deleted');
  assert.deepEqual(idsOf(pets.body), [4]);
  assert.equal(pets.headers['last-event-id'], '5');
  const none = await store.call('GET', '/store/events?type=pet.deleted');
  assert.deepEqual(none.body, []);
  assert.equal(none.headers['last-event-id'], '5');
  const unknown = await store.call('GET', '/store/events?type=pet.eaten');
  assert.equal(unknown.status, 400);
  assert.match(unknown.body.message, /type/);
});

test('a filter on rare types scans a bounded part of the history, and says where to continue', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await store.change(async (sql) => {
    await sql`update sequences set last_id = 2500 where workspace_id = 1 and kind = 'events'`;
    await sql`
      with recursive n (id) as (select 1 union all select id + 1 from n where id < 2500)
      insert into events (workspace_id, id, type, created_at_ms, data)
      select 1, id, 'workspace.seeded', ${store.nowMs}, '{}' from n`;
  });
  await store.call('POST', '/categories', { body: { name: 'Dragons' } });
  const pages = await walk(store, 'type=category.created');
  assert.deepEqual(
    pages.map(({ body, headers }) => [idsOf(body), headers['last-event-id']]),
    [
      [[], '1000'],
      [[], '2000'],
      [[2501], '2501'],
    ],
  );
});

test('long events end a page early, and a walk gets each event once', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await happen(store, 10);
  for (let n = 1; n <= 5; n++) {
    // In JSON each of these characters is six.
    const character = n % 2 ? '\u0001' : '\u0002';
    const body = { name: character.repeat(200), description: character.repeat(2_000) };
    assert.equal((await store.call('PUT', '/categories/1', { body })).status, 200);
  }
  await happen(store, 10);
  for (const [query, count, sizes] of [
    ['limit=100', 25, [12, 1, 1, 11]],
    ['limit=20', 25, [12, 1, 1, 11]],
    ['limit=1', 25, Array(25).fill(1)],
    ['limit=100&type=category.updated', 5, [2, 1, 1, 1]],
  ] as const) {
    const pages = (await walk(store, query)).map(({ body }) => idsOf(body));
    const from = count === 25 ? 1 : 11;
    assert.deepEqual(pages.flat(), numbers(count, from), query);
    assert.deepEqual(
      pages.map(({ length }) => length),
      sizes,
      query,
    );
  }
});

test('events are removed by age and number, and ids continue', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await happen(store, 3);
  store.nowMs += 60_000;
  await happen(store, 3);
  const forget = (maxAgeMs: number, maxCount: number) =>
    forgetOldEvents(store.db, { maxAgeMs, maxCount }, store.nowMs);
  const kept = async () => idsOf((await store.call('GET', '/store/events')).body);
  await forget(60_001, 6);
  assert.deepEqual(await kept(), [1, 2, 3, 4, 5, 6]);
  await forget(60_000, 6);
  assert.deepEqual(await kept(), [4, 5, 6]);
  await forget(60_000, 1);
  assert.deepEqual(await kept(), [6]);
  store.nowMs += 60_000;
  await forget(60_000, 1);
  const none = await store.call('GET', '/store/events?after=6');
  assert.deepEqual([none.body, none.headers['last-event-id']], [[], '6']);
  assert.equal((await store.call('GET', '/store/events?after=5')).status, 410);
  await happen(store, 1);
  assert.deepEqual(await kept(), [7]);
});

test('a reset is an event, and event ids continue after it', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await happen(store, 2);
  await store.change((sql) => clearWorkspace(sql, 1));
  await happen(store, 1);
  const { body } = await store.call('GET', '/store/events');
  assert.deepEqual(
    body.map(({ id, type, data }: { id: number; type: string; data: { id?: number } }) => [
      id,
      type,
      data.id,
    ]),
    [
      [1, 'category.created', 1],
      [2, 'category.created', 2],
      [3, 'workspace.reset', undefined],
      [4, 'category.created', 1],
    ],
  );
});

test('the description has a schema for each event type, which the discriminator names', () => {
  const { Event, EventType } = description.components.schemas;
  assert.deepEqual(EventType.enum, [...eventTypes]);
  assert.deepEqual(Object.keys(Event.discriminator.mapping), [...eventTypes]);
  for (const [type, $ref] of Object.entries<string>(Event.discriminator.mapping)) {
    const { properties, example } = description.components.schemas[$ref.split('/').at(-1) as string];
    assert.deepEqual(properties.type.enum, [type]);
    assert.ok(validator({ $ref })(example), type);
    assert.equal('previous' in properties, type.endsWith('.updated'));
  }
});
