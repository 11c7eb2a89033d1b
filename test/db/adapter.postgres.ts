import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newStorageCounts } from '../../src/db/database.ts';
import { requestDeadlineMs } from '../../src/db/open.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { StorageUnavailableError } from '../../src/foundation/errors.ts';
import {
  allOrders,
  emptyDatabase,
  openDatabase,
  startInstance,
  startInstances,
  untilStatus,
  withStatus,
} from '../support/instances.ts';
import { listen, loggedIn, message, oddLogin, saying } from '../support/odd-postgres.ts';
import type { JsonAnswer, Petstore } from '../support/petstore.ts';
import { PostgresCluster, whyNoPostgres } from '../support/postgres-cluster.ts';
import { petstore } from '../support/service.ts';
import { StallingProxy } from '../support/stalling-proxy.ts';
import { run } from '../support/storage.ts';
import { until } from '../support/until.ts';
import { statusesOf } from '../support/values.ts';
import { assertDeclared, postgresCatalog } from './schema.ts';

/** Any request has its response by then, also on a busy machine: three times its own deadline. */
const answeredMs = 3 * requestDeadlineMs;

/** A seeded petstore at `url` that gives up after a second, and a connection at `direct` with a longer deadline. */
async function startImpatient(t: TestContext, url: string, direct = url) {
  const [seeded] = await startInstances(t, direct);
  const instance = await startInstance(t, url, 1_000);
  instance.key = seeded.key;
  return { instance, patient: seeded.db };
}

suite('PostgreSQL', { skip: whyNoPostgres() }, () => {
  const cluster = PostgresCluster.ofSuite();

  test('its tables are the declared ones, in an order that allows emptying a workspace', async (t) => {
    const db = await openDatabase(t, await emptyDatabase(cluster));
    await assertDeclared(db.read, postgresCatalog);
  });

  for (const mode of ['immediate', 'fast'] as const) {
    test(`PostgreSQL stops (${mode}) and restarts under load: requests get 503 meanwhile, and no acknowledged write is lost`, {}, async (t) => {
      const instances = await startInstances(t, await emptyDatabase(cluster), requestDeadlineMs);
      const [first] = instances;
      await first.call('PATCH', '/inventory/13', { body: { quantity: 1_000_000 } });
      const answers: JsonAnswer[] = [];
      const whileAway: JsonAnswer[] = [];
      let slowestMs = 0;
      let isAway = false;
      let isOver = false;
      const client = async (instance: Petstore) => {
        while (!isOver) {
          const startedMs = performance.now();
          const isSentWhileAway = isAway;
          const answer = await instance.call('POST', '/store/orders', { body: { petId: 13 } });
          slowestMs = Math.max(slowestMs, performance.now() - startedMs);
          answers.push(answer);
          if (isSentWhileAway && isAway) whileAway.push(answer);
          if (answer.status !== 201) await sleep(20);
        }
      };
      const clients = instances.flatMap((instance) => Array.from({ length: 8 }, () => client(instance)));
      const ready = async () => (await first.send('GET', '/readyz', { key: null })).status;
      while (answers.length < 100) await sleep(5);
      await cluster.stop(mode);
      assert.equal(await ready(), 503);
      isAway = true;
      await until(() => whileAway.length > 5 * clients.length);
      isAway = false;
      assert.deepEqual([...new Set(statusesOf(whileAway))], [503]);
      await cluster.start();
      while ((await ready()) !== 200) await sleep(20);
      const accepted = withStatus(answers, 201).length;
      while (withStatus(answers, 201).length < accepted + 100) await sleep(5);
      isOver = true;
      await Promise.all(clients);

      assert.deepEqual([...new Set(statusesOf(answers))].sort(), [201, 503]);
      for (const { headers } of withStatus(answers, 503)) assert.ok(Number(headers['retry-after']) >= 1);
      assert.ok(slowestMs < answeredMs, `${slowestMs} ms`);
      const orders = await allOrders(first);
      for (const { body } of withStatus(answers, 201)) assert.deepEqual(orders.get(body.id), body);
      const stock = (await first.call('GET', '/inventory/13')).body.quantity;
      const held = await first.db
        .read`select count(*) from orders where workspace_id = 1 and pet_id = 13 and id > 8`;
      assert.deepEqual(held, [[1_000_000 - stock]]);
    });
  }

  test('requests to a server that stops responding get 503 in time, and service resumes', async (t) => {
    const { port } = cluster;
    const proxy = await StallingProxy.start(t, port);
    const direct = await emptyDatabase(cluster);
    const url = direct.replace(`:${port}/`, `:${proxy.port}/`);
    const { instance } = await startImpatient(t, url, direct);
    await untilStatus(200, () => instance.call('GET', '/pets/1'));
    proxy.stall();
    const startedMs = performance.now();
    const [answers] = await Promise.all([
      Promise.all([
        instance.call('GET', '/pets/1'),
        instance.call('POST', '/store/orders', { body: {} }),
        instance.send('GET', '/readyz', { key: null }),
      ]),
      assert.rejects(openPostgres(url, 1_000), /DATABASE_URL cannot be used: timeout/),
    ]);
    for (const { status } of answers) assert.equal(status, 503);
    assert.ok(performance.now() - startedMs < answeredMs);
    proxy.resume();
    await untilStatus(200, () => instance.send('GET', '/readyz', { key: null }));
    const order = { body: {}, headers: { 'idempotency-key': 'once' } };
    const placed = await untilStatus(201, () => instance.call('POST', '/store/orders', order));
    assert.equal(placed.body.id, 9);
  });

  test('a server that asks for a login or sends an unknown message gives 503, and service resumes', async (t) => {
    const { port } = cluster;
    const proxy = await StallingProxy.start(t, port);
    const direct = await emptyDatabase(cluster);
    const { instance } = await startImpatient(t, direct.replace(`:${port}/`, `:${proxy.port}/`), direct);
    for (const words of [[oddLogin], [loggedIn, message('?')]]) {
      proxy.targetPort = Number(new URL(await listen(t, saying(words))).port);
      proxy.resume();
      await Promise.all([
        untilStatus(503, () => instance.call('GET', '/pets/1')),
        untilStatus(503, () => instance.call('POST', '/store/orders', { body: {} })),
        untilStatus(503, () => instance.send('GET', '/readyz', { key: null })),
      ]);
    }
    proxy.targetPort = port;
    await untilStatus(201, () => instance.call('POST', '/store/orders', { body: {} }));
  });

  test('a write to a locked row gets 503; reads continue, and later writes succeed', {}, async (t) => {
    const url = await emptyDatabase(cluster);
    const { instance, patient } = await startImpatient(t, url);
    const place = () => instance.call('POST', '/store/orders', { body: { petId: 1 } });
    await patient.write(async (sql) => {
      await sql`update pets set stock = stock where workspace_id = 1 and id = 1`;
      assert.equal((await place()).status, 503);
      await untilStatus(200, () => instance.call('GET', '/pets/1'));
    });
    await untilStatus(201, place);
  });

  test('a write waits for the lock of an instance that went silent, and then succeeds', async (t) => {
    const { promise: silence, resolve: endSilence } = Promise.withResolvers<void>();
    const { promise: holds, resolve: hold } = Promise.withResolvers<void>();
    t.after(() => endSilence());
    const url = await emptyDatabase(cluster);
    const silent = await openDatabase(t, url, requestDeadlineMs);
    const other = await openDatabase(t, url);
    const cause = { workspaceId: 1, atMs: 0 };
    const lost = assert.rejects(
      silent.write(async (sql) => {
        await sql`select 1`;
        hold();
        await silence;
        await sql`select 1`;
      }, cause),
      StorageUnavailableError,
    );
    await holds;
    assert.deepEqual(await other.write((sql) => sql`select 1`, cause), [[1]]);
    endSilence();
    await lost;
  });

  test('on a read-only database writes get 503 and reads work', async (t) => {
    const url = await emptyDatabase(cluster);
    const [{ key }] = await startInstances(t, url);
    const readOnlyUrl = `${url}%20-cdefault_transaction_read_only%3Don`;
    const instance = await startInstance(t, readOnlyUrl, requestDeadlineMs);
    instance.key = key;
    assert.equal((await instance.call('GET', '/pets/1')).status, 200);
    assert.equal((await instance.call('POST', '/store/orders', { body: {} })).status, 503);
    assert.equal((await instance.send('GET', '/readyz', { key: null })).status, 503);
    assert.equal((await instance.call('GET', '/pets/1')).status, 200);
  });

  test('a role with a connection limit serves more concurrent requests than it has connections', async (t) => {
    const { url } = cluster;
    await openDatabase(t, url);
    await run(
      url,
      `create role guest login password 'open-sesame' connection limit 2`,
      'grant select, update on all tables in schema public to guest',
    );
    const db = await openDatabase(t, url.replace('//postgres:', '//guest:'));
    await Promise.all(Array.from({ length: 40 }, () => db.read`select 1 from workspaces`));
  });

  test('a database that is newer than the code is refused with one clear line', async (t) => {
    const url = await emptyDatabase(cluster);
    await openDatabase(t, url);
    await run(url, 'update schema_version set version = 4711');
    await assert.rejects(openPostgres(url, requestDeadlineMs), /version 4711.*newer Petstore/);
  });

  test('a transaction that caught a failed statement is not reported as committed', async (t) => {
    const db = await openDatabase(t, await emptyDatabase(cluster));
    const write = db.write(async (sql) => {
      await sql`insert into workspaces (name, created_at_ms) values ('a', 0)`;
      await sql`select 1 / 0`.catch(() => {});
    });
    await assert.rejects(write, /division by zero/);
    assert.deepEqual(await db.read`select name from workspaces`, []);
  });

  test('BEGIN travels with the first statement, and every statement is counted', async (t) => {
    const db = await openDatabase(t, await emptyDatabase(cluster));
    await db.write((sql) => sql`insert into workspaces (name, created_at_ms) values ('a', 0)`);
    await db.read`select name from workspaces`;
    assert.deepEqual(db.counts, { ...newStorageCounts(), reads: 1, writes: 1, commits: 1, statements: 4 });
  });

  test('an error in DATABASE_URL is reported in one line without its password', async () => {
    const { url, port } = cluster;
    const wrong = [
      url.replace('open-sesame', 'hush-hush'),
      `postgres://postgres:hush-hush@127.0.0.1:${port}/nowhere`,
      url.replace('/postgres', '/nowhere'),
      'postgres://postgres:hush-hush@localhost:1/postgres',
      'postgres://postgres:hush-hush@no.such.host.invalid/postgres',
      'postgres:hush-hush@localhost:5432/postgres',
    ];
    for (const databaseUrl of wrong) {
      const env = { DATABASE_URL: databaseUrl, PETSTORE_START_WAIT: '0' };
      const { status, stdout, stderr } = petstore(['serve'], env);
      assert.deepEqual([status, stdout], [1, ''], stderr);
      assert.match(stderr, /^petstore: DATABASE_URL .+\n$/);
      assert.doesNotMatch(stderr, /hush|sesame/);
    }
  });
});
