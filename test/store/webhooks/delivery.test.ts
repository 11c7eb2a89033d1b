import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { InstallationKey } from '../../../src/foundation/settings/secret-key.ts';
import { forgetOldEvents } from '../../../src/store/history/store.ts';
import { retryDelaysMs } from '../../../src/store/webhooks/retry-policy.ts';
import { clearWorkspace } from '../../../src/store/workspaces/store.ts';
import {
  addCategory,
  addWebhook,
  answer,
  deliveriesOf,
  type Message,
  startDispatcher,
  startReceiver,
  startWebhook,
  untilDelivered,
  webhook,
} from '../../support/dispatching.ts';
import { startPetstore } from '../../support/petstore.ts';
import { until } from '../../support/until.ts';
import { statusesOf } from '../../support/values.ts';

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

test('every event after the start of a webhook arrives once, in order, signed, equal to the history, and counted', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await addCategory(store, 'Before');
  const receiver = await startReceiver(t);
  const secret = await addWebhook(store, receiver.url);
  startDispatcher(store);
  for (let i = 0; i < 60; i++) await addCategory(store, `Category ${i}`);
  await until(() => receiver.messages.length === 60);
  const history = (await store.call('GET', '/store/events?limit=100')).body.slice(1);
  assert.deepEqual(receiver.bodies(), history);
  for (const message of receiver.messages) {
    receiver.verify(message, [secret]);
    assert.equal(message.headers['content-type'], 'application/json');
    assert.match(message.headers['user-agent'] ?? '', /^Petstore\//);
  }
  await until(async () =>
    /^petstore_webhook_attempts_total\{outcome="delivered"\} 60$/m.test(await store.metrics()),
  );
  const deliveries = (await deliveriesOf(store)).reverse();
  assert.equal(deliveries.length, 60);
  for (const [i, { state, attempts, messageId, eventId }] of deliveries.entries()) {
    assert.deepEqual([state, ...statusesOf(attempts), eventId], ['delivered', 200, history[i].id]);
    assert.equal(receiver.messages[i]?.headers['webhook-id'], messageId);
  }
});

test('a failed delivery is retried on schedule, with the same id, and delays no other', async (t) => {
  const { store, receiver } = await startWebhook(t);
  let isWell = false;
  receiver.behave = (request, response) => {
    const isBad = receiver.messages.at(-1)?.body.includes('Bad') && !isWell;
    answer(isBad ? 500 : 204)(request, response);
  };
  startDispatcher(store, { random: () => 0.5 });
  await addCategory(store, 'Bad');
  await addCategory(store, 'Good');
  await until(async () => (await deliveriesOf(store)).length === 2);
  const bad = async () => (await deliveriesOf(store)).at(-1);
  let attempts = 1;
  for (const delayMs of retryDelaysMs.slice(0, 3)) {
    const { state, nextAttemptAt } = await bad();
    assert.deepEqual([state, Date.parse(nextAttemptAt) - store.nowMs], ['pending', delayMs]);
    store.nowMs += delayMs - 1;
    await sleep(60);
    assert.equal((await bad()).attempts.length, attempts, 'not before it is due');
    store.nowMs += 1;
    attempts++;
    await until(async () => (await bad()).attempts.length === attempts);
  }
  isWell = true;
  store.nowMs += hourMs;
  await until(async () => (await bad()).state === 'delivered');
  const { nextAttemptAt, attempts: all } = await bad();
  assert.equal(nextAttemptAt, undefined);
  assert.deepEqual(statusesOf(all), [500, 500, 500, 500, 204]);
  assert.deepEqual(all[0].error, 'The receiver returned 500.');
  const ids = receiver.messages.map(({ headers }) => headers['webhook-id']);
  assert.equal(new Set(ids).size, 2);
  assert.equal(receiver.messages.length, 6);
});

test('after its last attempt a delivery has failed, and can be sent again by hand', async (t) => {
  const { store, receiver } = await startWebhook(t);
  receiver.behave = answer(503, { 'retry-after': '999999' });
  startDispatcher(store, { random: () => 0.5 });
  await addCategory(store);
  const first = async () => (await deliveriesOf(store))[0];
  for (const [i, delayMs] of retryDelaysMs.entries()) {
    await until(async () => (await first())?.attempts.length === i + 1);
    const { nextAttemptAt } = await first();
    assert.equal(Date.parse(nextAttemptAt) - store.nowMs, Math.max(delayMs, hourMs), 'an hour is obeyed');
    store.nowMs = Date.parse(nextAttemptAt);
  }
  await until(async () => (await first()).state === 'failed');
  assert.equal((await first()).attempts.length, retryDelaysMs.length + 1);
  receiver.behave = answer(200);
  assert.equal((await store.call('POST', '/store/webhooks/1/deliveries/1/redeliver')).body.state, 'pending');
  await until(async () => (await first()).state === 'delivered');
  assert.equal(new Set(receiver.messages.map(({ headers }) => headers['webhook-id'])).size, 1);
});

test('a receiver that returns 410 gets nothing more, and an event reports it', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const [gone, other] = [await startReceiver(t), await startReceiver(t)];
  gone.behave = answer(410);
  await addWebhook(store, `${gone.url}secret-path?token=secret-token`);
  await addWebhook(store, other.url, { types: ['webhook.disabled'] });
  startDispatcher(store);
  await addCategory(store);
  await addCategory(store);
  await until(() => other.messages.length === 1);
  assert.equal(gone.messages.length, 1);
  const disabled = await webhook(store);
  assert.deepEqual([disabled.enabled, disabled.disabledReason], [false, 'gone']);
  const reported = JSON.parse(other.messages[0]?.body as string);
  assert.deepEqual([reported.type, reported.data], ['webhook.disabled', disabled]);
  assert.equal((await deliveriesOf(store))[0].state, 'failed');
  const line = store.log.find((line) => line.includes('a webhook was disabled')) as string;
  assert.ok(line.includes(new URL(gone.url).host) && line.includes('"reason":"gone"'));
  assert.ok(!store.log.join().includes('secret-'));
  assert.match(await store.metrics(), /petstore_webhooks_disabled_total\{reason="gone"\} 1/);
});

test('five days of only failures disable a webhook, and one success in between does not', async (t) => {
  const { store, receiver } = await startWebhook(t);
  receiver.behave = answer(500);
  startDispatcher(store);
  let events = 0;
  const event = async () => {
    await addCategory(store);
    events++;
    await until(async () => (await deliveriesOf(store)).length === events);
  };
  await event();
  store.nowMs += 4 * dayMs;
  receiver.behave = answer(200);
  await event();
  await untilDelivered(store);
  receiver.behave = answer(500);
  store.nowMs += 4 * dayMs;
  await event();
  store.nowMs += 5 * dayMs - 1;
  await event();
  assert.equal((await webhook(store)).enabled, true);
  store.nowMs += minuteMs;
  // A retry may be the failure that disables it.
  await addCategory(store);
  await until(async () => !(await webhook(store)).enabled);
  assert.equal((await webhook(store)).disabledReason, 'failing');
  assert.equal((await store.call('GET', '/store/events?type=webhook.disabled')).body.length, 1);
});

test('a filter passes only its types, and can be changed', async (t) => {
  const { store, receiver } = await startWebhook(t, { types: ['category.deleted', 'workspace.reset'] });
  startDispatcher(store);
  await addCategory(store);
  await store.call('DELETE', '/categories/1');
  await store.change((sql) => clearWorkspace(sql, 1));
  await until(() => receiver.messages.length === 2);
  await store.call('PATCH', '/store/webhooks/1', { body: { types: null } });
  await addCategory(store);
  await until(() => receiver.messages.length === 3);
  const types = receiver.bodies().map(({ type }) => type);
  assert.deepEqual(types, ['category.deleted', 'workspace.reset', 'category.created']);
});

test('a ping is sent at once, whatever else is waiting', async (t) => {
  const { store, receiver, secret } = await startWebhook(t);
  startDispatcher(store);
  const { body: ping } = await store.call('POST', '/store/webhooks/1/ping');
  await until(() => receiver.messages.length === 1);
  const [message] = receiver.messages as [Message];
  const sent = { type: 'ping', timestamp: ping.createdAt, data: { webhookId: 1 } };
  assert.deepEqual(JSON.parse(message.body), sent);
  assert.equal(message.headers['webhook-id'], ping.messageId);
  receiver.verify(message, [secret]);
  await untilDelivered(store);
});

test('after a rotation both secrets sign for a day', async (t) => {
  const { store, receiver, secret: before } = await startWebhook(t);
  const after = (await store.call('POST', '/store/webhooks/1/rotate-secret')).body.secret;
  startDispatcher(store);
  const send = async (secrets: string[]) => {
    const count = receiver.messages.length;
    await addCategory(store);
    await until(() => receiver.messages.length > count);
    receiver.verify(receiver.messages[count] as Message, secrets);
  };
  await send([after, before]);
  store.nowMs += dayMs;
  await send([after]);
});

test('with another secret key nothing is sent until the secret is replaced; the delivery and the log say so', async (t) => {
  const { store, receiver } = await startWebhook(t);
  store.installation.key = new InstallationKey('another key of this installation, for tests');
  startDispatcher(store);
  await addCategory(store);
  await until(async () => (await deliveriesOf(store)).length === 1);
  const [{ state, attempts }] = await deliveriesOf(store);
  assert.deepEqual([state, attempts[0].status], ['pending', undefined]);
  assert.match(attempts[0].error, /^The service has lost the secret of this webhook/);
  await until(() => store.log.some((line) => line.includes('the secret key differs from the one')));
  const { secret } = (await store.call('POST', '/store/webhooks/1/rotate-secret')).body;
  store.nowMs += minuteMs;
  await until(() => receiver.messages.length === 1);
  receiver.verify(receiver.messages[0] as Message, [secret]);
});

test('an event that is no longer kept is not sent, and its delivery says so', async (t) => {
  const { store, receiver } = await startWebhook(t);
  receiver.behave = answer(500);
  const dispatcher = startDispatcher(store);
  await addCategory(store);
  await until(async () => (await deliveriesOf(store)).length === 1);
  await dispatcher.stop();
  await addCategory(store);
  await forgetOldEvents(store.db, { maxAgeMs: 0, maxCount: 100 }, store.nowMs);
  await addCategory(store);
  receiver.behave = answer(200);
  store.nowMs += minuteMs;
  startDispatcher(store);
  await until(() => receiver.messages.length === 3);
  const [, missed, next] = receiver.bodies();
  assert.deepEqual([missed.type, next.id], ['events.missed', 3], 'from the oldest kept');
  await until(async () => (await deliveriesOf(store)).at(-1).state === 'failed');
  const { attempts } = (await deliveriesOf(store)).at(-1);
  assert.equal(attempts.at(-1).error, 'The event is no longer stored, so it was not sent.');
});
