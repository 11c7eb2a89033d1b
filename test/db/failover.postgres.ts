import assert from 'node:assert/strict';
import { after, before, suite, type TestContext, test } from 'node:test';
import { requestDeadlineMs } from '../../src/db/open.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { emptyDatabase, patienceMs, startInstance, untilStatus } from '../support/instances.ts';
import { type JsonAnswer, Petstore } from '../support/petstore.ts';
import { PostgresCluster, whyNoPostgres } from '../support/postgres-cluster.ts';
import { StallingProxy } from '../support/stalling-proxy.ts';
import { run } from '../support/storage.ts';
import { until } from '../support/until.ts';

/** The longest duration of a read or a write whose end a test awaits. */
const shortMs = 1_000;

const readiness = (instance: Petstore) => instance.send('GET', '/readyz', { key: null });
const isAnswered = ({ status }: JsonAnswer) => status < 300;
const place = (instance: Petstore) => instance.call('POST', '/store/orders', { body: {} });

/** This many concurrent reads use several connections. */
const manyReads = 40;

/** The value of a setting on each connection for reads. */
async function askReaders(instance: Petstore, setting: string): Promise<unknown[]> {
  const ask = () => instance.db.read`select current_setting(${setting})`;
  const answers = await Promise.all(Array.from({ length: manyReads }, ask));
  return answers.map(([row]) => row?.[0]);
}

suite('failover of PostgreSQL', { skip: whyNoPostgres() }, () => {
  let cluster: PostgresCluster;
  let standby: PostgresCluster;
  let url: string;
  /** Keys of two workspaces with pets. */
  const keys: string[] = [];
  before(async () => {
    cluster = await PostgresCluster.start();
    url = await emptyDatabase(cluster);
    const seed = async () => {
      const seeder = new Petstore(await openPostgres(url, patienceMs), '');
      for (const name of ['one', 'other']) keys.push((await seeder.addWorkspace(name, true)).key);
      await seeder.close();
    };
    [standby] = await Promise.all([cluster.addStandby(), seed()]);
  });
  after(() => Promise.all([standby, cluster].map((each) => each.remove())));

  /** An instance that runs until the test ends. */
  async function start(t: TestContext, deadlineMs: number, port = cluster.port): Promise<Petstore> {
    const instance = await startInstance(t, url.replace(`:${cluster.port}/`, `:${port}/`), deadlineMs);
    instance.key = keys[0] as string;
    return instance;
  }

  /** Makes existing sessions read-only, like those of a demoted server, but no new ones. */
  async function demoteSessions(t: TestContext): Promise<void> {
    const set = (system: string, role: string) =>
      run(cluster.url, `alter role postgres ${role}`, `alter system ${system}`, 'select pg_reload_conf()');
    await set('set default_transaction_read_only = on', 'set default_transaction_read_only = off');
    t.after(() => set('reset default_transaction_read_only', 'reset default_transaction_read_only'));
  }

  test('/readyz reports a read-only server, and then finds the writable one', async (t) => {
    const instance = await start(t, requestDeadlineMs);
    const { writes, commits } = instance.db.counts;
    await untilStatus(200, () => readiness(instance));
    assert.deepEqual([instance.db.counts.writes - writes, instance.db.counts.commits - commits], [1, 1]);
    await demoteSessions(t);
    await untilStatus(503, () => readiness(instance));
    await untilStatus(200, () => readiness(instance));
    assert.equal((await place(instance)).status, 201);
  });

  /** An instance behind a proxy, and requests that use several connections for reads and for writes at once. */
  async function startBehindProxy(t: TestContext, deadlineMs = shortMs) {
    const proxy = await StallingProxy.start(t, cluster.port);
    const instance = await start(t, deadlineMs, proxy.port);
    // Lists, because reads of single rows share a statement, and so a connection.
    const ask = () =>
      Promise.all([
        ...Array.from({ length: manyReads }, () => instance.call('GET', '/pets?limit=1')),
        place(instance),
        instance.call('POST', '/store/orders', { key: keys[1] as string, body: {} }),
      ]);
    // On a busy machine the first requests may time out.
    await until(async () => (await ask()).every(isAnswered));
    return { proxy, instance, ask };
  }

  test('one write that a read-only server refuses closes idle connections, and moves all reads and writes away', async (t) => {
    const { proxy, instance } = await startBehindProxy(t);
    // Saving limits would open a connection again.
    await instance.holdLimits();
    await demoteSessions(t);
    assert.ok(proxy.openCount > 4);
    const refused = await untilStatus(503, () => place(instance));
    assert.ok(Number(refused.headers['retry-after']) >= 1);
    await until(() => proxy.openCount === 0, 3_000);
    assert.equal((await place(instance)).status, 201);
    const isReadOnly = await askReaders(instance, 'default_transaction_read_only');
    assert.deepEqual([...new Set(isReadOnly)], ['off']);
  });

  test('one read, write or probe without a response is enough to drop all silent connections', async (t) => {
    const firsts = [(instance: Petstore) => instance.call('GET', '/pets/1'), place, readiness];
    const meetSilence = async (first: (instance: Petstore) => Promise<JsonAnswer>) => {
      // Long enough for a busy machine to open all connections again.
      const { proxy, instance, ask } = await startBehindProxy(t, 3 * shortMs);
      proxy.freeze();
      assert.equal((await first(instance)).status, 503);
      for (const answer of await ask()) assert.ok(isAnswered(answer), answer.text);
    };
    await Promise.all(firsts.map(meetSilence));
  });

  test('a slow statement costs only its own connection', async (t) => {
    const { proxy, instance, ask } = await startBehindProxy(t);
    const before = proxy.count;
    let isSlow = true;
    const slow = assert.rejects(instance.db.write((sql) => sql`select pg_sleep(2)::text`)).then(() => {
      isSlow = false;
    });
    while (isSlow) await ask();
    await slow;
    await ask();
    assert.ok(proxy.count <= before + 3, `${proxy.count - before} new connections`);
  });

  test('/readyz is 503 if the role may not write, and the log names the missing right', async (t) => {
    const schema = /search_path="(\w+)"/.exec(decodeURIComponent(url))?.[1];
    await run(
      url,
      `create role reader login password 'open-sesame'`,
      `grant usage on schema ${schema} to reader`,
      `grant select on all tables in schema ${schema} to reader`,
    );
    const instance = await startInstance(t, url.replace('//postgres:', '//reader:'), shortMs);
    assert.equal((await readiness(instance)).status, 503);
    const lines = instance.log.filter((line) => line.includes('"failed"'));
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /schema_version\. Grant UPDATE on it to the role of the service/);
  });

  async function waitForStandby(t: TestContext, names: string): Promise<void> {
    const set = (value: string) =>
      run(cluster.url, `alter system set synchronous_standby_names = '${value}'`, 'select pg_reload_conf()');
    if (names) t.after(() => set(''));
    await set(names);
  }

  test('the number of processes that wait for a standby stays bounded', async (t) => {
    const instance = await start(t, shortMs / 2);
    await waitForStandby(t, 'gone');
    let names = 0;
    const write = () =>
      instance.db.write(
        (sql) => sql`insert into workspaces (name, created_at_ms) values (${`more ${++names}`}, 0)`,
      );
    for (let i = 0; i < 5; i++) {
      const results = await Promise.allSettled(Array.from({ length: 8 }, write));
      for (const { status } of results) assert.equal(status, 'rejected');
    }
    const [row] = await instance.db.read`
      select count(*) from pg_stat_activity where wait_event = 'SyncRep'`;
    assert.ok(Number(row?.[0]) <= 20, `${row?.[0]} processes`);
    await waitForStandby(t, '');
    await untilStatus(201, () => place(instance));
  });

  test('/readyz of every instance is 503 while commits wait for a standby', async (t) => {
    const [one, two] = await Promise.all([start(t, shortMs), start(t, shortMs)]);
    await waitForStandby(t, 'gone');
    await untilStatus(503, () => readiness(one));
    for (const instance of [one, two]) {
      await untilStatus(503, () => readiness(instance));
      instance.aheadMs += 250;
      assert.equal((await readiness(instance)).status, 503);
    }
    await waitForStandby(t, '');
    for (const instance of [one, two]) await untilStatus(200, () => readiness(instance));
  });

  test('a standby serves no request and stops a start; after its promotion service resumes without lost writes', async (t) => {
    const proxy = await StallingProxy.start(t, cluster.port);
    const instance = await start(t, requestDeadlineMs, proxy.port);
    const answered = await place(instance);
    assert.equal(answered.status, 201);

    // A server that stops cleanly has sent everything to its standby.
    await cluster.stop('fast');
    proxy.targetPort = standby.port;
    await untilStatus(503, () => instance.call('GET', '/pets/1'));
    assert.equal((await place(instance)).status, 503);
    await untilStatus(503, () => readiness(instance));
    const refused = openPostgres(url.replace(`:${cluster.port}/`, `:${standby.port}/`), requestDeadlineMs);
    await assert.rejects(refused, /^Error: DATABASE_URL cannot be used: the server is a standby/);

    await standby.promote();
    await untilStatus(200, () => readiness(instance));
    const found = await instance.call('GET', `/store/orders/${answered.body.id}`);
    assert.deepEqual(found.body, answered.body);
    assert.equal((await place(instance)).body.id, answered.body.id + 1);
  });
});
