import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { StorageUnavailableError } from '../../../src/foundation/errors.ts';
import { acquireLease, leaseMs } from '../../../src/store/webhooks/lease-store.ts';
import {
  addCategory,
  addEvents,
  addWebhook,
  answer,
  deliveriesOf,
  startDispatcher,
  startReceiver,
  startWebhook,
} from '../../support/dispatching.ts';
import { startPetstore } from '../../support/petstore.ts';
import { until } from '../../support/until.ts';
import { numbers } from '../../support/values.ts';

const hourMs = 3_600_000;

test('a slow or rude receiver delays no other webhook', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const [slow, rude, well] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)];
  slow.behave = () => {};
  rude.behave = (request) => request.socket.destroy();
  for (const { url } of [slow, rude, well]) await addWebhook(store, url);
  // A busy machine could make the others wait for as long.
  startDispatcher(store, { timeoutMs: (url) => (url === slow.url ? 300 : 15_000) });
  for (let i = 0; i < 3; i++) await addCategory(store);
  await until(() => well.messages.length === 3);
  for (const id of [1, 2]) await until(async () => (await deliveriesOf(store, id)).length === 3);
  for (const { attempts } of await deliveriesOf(store, 1))
    assert.equal(attempts[0].error, 'No response within 0.3 s.');
  for (const { attempts } of await deliveriesOf(store, 2))
    assert.equal(attempts[0].error, 'The connection ended before a response.');
});

test('a workspace has at most eight attempts at once, so silent receivers do not block other workspaces', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const [silent, well] = [await startReceiver(t), await startReceiver(t)];
  silent.behave = () => {};
  const { key } = await store.addWorkspace('other', false);
  for (let i = 0; i < 70; i++) await addWebhook(store, silent.url);
  startDispatcher(store);
  await addCategory(store);
  await until(() => silent.messages.length === 8);
  await store.call('POST', '/store/webhooks', { key, body: { url: well.url } });
  await store.call('POST', '/categories', { key, body: { name: 'Dragons' } });
  await until(() => well.messages.length === 1);
  assert.equal(silent.messages.length, 8);
});

for (const [when, passedMs] of [
  ['in their own workspace and in others', 20_000],
  ['at once if the clock was ahead', -20 * hourMs],
] as const) {
  test(`busy webhooks yield to waiting ones, ${when}`, async (t) => {
    const store = await startPetstore(t, { seed: false });
    const receiver = await startReceiver(t);
    const reached = new Set<string | undefined>();
    receiver.behave = (request, response) => {
      reached.add(request.url);
      setTimeout(() => response.end(), 20);
    };
    for (let i = 0; i < 12; i++) await addWebhook(store, `${receiver.url}${i}`);
    await addEvents(store, 2_000);
    startDispatcher(store);
    await until(() => reached.size === 8);
    await sleep(100);
    assert.equal(reached.size, 8);
    store.nowMs += passedMs;
    await until(() => reached.size === 12);
  });
}

test('an attempt aborted by a stop is not recorded, and another dispatcher repeats it', async (t) => {
  const { store, receiver } = await startWebhook(t);
  receiver.behave = () => {};
  const first = startDispatcher(store, { graceMs: 50 });
  await addCategory(store);
  await until(() => receiver.messages.length === 1);
  await first.stop();
  assert.deepEqual(await deliveriesOf(store), []);
  receiver.behave = answer(200);
  startDispatcher(store);
  await until(async () => (await deliveriesOf(store))[0]?.state === 'delivered');
  const [one, other] = receiver.messages;
  assert.equal(other?.headers['webhook-id'], one?.headers['webhook-id']);
});

test('a stop waits for an attempt that is about to end, so that it is not made twice', async (t) => {
  const { store, receiver } = await startWebhook(t);
  receiver.behave = (_request, response) => setTimeout(() => response.end(), 300);
  const first = startDispatcher(store, { graceMs: 15_000 });
  for (let i = 0; i < 3; i++) await addCategory(store);
  await until(() => receiver.messages.length === 1);
  await first.stop();
  assert.equal(receiver.messages.length, 1, 'nothing more is begun');
  startDispatcher(store);
  await until(async () => (await deliveriesOf(store)).length === 3);
  assert.deepEqual(receiver.ids(), [1, 2, 3]);
});

test('while the storage is down nothing is lost, and nothing is sent twice', async (t) => {
  const { store, receiver } = await startWebhook(t);
  let isAway = false;
  const { db } = store;
  const failing = <Statement extends unknown[], Result>(run: (...statement: Statement) => Promise<Result>) =>
    (async (...statement: Statement) => {
      if (isAway) throw new StorageUnavailableError('It is away.');
      return run(...statement);
    }) as never;
  receiver.behave = (_request, response) => {
    isAway = true;
    response.end();
  };
  startDispatcher(store, { db: { ...db, read: failing(db.read), write: failing(db.write.bind(db)) } });
  await addCategory(store);
  await until(() =>
    store.log.join().includes('nothing is sent to webhooks while the storage is unavailable'),
  );
  await addCategory(store);
  assert.deepEqual(await deliveriesOf(store), []);
  receiver.behave = answer(200);
  isAway = false;
  await until(async () => (await deliveriesOf(store)).length === 2);
  assert.deepEqual(receiver.ids(), [1, 2]);
});

test('two dispatchers on one database send every event once, in order', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const receivers = [await startReceiver(t), await startReceiver(t), await startReceiver(t)];
  for (const receiver of receivers) {
    receiver.behave = (request, response) => setTimeout(() => answer(200)(request, response), 2);
    await addWebhook(store, receiver.url);
  }
  startDispatcher(store);
  startDispatcher(store);
  for (let i = 0; i < 40; i++) await addCategory(store);
  await until(() => receivers.every(({ messages }) => messages.length >= 40));
  for (const receiver of receivers) assert.deepEqual(receiver.ids(), numbers(40));
});

test('the work of a silent instance is taken over, and that instance can write nothing more', async (t) => {
  const { store, receiver } = await startWebhook(t);
  const { promise: goingOn, resolve: goOn } = Promise.withResolvers<void>();
  const silent = startDispatcher(store, {
    send: async (_outgoing, signal) => {
      await Promise.race([goingOn, once(signal, 'abort')]);
      return { status: 200, durationMs: 1 };
    },
    fallsSilent: true,
  });
  await addCategory(store);
  await until(() => silent.sent === 1);
  const other = startDispatcher(store);
  await sleep(100);
  assert.equal(receiver.messages.length, 0, 'the lease is valid');
  let answerOther = () => {};
  receiver.behave = (_request, response) => {
    answerOther = () => response.end();
  };
  store.nowMs += 20_000;
  await until(() => receiver.messages.length === 1);
  goOn();
  await silent.stop();
  assert.deepEqual(await deliveriesOf(store), [], 'the other one is still sending');
  answerOther();
  await until(async () => (await deliveriesOf(store)).length === 1);
  assert.equal(receiver.messages.length, 1);
  assert.deepEqual([silent.dispatcher.counts.delivered, other.dispatcher.counts.delivered], [0, 1]);
});

test('each instance reports the lag of the slowest enabled webhook, whichever sends to it', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const [well, silent] = [await startReceiver(t), await startReceiver(t)];
  silent.behave = () => {};
  const instances = [startDispatcher(store), startDispatcher(store)];
  const untilBehind = (events: number) =>
    until(
      async () =>
        instances.every(({ dispatcher }) => dispatcher.lag === events) &&
        new RegExp(`^petstore_webhook_lag_events ${events}$`, 'm').test(await store.metrics()),
    );
  await addWebhook(store, well.url);
  await addWebhook(store, silent.url);
  await addWebhook(store, silent.url, { types: ['pet.created'] });
  for (let i = 0; i < 3; i++) await addCategory(store);
  await untilBehind(3);
  await store.call('PATCH', '/store/webhooks/2', { body: { enabled: false } });
  await untilBehind(0);
  await addCategory(store);
  await until(() => well.messages.length === 4);
  await untilBehind(0);
  await store.call('PATCH', '/store/webhooks/2', { body: { enabled: true } });
  await untilBehind(4);
  await store.call('DELETE', '/store/webhooks/2');
  await untilBehind(0);
});

test('a new or enabled webhook, a ping and a redelivery do not wait for a tick', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const receiver = await startReceiver(t);
  startDispatcher(store, { neverTicks: true });
  const arrived = (count: number) => until(() => receiver.messages.length === count);
  await addWebhook(store, receiver.url);
  await addCategory(store);
  await arrived(1);
  await until(async () => (await deliveriesOf(store)).length === 1);
  await store.call('POST', '/store/webhooks/1/ping');
  await arrived(2);
  await store.call('POST', '/store/webhooks/1/deliveries/1/redeliver');
  await arrived(3);
  await store.call('PATCH', '/store/webhooks/1', { body: { enabled: false } });
  await addCategory(store);
  await store.call('PATCH', '/store/webhooks/1', { body: { enabled: true } });
  await arrived(4);
});

test('an event that is recorded while a lease is released does not wait for a tick', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const receiver = await startReceiver(t);
  const [letGo, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const write = async (...statement: Parameters<typeof store.db.write>) => {
    if (receiver.messages.length === 1 && (await deliveriesOf(store)).length === 1) {
      letGo.resolve();
      await mayEnd.promise;
    }
    return store.db.write(...statement);
  };
  const db = { ...store.db, read: store.db.read, write: write as never };
  startDispatcher(store, { db, idleMs: 1, neverTicks: true });
  await addWebhook(store, receiver.url);
  await addCategory(store);
  await letGo.promise;
  await addCategory(store);
  await sleep(100);
  mayEnd.resolve();
  await until(() => receiver.messages.length === 2);
});

test('a lease that ends too far in the future is free; one from a clock that is seconds ahead is not', async (t) => {
  const { store, receiver } = await startWebhook(t);
  await addCategory(store);
  const leaseUntil = (aheadMs: number) =>
    store.db.write(
      (sql) => sql`update webhooks set lease_owner = 'dead', lease_until_ms = ${store.nowMs + aheadMs}`,
    );
  const take = (isAlone: boolean) => {
    const instance = { owner: 'other', isAlone };
    return store.db.write((sql) => acquireLease(sql, { workspaceId: 1, id: 1 }, instance, store.nowMs));
  };
  await leaseUntil(leaseMs + 2_000);
  assert.equal(await take(false), undefined);
  assert.notEqual(await take(true), undefined, 'nobody else can be alive');
  await leaseUntil(hourMs);
  startDispatcher(store);
  await until(() => receiver.messages.length === 1);
});

test('an instance whose clock is set back acquires its lease again', async (t) => {
  const { store, receiver } = await startWebhook(t);
  store.nowMs += hourMs;
  startDispatcher(store, { idleMs: 60_000 });
  await addCategory(store);
  await until(() => receiver.messages.length === 1);
  store.nowMs -= hourMs;
  await until(
    async () =>
      Number((await store.db.read`select lease_until_ms from webhooks`)[0]?.[0]) <= store.nowMs + leaseMs,
  );
});
