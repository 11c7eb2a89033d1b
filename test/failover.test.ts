import assert from 'node:assert/strict';
import { after, before, suite, type TestContext, test } from 'node:test';
import { openPostgres } from '../src/db/postgres.ts';
import { requestDeadlineMs } from '../src/storage.ts';
import { emptyDatabase, startInstances, untilStatus } from './support/instances.ts';
import { Petstore } from './support/petstore.ts';
import { PostgresCluster, whyNoPostgres } from './support/postgres-cluster.ts';
import { StallingProxy } from './support/stalling-proxy.ts';
import { run } from './support/storage.ts';

const readiness = (instance: Petstore) => instance.send('GET', '/readyz', { key: null });
const place = (instance: Petstore) => instance.call('POST', '/store/orders', { body: {} });

/** What the connections for reads say, as many as there are, and more. */
async function askReaders(instance: Petstore, setting: string): Promise<unknown[]> {
  const ask = () => instance.db.read`select current_setting(${setting}), pg_sleep(0.01)::text`;
  const answers = await Promise.all(Array.from({ length: 8 }, ask));
  return answers.map(([row]) => row?.[0]);
}

suite('failover of PostgreSQL', { skip: whyNoPostgres() }, () => {
  let cluster: PostgresCluster;
  before(async () => {
    cluster = await PostgresCluster.start();
  });
  after(() => cluster.remove());

  /** Makes sessions that are there read-only, as those of a server that was demoted, and no other. */
  async function demoteSessions(t: TestContext): Promise<void> {
    const set = (system: string, role: string) =>
      run(cluster.url, `alter role postgres ${role}`, `alter system ${system}`, 'select pg_reload_conf()');
    await set('set default_transaction_read_only = on', 'set default_transaction_read_only = off');
    t.after(() => set('reset default_transaction_read_only', 'reset default_transaction_read_only'));
  }

  test('one write that a read-only server refuses makes all writes and reads leave it', async (t) => {
    const [instance] = await startInstances(t, await emptyDatabase(cluster), requestDeadlineMs);
    await askReaders(instance, 'server_version');
    await Promise.all(Array.from({ length: 20 }, () => place(instance)));
    await demoteSessions(t);
    const refused = await untilStatus(503, () => place(instance));
    assert.ok(Number(refused.headers['retry-after']) >= 1);
    assert.equal((await place(instance)).status, 201);
    const isReadOnly = await askReaders(instance, 'default_transaction_read_only');
    assert.deepEqual([...new Set(isReadOnly)], ['off']);
  });

  test('/readyz says that nothing can be written, and finds the server that can be', async (t) => {
    const [instance] = await startInstances(t, await emptyDatabase(cluster), requestDeadlineMs);
    await untilStatus(200, () => readiness(instance));
    await demoteSessions(t);
    await untilStatus(503, () => readiness(instance));
    await untilStatus(200, () => readiness(instance));
    assert.equal((await place(instance)).status, 201);
  });

  test('one connection on which the server is silent is enough to leave all that lead there', async (t) => {
    const proxy = await StallingProxy.start(t, cluster.port);
    const direct = await emptyDatabase(cluster);
    const [{ key }] = await startInstances(t, direct);
    const url = direct.replace(`:${cluster.port}/`, `:${proxy.port}/`);
    const instance = new Petstore(await openPostgres(url, 1_000), '');
    t.after(() => instance.close());
    instance.key = key;
    const other = await instance.addWorkspace('other', true);
    const ask = () =>
      Promise.all([
        ...Array.from({ length: 8 }, () => instance.call('GET', '/pets/1')),
        place(instance),
        instance.call('POST', '/store/orders', { key: other.key, body: {} }),
      ]);
    await ask();
    proxy.freeze();
    await untilStatus(503, () => place(instance));
    for (const { status, text } of await ask()) assert.ok(status === 200 || status === 201, text);
  });

  test('/readyz of every instance tells that commits wait for a standby, until they do not', async (t) => {
    const [one, two] = await startInstances(t, await emptyDatabase(cluster), requestDeadlineMs);
    const waitFor = (names: string) =>
      run(cluster.url, `alter system set synchronous_standby_names = '${names}'`, 'select pg_reload_conf()');
    t.after(() => waitFor(''));
    await waitFor('gone');
    await untilStatus(503, () => readiness(one));
    for (const instance of [one, two]) {
      await untilStatus(503, () => readiness(instance));
      instance.aheadMs += 250;
      assert.equal((await readiness(instance)).status, 503);
    }
    await waitFor('');
    for (const instance of [one, two]) await untilStatus(200, () => readiness(instance));
  });

  test('a standby answers no request and stops a start; once it is promoted, service resumes with all that was answered', async (t) => {
    const standby = await cluster.addStandby();
    t.after(() => standby.remove());
    const proxy = await StallingProxy.start(t, cluster.port);
    const direct = await emptyDatabase(cluster);
    const urlAt = (port: number) => direct.replace(`:${cluster.port}/`, `:${port}/`);
    const url = urlAt(proxy.port);
    const [{ key }] = await startInstances(t, direct, requestDeadlineMs);
    const instance = new Petstore(await openPostgres(url, requestDeadlineMs), '');
    t.after(() => instance.close());
    instance.key = key;
    const answered = await place(instance);
    assert.equal(answered.status, 201);

    // A server that is stopped keeps nothing from its standby.
    await cluster.stop('fast');
    proxy.targetPort = standby.port;
    await untilStatus(503, () => instance.call('GET', '/pets/1'));
    assert.equal((await place(instance)).status, 503);
    await untilStatus(503, () => readiness(instance));
    const start = openPostgres(urlAt(standby.port), requestDeadlineMs);
    await assert.rejects(start, /^Error: DATABASE_URL cannot be used: the server is a standby/);

    await standby.promote();
    await untilStatus(200, () => readiness(instance));
    const found = await instance.call('GET', `/store/orders/${answered.body.id}`);
    assert.deepEqual(found.body, answered.body);
    assert.equal((await place(instance)).body.id, answered.body.id + 1);
  });
});
