/** What happens while PostgreSQL has no connection slot to spare. */
import assert from 'node:assert/strict';
import { after, before, suite, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client } from 'pg';
import { requestDeadlineMs } from '../../src/db/open.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { emptyDatabase, holdLocks, startInstance, untilStatus } from '../support/instances.ts';
import { type JsonAnswer, Petstore } from '../support/petstore.ts';
import { PostgresCluster, whyNoPostgres } from '../support/postgres-cluster.ts';
import { StallingProxy } from '../support/stalling-proxy.ts';
import { run } from '../support/storage.ts';
import { until } from '../support/until.ts';
import { statusesOf } from '../support/values.ts';

const slots = 16;
/** More than the connections of a pool. */
const clients = 40;

suite('PostgreSQL without a free connection slot', { skip: whyNoPostgres() }, () => {
  let cluster: PostgresCluster;
  before(async () => {
    cluster = await PostgresCluster.start(`-c max_connections=${slots} -c max_wal_senders=0`);
    await run(cluster.directUrl, `create role guest login password 'open-sesame'`);
  });
  after(() => cluster.remove());

  /** A petstore that uses PostgreSQL with a role without reserved slots, through a proxy that counts connections. */
  async function start(t: TestContext) {
    const direct = await emptyDatabase(cluster);
    const seeded = new Petstore(await openPostgres(direct, requestDeadlineMs), '');
    const { key } = await seeded.addWorkspace('first', true);
    await seeded.close();
    const schema = /test_\d+/.exec(direct)?.[0];
    await run(
      direct,
      `grant usage on schema ${schema} to guest`,
      `grant select, insert, update, delete on all tables in schema ${schema} to guest`,
    );
    const proxy = await StallingProxy.start(t, cluster.port);
    const asGuest = direct.replace('//postgres:', '//guest:');
    const url = asGuest.replace(`:${cluster.port}/`, `:${proxy.port}/`);
    const instance = await startInstance(t, url, requestDeadlineMs);
    instance.key = key;
    const notices: string[] = [];
    instance.db.onNotice = (notice) => notices.push(notice);
    return { instance, proxy, notices, occupy: () => occupy(t, asGuest, proxy) };
  }

  /** The connections of the role on the server, including those that are ending. */
  const countOnServer = async () =>
    (await run(cluster.directUrl, `select from pg_stat_activity where usename = 'guest'`)).length;

  /** Occupies every free slot, and returns a function that frees them. */
  async function occupy(t: TestContext, url: string, proxy: StallingProxy): Promise<() => Promise<void>> {
    // Connections that the start closed free their slots a moment later.
    await until(async () => (await countOnServer()) === proxy.openCount);
    const others: Client[] = [];
    const free = async () => {
      await Promise.all(others.splice(0).map((client) => client.end()));
    };
    t.after(free);
    for (;;) {
      const client = new Client({ connectionString: url });
      client.on('error', () => {});
      try {
        await client.connect();
        others.push(client);
      } catch (error) {
        assert.equal((error as { code?: string }).code, '53300');
        return free;
      }
    }
  }

  // A list: reads of single rows share a statement, and so a connection.
  const get = (instance: Petstore) => instance.call('GET', '/pets?limit=1');
  const post = (instance: Petstore) => instance.call('POST', '/categories', { body: { name: 'Dragons' } });
  const together = (ask: () => Promise<JsonAnswer>) =>
    Promise.all(Array.from({ length: clients }, ask)).then((answers) =>
      [...new Set(statusesOf(answers))].join(),
    );

  test('reads and writes share the only open connection, and the log says so once', async (t) => {
    const { instance, proxy, notices, occupy } = await start(t);
    await instance.db.read`select 1`;
    const free = await occupy();
    const openedBefore = proxy.count;
    for (let round = 0; round < 3; round++) {
      const statuses = await Promise.all([together(() => get(instance)), together(() => post(instance))]);
      assert.deepEqual(statuses, ['200', '201']);
    }
    assert.equal((await instance.send('GET', '/readyz', { key: null })).status, 200);
    assert.equal(notices.length, 1, notices.join());
    assert.match(notices[0] as string, /^PostgreSQL refuses further connections/);
    // The first requests may try as many connections as the pools have places. After that, two a second may try.
    assert.ok(proxy.count - openedBefore < clients, `${proxy.count - openedBefore} were opened`);
    // A connection that was just refused may still be closing.
    await until(() => proxy.openCount === 1);
    await free();
    await until(async () => {
      assert.equal(await together(() => get(instance)), '200');
      return proxy.openCount > 1;
    });
  });

  test('a transaction that waits for a lock on the only connection delays others, but fails none', async (t) => {
    const { instance, occupy } = await start(t);
    await instance.db.read`select 1`;
    await occupy();
    const release = await holdLocks(instance.db, { atMs: 0, workspaceId: undefined });
    const answers = Promise.all([get(instance), post(instance)]);
    let isAnswered = false;
    void answers.then(() => (isAnswered = true));
    await nextTurn();
    assert.equal(isAnswered, false);
    await release();
    assert.deepEqual(statusesOf(await answers), [200, 201]);
  });

  test('reads do not keep a write from the only connection', async (t) => {
    const { instance, occupy } = await start(t);
    await instance.db.read`select 1`;
    await occupy();
    let isOver = false;
    const reading = async () => {
      while (!isOver) await instance.db.read`select pg_sleep(0.005)`;
    };
    const readers = Array.from({ length: clients }, reading);
    for (let n = 0; n < 10; n++) assert.equal((await post(instance)).status, 201);
    isOver = true;
    await Promise.all(readers);
  });

  test('without any connection requests get 503 at once, few connections are tried, and service resumes', async (t) => {
    const { instance, proxy, occupy } = await start(t);
    const free = await occupy();
    const openedBefore = proxy.count;
    const startedMs = performance.now();
    for (let round = 0; round < 5; round++) {
      assert.equal(await together(() => get(instance)), '503');
      assert.equal(await together(() => post(instance)), '503');
      const reads = Array.from({ length: clients }, () => instance.db.read`select 1`);
      for (const { status } of await Promise.allSettled(reads)) assert.equal(status, 'rejected');
    }
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs < requestDeadlineMs, `${tookMs} ms`);
    const tried = proxy.count - openedBefore;
    assert.ok(tried < clients, `${tried} were tried in ${tookMs} ms`);
    await free();
    await untilStatus(200, () => get(instance));
    await untilStatus(201, () => post(instance));
  });
});
