import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forgetOldEvents } from '../../../src/store/history/store.ts';
import { deleteOldDeliveries } from '../../../src/store/webhooks/delivery-store.ts';
import { beginGeneration } from '../../../src/store/workspaces/after-restore.ts';
import {
  addCategory,
  addWebhook,
  answer,
  deliveriesOf,
  startDispatcher,
  startReceiver,
  webhook,
} from '../../support/dispatching.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';
import { openStream } from '../../support/streams.ts';
import { until } from '../../support/until.ts';
import { idsOf, numbers } from '../../support/values.ts';

const hourMs = 3_600_000;

const begin = (store: Petstore) => beginGeneration(store.db, store.nowMs);
const eventsOf = async (store: Petstore) => (await store.call('GET', '/store/events')).body;
const typesOf = (messages: { body: string }[]) => messages.map(({ body }) => JSON.parse(body).type);

test('a delivery from before a new generation fails because its event is no longer stored, and the webhook gets workspace.reset and workspace.seeded', async (t) => {
  const store = await startPetstore(t);
  const receiver = await startReceiver(t);
  receiver.behave = answer(500);
  await addWebhook(store, receiver.url);
  const running = startDispatcher(store);
  await addCategory(store);
  await until(async () => (await deliveriesOf(store))[0]?.attempts.length === 1);
  await running.stop();
  await begin(store);
  receiver.behave = answer(200);
  store.nowMs += hourMs;
  startDispatcher(store);
  await until(async () => (await deliveriesOf(store)).at(-1).state === 'failed');
  await until(() => receiver.messages.length === 3);
  assert.deepEqual(typesOf(receiver.messages.slice(1)), ['workspace.reset', 'workspace.seeded']);
  assert.match((await deliveriesOf(store)).at(-1).attempts.at(-1).error, /no longer stored/);
  assert.equal((await webhook(store)).enabled, true);
});

test('a webhook that was disabled or filters types continues after the gap', async (t) => {
  const store = await startPetstore(t);
  const receiver = await startReceiver(t);
  await addWebhook(store, receiver.url, { types: ['category.created'] });
  await addCategory(store, 'Missed');
  await store.call('PATCH', '/store/webhooks/1', { body: { enabled: false } });
  await begin(store);
  await store.call('PATCH', '/store/webhooks/1', { body: { enabled: true } });
  startDispatcher(store);
  await addCategory(store, 'Sent');
  await until(() => receiver.messages.length === 1);
  const { id, data } = JSON.parse(receiver.messages[0]?.body as string);
  assert.deepEqual([id, data.name], [store.nowMs * 1_000 + 3, 'Sent']);
});

test('an instance that still runs ends its streams, and its webhook misses nothing', async (t) => {
  const store = await startPetstore(t);
  const receiver = await startReceiver(t);
  await addWebhook(store, receiver.url);
  startDispatcher(store);
  await addCategory(store);
  await until(() => receiver.messages.length === 1);
  const stream = await openStream(t, await store.listen(), { key: store.key });
  await begin(store);
  await addCategory(store);
  // It loses its lease, so the message in flight is sent again.
  const received = () =>
    new Map(receiver.messages.map((message) => [message.headers['webhook-id'], message]));
  await until(() => received().size === 4);
  const types = ['category.created', 'workspace.reset', 'workspace.seeded', 'category.created'];
  assert.deepEqual(typesOf([...received().values()]), types);
  await stream.untilEnded();
});

test('after a new generation, cleanups keep its history, and each generation has higher ids than the one before', async (t) => {
  const store = await startPetstore(t);
  await store.addWorkspace('second', true);
  // The second and the third begin at the same time. The fourth begins with a clock that is behind.
  for (const [passedMs, ahead] of [
    [0, 0],
    [1, 0],
    [0, 1e12 + 3],
    [-hourMs, 2 * (1e12 + 3) + hourMs * 1_000],
  ] as const) {
    store.nowMs += passedMs;
    await begin(store);
    await addCategory(store);
    const retention = { maxAgeMs: hourMs, maxCount: 100 };
    await forgetOldEvents(store.db, retention, store.nowMs);
    await deleteOldDeliveries(store.db, retention, store.nowMs);
    assert.deepEqual(idsOf(await eventsOf(store)), numbers(3, store.nowMs * 1_000 + ahead + 1));
  }
  const sequences = await store.db.read`select min(last_id), count(*) from sequences group by workspace_id`;
  for (const [least, count] of sequences) assert.ok(Number(least) >= 2e12 && Number(count) > 5);
});

test('a backup that is restored again reuses no id from the store in between', async (t) => {
  const store = await startPetstore(t);
  const backup = await store.db.read`select workspace_id, kind, last_id from sequences`;
  const given: number[] = [];
  for (let times = 0; times < 3; times++) {
    // The state of the backup: its next ids, and no event since.
    await store.change(async (sql) => {
      for (const [workspaceId = 0, kind = '', lastId = 0] of backup)
        await sql`update sequences set last_id = ${lastId} where workspace_id = ${workspaceId} and kind = ${kind}`;
      await sql`delete from events`;
    });
    await begin(store);
    given.push((await addCategory(store, `Of ${times}`)).body.id);
    given.push(...idsOf(await eventsOf(store)));
    for (const position of given.slice(0, -4)) {
      const { status } = await store.call('GET', `/store/events?after=${position}`);
      assert.equal(status, 410, `after ${position}`);
    }
    store.nowMs += 1;
  }
  const events = given.filter((_, i) => i % 4 !== 0);
  assert.equal(new Set(events).size, 9);
  assert.equal(new Set(given.filter((_, i) => i % 4 === 0)).size, 3);
});
