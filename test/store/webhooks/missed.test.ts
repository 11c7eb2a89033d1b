import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forgetOldEvents } from '../../../src/store/history/store.ts';
import { oldestNeededEvent } from '../../../src/store/webhooks/lease-store.ts';
import {
  addEvents,
  answer,
  deliveriesOf,
  type Message,
  startDispatcher,
  startWebhook,
  untilDelivered,
  webhook,
} from '../../support/dispatching.ts';
import type { Petstore } from '../../support/petstore.ts';
import { until } from '../../support/until.ts';
import { idsOf, numbers } from '../../support/values.ts';

const hourMs = 3_600_000;

/** The sweep of the service, with ten events kept for a week. */
const forget = (store: Petstore) =>
  forgetOldEvents(store.db, { maxAgeMs: 168 * hourMs, maxCount: 10 }, store.nowMs, (workspaceId) =>
    oldestNeededEvent(store.db.read, workspaceId),
  );

const kept = async (store: Petstore) =>
  (await store.db.read`select id from events where workspace_id = 1 order by id`).map(([id]) => Number(id));

test('unsent events of an enabled webhook are kept, up to twice the usual number', async (t) => {
  const { store, receiver } = await startWebhook(t);
  await addEvents(store, 20);
  await forget(store);
  assert.deepEqual(await kept(store), numbers(20));
  const { body } = await store.call('GET', '/store/events?after=0');
  assert.equal(body.length, 20, 'readers see them, too');
  startDispatcher(store);
  await until(async () => (await deliveriesOf(store)).length === 20);
  await forget(store);
  assert.deepEqual(await kept(store), numbers(10, 11));
  assert.deepEqual(receiver.ids(), numbers(20));
  assert.equal((await webhook(store)).missedEvents, undefined);
});

test('events with a pending retry are kept as well, but none beyond its maximum age', async (t) => {
  const { store, receiver } = await startWebhook(t);
  receiver.behave = (request, response) =>
    answer(receiver.messages.length === 3 ? 500 : 200)(request, response);
  const dispatcher = startDispatcher(store);
  await addEvents(store, 18);
  await until(async () => (await deliveriesOf(store)).length === 18);
  await dispatcher.stop();
  await forget(store);
  assert.deepEqual(await kept(store), numbers(16, 3));
  store.nowMs += 169 * hourMs;
  await forget(store);
  assert.deepEqual(await kept(store), []);
});

test('beyond that number the receiver, the webhook, the log and the metrics report missed events', async (t) => {
  const { store, receiver, secret } = await startWebhook(t, { types: ['category.created'] });
  assert.match(await store.metrics(), /^petstore_webhook_missed_events_total 0$/m);
  await addEvents(store, 50);
  await forget(store);
  assert.deepEqual(await kept(store), numbers(20, 31));
  receiver.behave = (request, response) =>
    answer(receiver.messages.length === 1 ? 500 : 200)(request, response);
  startDispatcher(store);
  await until(() => receiver.messages.length === 21);
  const [missed, ...events] = receiver.bodies();
  const noticedAt = new Date(store.nowMs).toISOString();
  assert.deepEqual(missed, {
    type: 'events.missed',
    timestamp: noticedAt,
    data: { webhookId: 1, firstEventId: 1, lastEventId: 30 },
  });
  assert.deepEqual(idsOf(events), numbers(20, 31));
  assert.deepEqual((await webhook(store)).missedEvents, { count: 30, lastEventId: 30, noticedAt });
  assert.match(await store.metrics(), /^petstore_webhook_missed_events_total 30$/m);
  const line = store.log.find((line) => line.includes('removed before a webhook received'));
  assert.match(line ?? '', /"count":30,"firstEventId":1,"lastEventId":30/);
  store.nowMs += hourMs;
  // It is retried like every other message.
  await untilDelivered(store);
  const [first, last] = [receiver.messages.at(0), receiver.messages.at(-1)];
  assert.deepEqual([last?.body, last?.headers['webhook-id']], [first?.body, first?.headers['webhook-id']]);
  receiver.verify(last as Message, [secret]);
  const delivery = (await deliveriesOf(store)).at(-1);
  assert.deepEqual([delivery.type, delivery.eventId, delivery.attempts.length], ['events.missed', 30, 2]);
  assert.equal(receiver.messages.length, 22);
});

test('a gap that an instance stored before it died is reported before later events', async (t) => {
  const { store, receiver } = await startWebhook(t);
  await addEvents(store, 25);
  await forget(store);
  // It dies during the first attempt.
  const dying = startDispatcher(store, {
    graceMs: 0,
    send: (_outgoing, signal) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => resolve({ error: 'Broken off.', durationMs: 0 })),
      ),
  });
  await until(() => dying.sent === 1);
  await dying.stop();
  assert.equal((await webhook(store)).missedEvents.count, 5);
  startDispatcher(store);
  await until(() => receiver.messages.length === 21);
  const [missed, ...events] = receiver.bodies();
  assert.deepEqual([missed.type, missed.data.lastEventId], ['events.missed', 5]);
  assert.deepEqual(idsOf(events), numbers(20, 6));
  assert.equal((await webhook(store)).missedEvents.count, 5);
});

test('a disabled webhook keeps no extra events, and missed ones are reported when it is enabled', async (t) => {
  const { store, receiver } = await startWebhook(t);
  startDispatcher(store);
  await store.call('PATCH', '/store/webhooks/1', { body: { enabled: false } });
  await addEvents(store, 30);
  await forget(store);
  assert.deepEqual(await kept(store), numbers(10, 21));
  await store.call('PATCH', '/store/webhooks/1', { body: { enabled: true } });
  await until(() => receiver.messages.length === 11);
  const [missed, ...events] = receiver.bodies();
  assert.deepEqual(missed.data, { webhookId: 1, firstEventId: 1, lastEventId: 20 });
  assert.deepEqual(idsOf(events), numbers(10, 21));
});
