import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { startDispatcher, startReceiver } from './support/dispatching.ts';
import { temporaryFolder } from './support/folder.ts';
import { emptyDatabase, startInstances } from './support/instances.ts';
import type { Petstore } from './support/petstore.ts';
import { PostgresCluster, whyNoPostgres } from './support/postgres-cluster.ts';
import { petstore } from './support/service.ts';
import { until } from './support/until.ts';

const addCategory = (store: Petstore, name: string) => store.call('POST', '/categories', { body: { name } });
const idsOf = ({ messages }: { messages: { body: string }[] }) =>
  messages.map(({ body }) => JSON.parse(body).id);

suite('webhooks of several instances over one PostgreSQL', { skip: whyNoPostgres() }, () => {
  let cluster: PostgresCluster;
  before(async () => {
    cluster = await PostgresCluster.start();
  });
  after(() => cluster.remove());

  test('events that all of them write arrive once each, in order', async (t) => {
    const instances = await startInstances(t, await emptyDatabase(cluster));
    const receivers = [await startReceiver(t), await startReceiver(t)];
    for (const { url } of receivers)
      await instances[0].call('POST', '/store/webhooks', { body: { url, types: ['category.created'] } });
    for (const instance of instances) startDispatcher(instance);
    const writing = instances.map(async (instance, i) => {
      for (let n = 0; n < 30; n++) await addCategory(instance, `Category ${i} ${n}`);
    });
    await Promise.all(writing);
    await until(() => receivers.every(({ messages }) => messages.length >= 90));
    const { body } = await instances[0].call('GET', '/store/events?type=category.created&limit=100');
    const written = body.map(({ id }: { id: number }) => id);
    for (const receiver of receivers) assert.deepEqual(idsOf(receiver), written);
  });

  test('what an instance leaves at its stop another one takes up at once', async (t) => {
    const [first, second] = await startInstances(t, await emptyDatabase(cluster));
    const receiver = await startReceiver(t);
    receiver.behave = (_request, response) => setTimeout(() => response.end(), 20);
    await first.call('POST', '/store/webhooks', { body: { url: receiver.url } });
    const stopping = startDispatcher(first);
    for (let n = 0; n < 20; n++) await addCategory(first, `Category ${n}`);
    await until(() => receiver.messages.length >= 5);
    await stopping.stop();
    const sent = receiver.messages.length;
    assert.ok(sent < 20, 'it stopped in the middle');
    startDispatcher(second);
    await until(() => receiver.messages.length >= 20);
    const ids = idsOf(receiver);
    assert.deepEqual(
      ids,
      ids.toSorted((a, b) => a - b),
    );
    assert.equal(new Set(ids).size, 20);
  });

  test('serve refuses to share a database without PETSTORE_SECRET_KEY, in one line', async (t) => {
    const env = { DATABASE_URL: cluster.url, PETSTORE_SECRET_KEY: '', PETSTORE_DATA_DIR: temporaryFolder(t) };
    const { status, stdout, stderr } = petstore(['serve'], env);
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /^petstore: PETSTORE_SECRET_KEY must be set with DATABASE_URL.+\n$/);
  });
});
