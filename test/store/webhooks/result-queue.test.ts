import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { StorageUnavailableError } from '../../../src/foundation/errors.ts';
import { newTraceparent } from '../../../src/http/trace-context.ts';
import { disableAfterMs, maxUnrecorded } from '../../../src/store/webhooks/retry-policy.ts';
import { threadSender } from '../../../src/store/webhooks/sender.ts';
import {
  addEvents,
  addWebhook,
  answer,
  deliveriesOf,
  startDispatcher,
  startReceiver,
  startWebhook,
  webhook,
} from '../../support/dispatching.ts';
import { type Petstore, startPetstore, testPolicy } from '../../support/petstore.ts';
import { until } from '../../support/until.ts';
import { numbers } from '../../support/values.ts';

const delivered = async (store: Petstore) =>
  Number((await store.db.read`select count(*) from deliveries where state = 'delivered'`)[0]?.[0]);

/** A store with a webhook, and its database whose writes wait while the gate is closed, and fail while it is down. */
async function startGated(t: TestContext) {
  const gate = { opened: Promise.withResolvers<void>(), isAway: false, writes: 0 };
  gate.opened.resolve();
  // Before the store stops, which waits for its writes.
  t.after(() => {
    gate.isAway = false;
    gate.opened.resolve();
  });
  const { store, receiver } = await startWebhook(t);
  const { db } = store;
  const write = async (...work: unknown[]) => {
    await gate.opened.promise;
    if (gate.isAway) throw new StorageUnavailableError('It is away.');
    gate.writes++;
    return (db.write as (...work: unknown[]) => Promise<unknown>).apply(db, work);
  };
  return { store, receiver, gate, db: { ...db, read: db.read, write } as typeof db };
}

test('sending continues while outcomes are written, up to a limit, and one commit has many outcomes', async (t) => {
  const { store, receiver, gate, db } = await startGated(t);
  // The lease has been acquired by then.
  receiver.behave = (_request, response) => {
    if (receiver.messages.length === 1) gate.opened = Promise.withResolvers();
    response.end();
  };
  startDispatcher(store, { db });
  await addEvents(store, 300);
  await until(() => receiver.messages.length === maxUnrecorded);
  assert.ok((await delivered(store)) <= 1);
  gate.writes = 0;
  gate.opened.resolve();
  await until(async () => (await delivered(store)) === 300);
  assert.deepEqual(receiver.ids(), numbers(300));
  assert.ok(gate.writes < 220, `${gate.writes} writes`);
});

test('outcomes that wait for the storage are written when it is back, also at a stop', async (t) => {
  const { store, receiver, gate, db } = await startGated(t);
  receiver.behave = (_request, response) => {
    if (receiver.messages.length === 20) gate.isAway = true;
    response.end();
  };
  const dispatcher = startDispatcher(store, { db, graceMs: 15_000 });
  await addEvents(store, 60);
  await until(() => receiver.messages.length >= 20);
  const stopped = dispatcher.stop();
  gate.isAway = false;
  await stopped;
  const sent = receiver.messages.length;
  assert.equal(await delivered(store), sent);
  startDispatcher(store);
  await until(async () => (await delivered(store)) === 60);
  assert.deepEqual(receiver.ids(), numbers(60));
});

test('a receiver that returns 410 in the middle gets nothing more, and later continues there', async (t) => {
  const { store, receiver } = await startWebhook(t, { types: ['category.created'] });
  receiver.behave = (request, response) =>
    answer(receiver.messages.length === 30 ? 410 : 200)(request, response);
  startDispatcher(store);
  await addEvents(store, 80);
  await until(async () => !(await webhook(store)).enabled);
  assert.equal(receiver.messages.length, 30);
  assert.equal((await deliveriesOf(store)).length, 30);
  const { body } = await store.call('PATCH', '/store/webhooks/1', { body: { enabled: true } });
  assert.equal(body.disabledReason, undefined);
  await until(() => receiver.messages.length === 80);
  assert.deepEqual(receiver.ids(), numbers(80));
});

test('a success in the same batch ends the days of failures, even before it is on disk', async (t) => {
  const { store, receiver } = await startWebhook(t);
  await store.db.write((sql) => sql`update webhooks set failing_since_ms = ${store.nowMs - disableAfterMs}`);
  receiver.behave = (request, response) =>
    answer(receiver.messages.length === 2 ? 500 : 200)(request, response);
  startDispatcher(store);
  await addEvents(store, 3);
  await until(async () => (await delivered(store)) === 2);
  assert.equal((await webhook(store)).enabled, true);
});

for (const [change, request] of [
  ['disabled', ['PATCH', { enabled: false }]],
  ['removed', ['DELETE', undefined]],
] as const) {
  for (const way of ['in this thread', 'from the thread that sends'] as const) {
    test(`after a response confirms that a webhook is ${change}, no attempt ${way} begins`, async (t) => {
      const { store, receiver } = await startWebhook(t);
      const sender = threadSender(testPolicy);
      t.after(() => sender.close());
      const sending = way === 'in this thread' ? {} : { sendBatch: sender.sendBatch };
      const { dispatcher } = startDispatcher(store, sending);
      const held: ServerResponse[] = [];
      receiver.behave = (_request, response) => {
        if (receiver.messages.length < 20) response.end();
        else held.push(response);
      };
      await addEvents(store, 80);
      await until(() => held.length === 1);
      const [method, body] = request;
      const { status } = await store.call(method, '/store/webhooks/1', { ...(body && { body }) });
      assert.ok(status === 200 || status === 204);
      held[0]?.end();
      await dispatcher.catchUp();
      assert.deepEqual(receiver.ids(), numbers(20));
      if (change !== 'disabled') return;
      assert.equal(await delivered(store), 20, 'what was sent is recorded');
      receiver.behave = answer(200);
      await store.call('PATCH', '/store/webhooks/1', { body: { enabled: true } });
      await until(() => receiver.messages.length === 80);
      assert.deepEqual(receiver.ids(), numbers(80));
    });
  }
}

test('several webhooks of a workspace get every event once, in order, from the sending thread', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const receivers = [await startReceiver(t), await startReceiver(t), await startReceiver(t)];
  const [, rude] = receivers;
  // It also closes connections on which it has answered.
  if (rude)
    rude.behave = (request, response) => response.end(() => setImmediate(() => request.socket.destroy()));
  for (const { url } of receivers) await addWebhook(store, url);
  const sender = threadSender(testPolicy);
  t.after(() => sender.close());
  startDispatcher(store, { sendBatch: sender.sendBatch });
  await addEvents(store, 200);
  await until(async () => (await delivered(store)) === 600);
  for (const receiver of receivers) assert.deepEqual(receiver.ids(), numbers(200));
  const attempts = await store.db.read`select attempts from deliveries`;
  for (const [text] of attempts) assert.equal(JSON.parse(String(text)).length, 1);
});

test('when the sending thread dies, its attempts fail, and the next one starts another', async (t) => {
  const receiver = await startReceiver(t);
  receiver.behave = () => {};
  const sender = threadSender(testPolicy);
  t.after(() => sender.close());
  const { signal } = new AbortController();
  const version = new Int32Array(new SharedArrayBuffer(4));
  const ping = { type: 'ping', timestamp: '2026-01-01T00:00:00.000Z', data: { webhookId: 1 } };
  const message = { id: 'evt_1', body: JSON.stringify(ping), traceparent: newTraceparent() };
  const batch = { url: receiver.url, secrets: ['whsec_AA=='], messages: [message] };
  const statuses: unknown[] = [];
  const sendOnce = () =>
    sender.sendBatch({ ...batch, version, asOf: 0 }, signal, ({ outcome }) => statuses.push(outcome.status));
  const first = sendOnce();
  await until(() => receiver.messages.length === 1);
  await Promise.all([assert.rejects(first, /The thread that sends to webhooks has ended/), sender.close()]);
  receiver.behave = answer(202);
  await sendOnce();
  assert.deepEqual(statuses, [202]);
});
