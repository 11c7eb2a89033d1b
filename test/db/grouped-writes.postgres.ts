import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client } from 'pg';
import { type PendingWrite, WriteQueue } from '../../src/db/group-commit.ts';
import { allocateIds } from '../../src/db/ids.ts';
import { requestDeadlineMs } from '../../src/db/open.ts';
import { StorageUnavailableError } from '../../src/foundation/errors.ts';
import { emptyDatabase, holdLocks, load, startInstance, startInstances } from '../support/instances.ts';
import type { Petstore } from '../support/petstore.ts';
import { PostgresCluster, whyNoPostgres } from '../support/postgres-cluster.ts';
import { StallingProxy } from '../support/stalling-proxy.ts';
import { until } from '../support/until.ts';
import { numbers, statusesOf } from '../support/values.ts';

const cause = { atMs: 0, workspaceId: 1 };
/** The wait for a lock is three fifths of it. */
const impatientMs = 1_500;

/** A petstore that knows the key, with connections that have written and prepared nothing yet. */
async function startAfresh(t: TestContext, url: string, key: string, deadlineMs: number): Promise<Petstore> {
  const instance = await startInstance(t, url, deadlineMs);
  instance.key = key;
  assert.equal((await instance.call('GET', '/pets/1')).status, 200);
  return instance;
}

suite('concurrent writes to PostgreSQL', { skip: whyNoPostgres() }, () => {
  const cluster = PostgresCluster.ofSuite();

  test('1,000 concurrent pets in one workspace are all created, in few commits, each with its event', async (t) => {
    const [instance] = await startInstances(t, await emptyDatabase(cluster));
    const { commits } = instance.db.counts;
    const answers = await load([instance], { clients: 1_000, requests: 1_000 }, (_, n) =>
      instance.call('POST', '/pets', { body: { name: `Pet ${n}`, categoryId: 1 } }),
    );
    assert.deepEqual([...new Set(statusesOf(answers))], [201]);
    assert.ok(instance.db.counts.commits - commits < 200, `${instance.db.counts.commits - commits} commits`);
    const names = new Map(answers.map(({ body }) => [body.id, body.name]));
    assert.equal(names.size, 1_000);
    for (const [id, name] of await instance.db.read`select id, name from pets where id > 20`) {
      assert.equal(names.get(id), name);
    }
    const recorded = await instance.db.read`
      select count(*), max(id) - min(id) from events where type = 'pet.created' and workspace_id = 1 and data like '%"Pet %'`;
    assert.deepEqual(recorded, [[1_000, 999]]);
  });

  test('a refused write does not affect the other writes of its group', async (t) => {
    const [instance] = await startInstances(t, await emptyDatabase(cluster));
    const pet = (name: string, categoryId = 1) => ({
      body: { name, categoryId },
      headers: { 'idempotency-key': name.replace(' ', '-') },
    });
    const calls = [
      (n: number) => instance.call('POST', '/pets', pet(`good ${n}`)),
      (n: number) => instance.call('POST', '/pets', pet(`bad ${n}`, 4711)),
      () => instance.call('DELETE', '/pets/4711'),
      () => instance.call('POST', '/store/orders', { body: { petId: 1, quantity: 100_000 } }),
      (n: number) => instance.call('PATCH', '/inventory/13', { body: { quantity: 5_000 + n } }),
    ];
    const rounds = numbers(40, 0);
    const answers = await Promise.all(rounds.flatMap((n) => calls.map((call, i) => call(5 * n + i))));
    assert.deepEqual(
      statusesOf(answers),
      rounds.flatMap(() => [201, 400, 404, 409, 200]),
    );
    const accepted = await instance.db.read`select count(*) from pets where name like 'good %'`;
    assert.deepEqual(accepted, [[40]], 'what was accepted is there once');
    assert.equal((await instance.call('GET', '/inventory/13')).body.quantity, 5_199, 'in the order sent');
    const again = await instance.call('POST', '/pets', pet('bad 1'));
    assert.equal(again.status, 201, 'a refusal leaves its Idempotency-Key unused');
  });

  test('a statement that fails does not affect the writes sent after it', async (t) => {
    const url = await emptyDatabase(cluster);
    const [{ key }] = await startInstances(t, url);
    const instance = await startAfresh(t, url, key, requestDeadlineMs);
    const create = (path: string, body: object) => instance.call('POST', path, { body });
    const answers = await Promise.all([
      create('/pets', { name: 'Smaug', categoryId: 4711 }),
      ...[1, 2, 3].map(() => create('/categories', { name: 'Dragons' })),
    ]);
    assert.deepEqual(statusesOf(answers), [400, 201, 201, 201]);
  });

  test('a locked row delays only the writes to it', async (t) => {
    const url = await emptyDatabase(cluster);
    const [{ key, db: outside }] = await startInstances(t, url);
    const instance = await startAfresh(t, url, key, impatientMs);
    const patch = (id: number) => instance.call('PATCH', `/pets/${id}`, { body: { name: 'Rex' } });
    await outside.write(async (sql) => {
      await sql`update pets set stock = stock where workspace_id = 1 and id = 2`;
      const body = { name: 'Bella', categoryId: 1 };
      const answers = await Promise.all([patch(2), instance.call('POST', '/pets', { body }), patch(3)]);
      assert.deepEqual(statusesOf(answers), [503, 201, 200]);
    });
  });

  test('a refused write does not affect others whose statement was not prepared because of it', async (t) => {
    const [{ db }] = await startInstances(t, await emptyDatabase(cluster));
    for (let round = 0; round < 30; round++) {
      // No connection has prepared it yet. The server gets it in the failed transaction, and again from the other writes.
      const text = [`select ${round} + 1000`];
      const fresh = Object.assign(text, { raw: text });
      const refused = () =>
        assert.rejects(
          db.write((sql) => Promise.all([sql`select 1 / 0`, sql(fresh)]), cause),
          /division by zero/,
        );
      const neighbour = async () =>
        assert.deepEqual(await db.write((sql) => sql(fresh), cause), [[round + 1000]]);
      await Promise.all([refused(), neighbour(), refused(), neighbour(), neighbour()]);
    }
  });

  test('writes to a locked workspace get 503, also if one of them was refused before', async (t) => {
    const url = await emptyDatabase(cluster);
    const [{ key, db: outside }] = await startInstances(t, url);
    const instance = await startAfresh(t, url, key, impatientMs);
    const send = () => [
      instance.call('DELETE', '/pets/4711'),
      instance.call('POST', '/categories', { body: { name: 'Dragons' } }),
    ];
    // In the first run without the lock one write is refused. Then the workspace is locked before the careful run begins.
    const first = await Promise.all(send());
    assert.deepEqual(statusesOf(first), [404, 201]);
    const release = await holdLocks(outside, cause);
    try {
      const answers = await Promise.all(send());
      assert.deepEqual(statusesOf(answers), [503, 503]);
    } finally {
      await release();
    }
  });

  test('with high latency some of many writes succeed in time', async (t) => {
    const direct = await emptyDatabase(cluster);
    const [{ key }] = await startInstances(t, direct);
    const proxy = await StallingProxy.start(t, cluster.port);
    const url = direct.replace(`:${cluster.port}/`, `:${proxy.port}/`);
    const instance = await startAfresh(t, url, key, impatientMs);
    proxy.delayMs = 10;
    const answers = await load([instance], { clients: 100, requests: 100 }, () =>
      instance.call('POST', '/store/orders', { body: { petId: 13, quantity: 1 } }),
    );
    const statuses = Object.groupBy(answers, ({ status }) => status);
    assert.ok((statuses[201]?.length ?? 0) > 0, `${Object.keys(statuses)}`);
    for (const status of Object.keys(statuses)) assert.ok(['201', '409', '503'].includes(status), status);
  });

  test('a failed write sends no further statements', async (t) => {
    const [{ db }] = await startInstances(t, await emptyDatabase(cluster));
    const straggler = Promise.withResolvers<unknown>();
    const failing = db.write(async (sql) => {
      await sql`select 1`;
      setTimeout(
        () => straggler.resolve(sql`update pets set stock = 7 where workspace_id = 1 and id = 1`),
        50,
      );
      throw new Error('This write fails.');
    }, cause);
    await assert.rejects(failing, /This write fails/);
    await assert.rejects(straggler.promise, /came after the end of its transaction/);
  });

  test('writes run in the order in which they arrived', async (t) => {
    const [{ db }] = await startInstances(t, await emptyDatabase(cluster));
    const ids = await Promise.all(
      Array.from({ length: 300 }, () => db.write((sql) => allocateIds(sql, 1, 'pets'), cause)),
    );
    assert.deepEqual(ids, numbers(300, 21));
  });

  test('a workspace does not wait for another', async (t) => {
    const [instance, other] = await startInstances(t, await emptyDatabase(cluster));
    const { key } = await instance.addWorkspace('second', true);
    const release = await holdLocks(other.db, cause);
    const body = { name: 'Bella', categoryId: 1 };
    let isAnswered = false;
    const waiting = instance.call('POST', '/pets', { body }).finally(() => {
      isAnswered = true;
    });
    assert.equal((await instance.call('POST', '/pets', { body, key })).status, 201);
    assert.equal(isAnswered, false);
    await release();
    assert.equal((await waiting).status, 201);
  });

  test('a deadlock with another program, which locks rows in another order, fails no write', async (t) => {
    const url = await emptyDatabase(cluster);
    // The service's own connection detects the deadlock first, and gives in.
    const [instance] = await startInstances(t, `${url}%20-cdeadlock_timeout%3D500ms`);
    const patch = (id: number) => instance.call('PATCH', `/pets/${id}`, { body: { name: 'Rex' } });
    const older = new Client(url);
    await older.connect();
    t.after(() => older.end());
    const lock = (id: number) =>
      older.query('update pets set stock = stock where workspace_id = 1 and id = $1', [id]);
    await older.query('begin');
    await lock(2);
    assert.equal((await instance.call('GET', '/pets/1')).status, 200, 'the key is known');
    const { commits } = instance.db.counts;
    const answers = Promise.all([patch(1), patch(2)]);
    // Within a transaction, pg_stat_activity would keep showing its first snapshot.
    const waiting = 'select 1 from pg_locks where not granted';
    await until(async () => (await older.query(waiting)).rowCount === 1);
    await lock(1);
    await older.query('commit');
    assert.deepEqual(statusesOf(await answers), [200, 200]);
    assert.ok(instance.db.counts.commits - commits >= 2, 'each is alone');
  });

  test('a write with statements after its final ones fails alone', async (t) => {
    const [{ db }] = await startInstances(t, await emptyDatabase(cluster));
    const [wrong, right] = await Promise.allSettled([
      db.write(async (sql) => {
        await sql.finalStatements(sql`update pets set stock = 7 where workspace_id = 1 and id = 1`);
        await sql`update pets set stock = 8 where workspace_id = 1 and id = 2`;
      }, cause),
      db.write((sql) => sql`update pets set stock = 9 where workspace_id = 1 and id = 3`, cause),
    ]);
    assert.deepEqual([wrong.status, right.status], ['rejected', 'fulfilled']);
    const stocks = await db.read`select stock from pets where workspace_id = 1 and id in (1, 3) order by id`;
    assert.deepEqual(stocks, [[4], [9]]);
  });
});

suite('the write queue', () => {
  /** A queue whose groups end when the test says so. */
  function heldWrites({ maxWaiting = 100, deadlineMs = 10_000 } = {}) {
    const groups: { size: number; end: () => void }[] = [];
    const commitGroup = async (group: PendingWrite[]) => {
      await new Promise<void>((end) => groups.push({ size: group.length, end }));
      for (const { resolve } of group) resolve(undefined);
      return [];
    };
    const writes = new WriteQueue({
      ...{ maxRunning: 2, groupSize: () => 3, maxWaiting, deadlineMs, commitGroup },
      queueOf: (context) => context?.workspaceId,
    });
    const add = (workspaceId: number | undefined) => writes.add(async () => {}, { atMs: 0, workspaceId });
    return { groups, writes, add };
  }

  const turns = async () => {
    for (let i = 0; i < 5; i++) await nextTurn();
  };

  test('a workspace has one group at a time, and workspaces take turns', async () => {
    const { groups, writes, add } = heldWrites();
    const sizes = () => groups.map(({ size }) => size);
    const all = [1, 1, 1, 1, 2, 3].map(add);
    await turns();
    assert.deepEqual(sizes(), [3, 1]);
    for (let ended = 0; ended < 4; ended++) {
      groups[ended]?.end();
      await turns();
    }
    assert.deepEqual(sizes(), [3, 1, 1, 1]);
    await Promise.all(all);
    await writes.finish();
  });

  test('writes beyond the limit of the queue, and writes that wait too long, are refused', async (t) => {
    let nowMs = 0;
    t.mock.method(performance, 'now', () => nowMs);
    const { groups, add } = heldWrites({ maxWaiting: 2, deadlineMs: 20 });
    const running = [add(1), add(1)];
    await turns();
    const waiting = [add(1), add(1)];
    const late = waiting.map((one) => assert.rejects(one, StorageUnavailableError));
    await assert.rejects(add(1), /Too many writes wait/);
    nowMs = 20;
    groups[0]?.end();
    await Promise.all([...running, ...late]);
    assert.equal(groups.length, 1, 'what is late does not begin');
  });
});
