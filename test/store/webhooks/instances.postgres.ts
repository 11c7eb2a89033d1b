import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { batchMs } from '../../../src/store/webhooks/send-batch.ts';
import { addCategory, addWebhook, startDispatcher, startReceiver } from '../../support/dispatching.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { emptyDatabase, patienceMs, startInstances } from '../../support/instances.ts';
import type { Petstore } from '../../support/petstore.ts';
import { PostgresCluster, whyNoPostgres } from '../../support/postgres-cluster.ts';
import { petstore } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { idsOf, numbers } from '../../support/values.ts';

suite('webhooks of several instances with one PostgreSQL', { skip: whyNoPostgres() }, () => {
  const cluster = PostgresCluster.ofSuite();

  test('the events of all instances arrive once each, in order', async (t) => {
    const instances = await startInstances(t, await emptyDatabase(cluster));
    const receivers = [await startReceiver(t), await startReceiver(t)];
    for (const { url } of receivers) await addWebhook(instances[0], url, { types: ['category.created'] });
    for (const instance of instances) startDispatcher(instance);
    const writing = instances.map(async (instance, i) => {
      for (let n = 0; n < 30; n++) await addCategory(instance, `Category ${i} ${n}`);
    });
    await Promise.all(writing);
    await until(() => receivers.every(({ messages }) => messages.length >= 90));
    const { body } = await instances[0].call('GET', '/store/events?type=category.created&limit=100');
    for (const receiver of receivers) assert.deepEqual(receiver.ids(), idsOf(body));
  });

  /** A webhook with many events to send. The receiver answers the fifth message and later ones only after `goOn`. */
  const startBacklog = async (t: TestContext, store: Petstore, count: number) => {
    const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
    const receiver = await startReceiver(t);
    receiver.behave = async (_request, response) => {
      if (receiver.messages.length >= 5) await mayGoOn;
      response.end();
    };
    await addWebhook(store, receiver.url);
    for (let n = 0; n < count; n++) await addCategory(store, `Category ${n}`);
    return { receiver, goOn };
  };
  const assertOnceInOrder = (receiver: { ids(): number[] }, count: number) => {
    const ids = receiver.ids();
    assert.deepEqual(ids, numbers(count, ids[0]));
  };

  test('after an instance stops, another one continues its work at once', async (t) => {
    const [first, second] = await startInstances(t, await emptyDatabase(cluster));
    const { receiver, goOn } = await startBacklog(t, first, 20);
    const stopping = startDispatcher(first, { graceMs: patienceMs });
    await until(() => receiver.messages.length >= 5);
    const stopped = stopping.stop();
    goOn();
    await stopped;
    assert.equal(receiver.messages.length, 5);
    startDispatcher(second);
    await until(() => receiver.messages.length >= 20);
    assertOnceInOrder(receiver, 20);
  });

  test('the sending instance follows changes that another instance made', async (t) => {
    const [first, second] = await startInstances(t, await emptyDatabase(cluster));
    const { receiver, goOn } = await startBacklog(t, first, 20);
    startDispatcher(first);
    await until(() => receiver.messages.length >= 5);
    await second.call('PATCH', '/store/webhooks/1', { body: { enabled: false } });
    // An instance reads the settings before each batch.
    await sleep(batchMs);
    goOn();
    await until(async () => (await second.db.read`select lease_owner from webhooks`)[0]?.[0] === null);
    assert.equal(receiver.messages.length, 5);
    await second.call('PATCH', '/store/webhooks/1', { body: { enabled: true } });
    await until(() => receiver.messages.length >= 20);
    assertOnceInOrder(receiver, 20);
  });

  test('serve refuses to share a database without PETSTORE_SECRET_KEY, in one line', async (t) => {
    const env = { DATABASE_URL: cluster.url, PETSTORE_SECRET_KEY: '', PETSTORE_DATA_DIR: temporaryFolder(t) };
    const { status, stdout, stderr } = petstore(['serve'], env);
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /^petstore: PETSTORE_SECRET_KEY must be set if DATABASE_URL is set.+\n$/);
  });
});
