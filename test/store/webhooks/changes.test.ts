import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { deleteOldDeliveries } from '../../../src/store/webhooks/delivery-store.ts';
import {
  addCategory,
  addWebhook,
  answer,
  deliveriesOf,
  startDispatcher,
  startReceiver,
  startWebhook,
  untilDelivered,
  webhook,
} from '../../support/dispatching.ts';
import { startPetstore } from '../../support/petstore.ts';
import { until } from '../../support/until.ts';
import { statusesOf } from '../../support/values.ts';

test('a confirmed change of a webhook applies to every later event', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const [former, present] = [await startReceiver(t), await startReceiver(t)];
  await addWebhook(store, former.url, { types: ['pet.created'] });
  await addWebhook(store, former.url);
  startDispatcher(store);
  await addCategory(store, 'Before');
  // Both are in flight now.
  await until(() => former.messages.length === 1);
  const change = (id: number, body: object) => store.call('PATCH', `/store/webhooks/${id}`, { body });
  const arrivedAt = ({ messages }: typeof former, name: string) =>
    messages.filter(({ body }) => body.includes(name)).length;
  for (let round = 0; round < 5; round++) {
    await change(1, { types: ['pet.deleted'] });
    await addCategory(store, 'Left out, or not yet looked at');
    await change(1, { types: ['category.created'] });
    await change(2, { url: round % 2 === 0 ? present.url : former.url });
    await addCategory(store, `Category ${round}`);
    const [there, elsewhere] = round % 2 === 0 ? [present, former] : [former, present];
    await until(() => arrivedAt(there, `Category ${round}`) === (there === former ? 2 : 1));
    await until(() => arrivedAt(former, `Category ${round}`) >= 1);
    assert.equal(arrivedAt(elsewhere, `Category ${round}`), elsewhere === former ? 1 : 0);
  }
});

test('a response from a former URL does not count for the present one', async (t) => {
  const { store, receiver: former } = await startWebhook(t);
  const present = await startReceiver(t);
  const held: ServerResponse[] = [];
  former.behave = (_request, response) => held.push(response);
  await store.call('POST', '/store/webhooks/1/ping');
  await addCategory(store);
  startDispatcher(store);
  await until(() => held.length === 2);
  await store.call('PATCH', '/store/webhooks/1', { body: { url: present.url } });
  for (const response of held) response.writeHead(410).end();
  await until(async () =>
    (await deliveriesOf(store)).every(({ attempts }: { attempts: object[] }) => attempts.length === 1),
  );
  assert.equal((await webhook(store)).enabled, true);
  const failing = await store.db.read`select failing_since_ms from webhooks`;
  assert.deepEqual(failing, [[null]]);
  // Both are retried at the new URL.
  store.nowMs += 60_000;
  await untilDelivered(store);
  assert.equal(present.messages.length, 2);
  const disabled = await store.db.read`select count(*) from events where type = 'webhook.disabled'`;
  assert.deepEqual(disabled, [[0]]);
});

test('a redelivery that is requested during an attempt happens after it', async (t) => {
  const { store, receiver } = await startWebhook(t);
  const held: ServerResponse[] = [];
  receiver.behave = (_request, response) => held.push(response);
  await store.call('POST', '/store/webhooks/1/ping');
  startDispatcher(store);
  await until(() => held.length === 1);
  const redeliver = () => store.call('POST', '/store/webhooks/1/deliveries/1/redeliver');
  assert.equal((await redeliver()).status, 202);
  held[0]?.end();
  await until(() => held.length === 2);
  assert.equal((await redeliver()).body.state, 'pending');
  held[1]?.writeHead(500).end();
  await until(() => held.length === 3);
  held[2]?.end();
  await untilDelivered(store);
  assert.deepEqual(statusesOf((await deliveriesOf(store))[0].attempts), [200, 500, 200]);
});

test('a pending delivery is kept beyond the limit of deliveries', async (t) => {
  const { store, receiver: ill } = await startWebhook(t);
  ill.behave = answer(500);
  await addWebhook(store, (await startReceiver(t)).url);
  startDispatcher(store);
  for (let n = 0; n < 3; n++) await addCategory(store, `Category ${n}`);
  const count = async () => Number((await store.db.read`select count(*) from deliveries`)[0]?.[0]);
  await until(async () => (await count()) === 6);
  await deleteOldDeliveries(store.db, { maxAgeMs: 1_000, maxCount: 1 }, store.nowMs);
  const states = await store.db.read`select state from deliveries where webhook_id = 1`;
  assert.deepEqual(states, [['pending'], ['pending'], ['pending']]);
  assert.ok((await count()) <= 4);
});

test('a webhook without anything to send causes no write for each event', async (t) => {
  const { store } = await startWebhook(t, { types: ['pet.deleted'] });
  startDispatcher(store, { idleMs: 60_000 });
  await addCategory(store, 'First');
  await until(async () => (await store.db.read`select lease_owner from webhooks`)[0]?.[0] !== null);
  await store.holdLimits();
  const { writes } = store.db.counts;
  for (let n = 0; n < 100; n++) await addCategory(store, `Category ${n}`);
  assert.ok(store.db.counts.writes - writes < 110, `${store.db.counts.writes - writes} writes`);
});
