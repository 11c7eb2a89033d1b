import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/db/database.ts';
import { prepareDemo, seedWorkspace } from '../../src/store/demo/seed.ts';
import { placeOrder } from '../../src/store/resources/orders/store.ts';
import { clearWorkspace, deleteWorkspace, listWorkspaces } from '../../src/store/workspaces/store.ts';
import { filledTables } from '../support/content.ts';
import { temporaryFolder } from '../support/folder.ts';
import {
  allOrders,
  emptyDatabase,
  load,
  openDatabase,
  startInstances,
  withStatus,
} from '../support/instances.ts';
import { fetchChecked, type JsonAnswer } from '../support/petstore.ts';
import { PostgresCluster, whyNoPostgres } from '../support/postgres-cluster.ts';
import { ampleKey, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { numbers } from '../support/values.ts';

suite('several instances with one PostgreSQL', { skip: whyNoPostgres() }, () => {
  const cluster = PostgresCluster.ofSuite();

  test('five instances that start at once on an empty database migrate it once', async (t) => {
    for (let round = 0; round < 5; round++) {
      const url = await emptyDatabase(cluster);
      const databases = await Promise.all(Array.from({ length: 5 }, () => openDatabase(t, url)));
      for (const db of databases) {
        assert.deepEqual(await db.read`select count(*) from workspaces`, [[0]]);
        assert.equal((await db.read`select id from schema_version`).length, 1);
      }
    }
  });

  test('demo data that five instances prepare at once is seeded once', async (t) => {
    const url = await emptyDatabase(cluster);
    const databases = await Promise.all(Array.from({ length: 5 }, () => openDatabase(t, url)));
    const shared = temporaryFolder(t);
    const keys = await Promise.all(databases.map((db) => prepareDemo(db, shared, 0)));
    assert.equal(new Set(keys).size, 1);
    const own = await Promise.all(databases.map((db) => prepareDemo(db, temporaryFolder(t), 0)));
    assert.equal(new Set(own).size, 5, 'a folder of its own gets a key of its own');
    const workspaces = await listWorkspaces((databases[0] as Database).read);
    assert.deepEqual(
      workspaces.map(({ name, pets, orders, keys }) => [name, pets, orders, keys]),
      [['demo', 20, 8, 6]],
    );
  });

  test('1,000 orders on a stock of 100, sent to three instances: exactly 100 are accepted', async (t) => {
    const instances = await startInstances(t, await emptyDatabase(cluster));
    const [first, second] = instances;
    await first.call('PATCH', '/inventory/1', { body: { quantity: 100 } });
    // As many clients as connections for writes: on a busy machine a client that waits for a connection gets 503.
    const answers = await load(instances, { clients: 24, requests: 1000 }, (instance) =>
      instance.call('POST', '/store/orders', { body: { petId: 1 } }),
    );
    assert.equal(withStatus(answers, 201).length, 100);
    assert.equal(answers.filter(({ body }) => body.code === 'insufficient_stock').length, 900);
    assert.deepEqual((await second.call('GET', '/inventory/1')).body, {
      petId: 1,
      quantity: 0,
      status: 'pending',
    });
  });

  test('one Idempotency-Key sent to three instances at once creates one thing', async (t) => {
    const instances = await startInstances(t, await emptyDatabase(cluster));
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      const request = { body: { name: 'Zed', categoryId: 1 }, headers: { 'idempotency-key': key } };
      const answers = await load(instances, { clients: 12, requests: 12 }, (instance) =>
        instance.call('POST', '/pets', request),
      );
      const created = withStatus(answers, 201);
      assert.equal(created.filter(({ headers }) => !('idempotency-replayed' in headers)).length, 1);
      assert.equal(new Set(created.map(({ text }) => text)).size, 1);
      assert.ok(withStatus(answers, 409).every(({ body }) => body.code === 'idempotency_key_in_use'));
      assert.equal(created.length + withStatus(answers, 409).length, 12);
    }
    assert.equal((await instances[0].call('GET', '/pets?limit=100')).body.length, 25);
  });

  test('ids from several instances are unique and have no gap', async (t) => {
    const instances = await startInstances(t, await emptyDatabase(cluster));
    const answers = await load(instances, { clients: 24, requests: 120 }, (instance) =>
      instance.call('POST', '/categories', { body: { name: 'Dragons' } }),
    );
    const ids = answers.map(({ body }) => body.id).sort((a, b) => a - b);
    assert.deepEqual(ids, numbers(120, 8));
  });

  test('if a category is deleted while it gets a pet, one of the two requests is refused as described', async (t) => {
    const [first, second] = await startInstances(t, await emptyDatabase(cluster));
    for (let round = 0; round < 40; round++) {
      const { id: categoryId } = (await first.call('POST', '/categories', { body: { name: 'Dragons' } }))
        .body;
      const [gone, come] = await Promise.all([
        first.call('DELETE', `/categories/${categoryId}`),
        second.call('POST', '/pets', { body: { name: 'Smaug', categoryId } }),
      ]);
      const outcome = [gone.status, come.status, gone.body?.code ?? come.body.code].join(' ');
      assert.ok(['204 400 invalid_reference', '409 201 conflict'].includes(outcome), outcome);
    }
  });

  test('a pet with an unknown category is refused at once, without another run', async (t) => {
    const [instance] = await startInstances(t, await emptyDatabase(cluster));
    const { status, body } = await instance.call('POST', '/pets', {
      body: { name: 'Smaug', categoryId: 4711 },
    });
    assert.deepEqual([status, body.code, instance.db.counts.reruns], [400, 'invalid_reference', 0]);
  });

  test('concurrent changes that lock rows in different orders all succeed', async (t) => {
    const [first, second] = await startInstances(t, await emptyDatabase(cluster));
    const { promise: bothHoldOne, resolve } = Promise.withResolvers<void>();
    let holding = 0;
    const swap = (db: Database, from: number, to: number) =>
      db.write(async (sql) => {
        await sql`update pets set stock = stock where workspace_id = 1 and id = ${from}`;
        if (++holding === 2) resolve();
        await bothHoldOne;
        await sql`update pets set stock = stock + 1 where workspace_id = 1 and id = ${to}`;
      });
    await Promise.all([swap(first.db, 1, 2), swap(second.db, 2, 1)]);
    const stocks = await first.db
      .read`select stock from pets where workspace_id = 1 and id in (1, 2) order by id`;
    assert.deepEqual(stocks, [[5], [3]]);
    assert.ok(first.db.counts.reruns + second.db.counts.reruns >= 1);
  });

  test('after a workspace is deleted while others write to it, no row of it remains', async (t) => {
    const instances = await startInstances(t, await emptyDatabase(cluster));
    const { key, workspaceId } = await instances[0].addWorkspace('second', true);
    let sent = 0;
    const writing = load(instances, { clients: 16, requests: 200 }, (instance, n) => {
      sent = n;
      return n % 2
        ? instance.call('POST', '/store/orders', { key, body: {}, headers: { 'idempotency-key': `k${n}` } })
        : instance.call('POST', '/pets', { key, body: { name: 'Zed', categoryId: 1 } });
    });
    // Only a few: without the workspace they count as guesses of a key, which have a limit.
    while (sent < 160) await sleep(1);
    await instances[1].change((sql) => deleteWorkspace(sql, workspaceId), workspaceId);
    const answers = await writing;
    for (const { status } of answers) assert.ok([201, 400, 401].includes(status), String(status));
    // An instance may have saved the account of the key once more. It is removed the next day.
    const filled = await filledTables(instances[0].db.read, workspaceId);
    const left = filled.filter((table) => table !== 'limit_accounts');
    assert.deepEqual(left, []);
  });

  /** Waits until a statement waits for a lock of another transaction. */
  const untilOneWaits = ({ read }: Database) =>
    until(async () => (await read`select 1 from pg_locks where not granted`).length > 0);

  for (const [kind, isNew] of [
    ['an order', false],
    ['the first order of a workspace', true],
  ] as const) {
    /** Two instances and an empty workspace. If they are new, it has no orders yet. */
    const start = async (t: TestContext) => {
      const [first, second] = await startInstances(t, await emptyDatabase(cluster));
      const { key, workspaceId } = await first.addWorkspace('second', false);
      if (isNew) {
        await first.db.write(
          (sql) => sql`delete from sequences where workspace_id = ${workspaceId} and kind = 'orders'`,
        );
      }
      const orders = () =>
        first.db.read`select id from orders where workspace_id = ${workspaceId} order by id`;
      /** Places an order and starts `action` before the order is committed. */
      const placingMeanwhile = async (action: () => Promise<unknown>) => {
        let acting: Promise<unknown> | undefined;
        await first.change(async (sql) => {
          await placeOrder(sql, workspaceId, {});
          acting ??= action();
          await untilOneWaits(first.db);
        }, workspaceId);
        await acting;
      };
      return { first, second, key, workspaceId, orders, placingMeanwhile };
    };

    test(`${kind} that is created while its workspace is deleted is deleted too`, async (t) => {
      const { second, workspaceId, orders, placingMeanwhile } = await start(t);
      await placingMeanwhile(() => second.change((sql) => deleteWorkspace(sql, workspaceId), workspaceId));
      assert.deepEqual(await orders(), []);
      assert.deepEqual(await second.db.read`select id from workspaces where id = ${workspaceId}`, []);
    });

    test(`${kind} that is created while its workspace is reset is removed with the old data`, async (t) => {
      const { second, workspaceId, orders, placingMeanwhile } = await start(t);
      await placingMeanwhile(() =>
        second.change(async (sql) => {
          await clearWorkspace(sql, workspaceId);
          await seedWorkspace(sql, workspaceId);
        }, workspaceId),
      );
      assert.deepEqual(await orders(), [[1], [2], [3], [4], [5], [6], [7], [8]]);
    });

    test(`${kind} that is requested while its workspace is deleted gets 401 and is not kept`, async (t) => {
      const { first, second, key, workspaceId, orders } = await start(t);
      let placing: Promise<JsonAnswer> | undefined;
      await first.change(async (sql) => {
        await deleteWorkspace(sql, workspaceId);
        placing ??= second.call('POST', '/store/orders', { key, body: {} });
        await untilOneWaits(first.db);
      }, workspaceId);
      assert.equal((await placing)?.status, 401);
      assert.deepEqual(await orders(), []);
      const kinds = await first.db.read`select kind from sequences where workspace_id = ${workspaceId}`;
      assert.deepEqual(kinds, []);
    });
  }

  test('a workspace keeps its invariants if it is reset while others write to it', async (t) => {
    const instances = await startInstances(t, await emptyDatabase(cluster));
    let sent = 0;
    const writing = load(instances, { clients: 16, requests: 400 }, (instance, n) => {
      sent = n;
      return instance.call('POST', '/store/orders', { body: { petId: 13 } });
    });
    while (sent < 100) await sleep(1);
    await instances[1].change(async (sql) => {
      await clearWorkspace(sql, 1);
      await seedWorkspace(sql, 1);
    });
    for (const { status } of await writing) assert.ok([201, 400, 409].includes(status), String(status));
    const { quantity } = (await instances[0].call('GET', '/inventory/13')).body;
    const orders = [...(await allOrders(instances[0])).values()];
    assert.equal(orders.length - 8, 28 - quantity, 'stock and orders add up');
  });

  test('kill -9 of one of two instances under load loses no acknowledged write', async (t) => {
    const env = { DATABASE_URL: await emptyDatabase(cluster), LOG_LEVEL: 'warn' };
    const folder = temporaryFolder(t);
    const services = [await startService(t, folder, env), await startService(t, folder, env)] as const;
    const key = await ampleKey(folder, env);
    await fetchChecked(services[0].origin, 'PATCH', '/inventory/13', { key, body: { quantity: 1_000_000 } });
    const answered: JsonAnswer[] = [];
    let isKilled = false;
    const client = async (origin: string) => {
      while (!isKilled || answered.length < 400) {
        const answer = await fetchChecked(origin, 'POST', '/store/orders', { key, body: { petId: 13 } });
        assert.equal(answer.status, 201);
        answered.push(answer);
      }
    };
    const victims = Array.from({ length: 8 }, () =>
      client(services[0].origin).catch((error) => assert.ok(error instanceof TypeError, String(error))),
    );
    const others = Array.from({ length: 8 }, () => client(services[1].origin));
    while (answered.length < 200) await sleep(5);
    await services[0].stop('SIGKILL');
    isKilled = true;
    await Promise.all([...victims, ...others]);

    const db = await openDatabase(t, env.DATABASE_URL);
    const stored = await db.read`select id from orders where workspace_id = 1 and pet_id = 13 and id > 8`;
    const ids = new Set(stored.map(([id]) => id));
    for (const { body } of answered) assert.ok(ids.has(body.id));
    const [stock] = await db.read`select stock from pets where workspace_id = 1 and id = 13`;
    assert.deepEqual(stock, [1_000_000 - stored.length]);
  });
});
