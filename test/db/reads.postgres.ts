/** Reads that share connections to PostgreSQL. */
import assert from 'node:assert/strict';
import { after, before, suite, type TestContext, test } from 'node:test';
import { Client } from 'pg';
import type { Database } from '../../src/db/database.ts';
import { StorageUnavailableError } from '../../src/foundation/errors.ts';
import { emptyDatabase, openDatabase } from '../support/instances.ts';
import { PostgresCluster, whyNoPostgres } from '../support/postgres-cluster.ts';
import { run } from '../support/storage.ts';
import { until } from '../support/until.ts';

/** The most reads that share a connection at once. */
const groupSize = 16;
/** The number of connections for reads. */
const readers = 4;
/** A lock that the service itself does not use. */
const lockId = 4711;

suite('reads over PostgreSQL', { skip: whyNoPostgres() }, () => {
  let cluster: PostgresCluster;
  let url: string;
  before(async () => {
    cluster = await PostgresCluster.start();
    url = await emptyDatabase(cluster);
    // A read of row 3 waits while the lock is held. The rows contain their read time, which shows whether reads shared a statement.
    await run(
      url,
      `create view numbered as select n, statement_timestamp()::text as read_at, kind,
         case n when 3 then pg_advisory_xact_lock_shared(${lockId})::text else '' end as waited
       from generate_series(1, 100) n, (values ('odd'), ('even')) kinds (kind)`,
    );
  });
  after(() => cluster.remove());

  const open = (t: TestContext, deadlineMs?: number) => openDatabase(t, url, deadlineMs);

  /** Makes reads of `readLocked` wait, until the returned function is called. */
  async function lock(t: TestContext): Promise<() => Promise<unknown>> {
    const client = new Client({ connectionString: cluster.directUrl });
    await client.connect();
    t.after(() => client.end());
    await client.query(`select pg_advisory_lock(${lockId})`);
    return () => client.query(`select pg_advisory_unlock(${lockId})`);
  }

  /** The server processes that wait for the lock. */
  const findWaiting = async () => {
    const waiting = `locktype = 'advisory' and objid = ${lockId} and not granted`;
    return (await run(cluster.directUrl, `select pid from pg_locks where ${waiting}`)).map(({ pid }) => pid);
  };

  const readLocked = (db: Database) => db.read`
    select 'locked' from (select pg_advisory_xact_lock_shared(${lockId})::text) waited`;
  const readNumber = async (db: Database, n: number) =>
    assert.deepEqual(await db.read`select ${n}::int`, [[n]]);
  const numbers = (length: number) => Array.from({ length }, (_, n) => n);

  test('concurrent reads share a connection, and each gets its own rows', async (t) => {
    const db = await open(t);
    const ask = async (n: number) => {
      const [row] = await db.read`select pg_backend_pid(), ${n}::int, ${n % 2 ? null : `é${n}`}::text`;
      assert.deepEqual(row?.slice(1), [n, n % 2 ? null : `é${n}`]);
      return row?.[0];
    };
    // On a busy machine a group may seem slow, and be sent again on another connection.
    await until(async () => new Set(await Promise.all(numbers(groupSize).map(ask))).size === 1);
    const used = new Set(await Promise.all(numbers(20 * groupSize).map(ask)));
    assert.ok(used.size > 1 && used.size <= readers, `${used.size} connections`);
  });

  test('a failed read does not affect others', async (t) => {
    const db = await open(t);
    const ask = async (n: number) => {
      if (n % 3 > 0) await readNumber(db, n);
      else await assert.rejects(db.read`select 1 / (${n}::int - ${n}::int)`, /division by zero/);
    };
    for (let round = 0; round < 3; round++) await Promise.all(numbers(3 * groupSize).map(ask));
  });

  const readAt = async (db: Database, kind: string, n: number) =>
    (await db.read`select n, kind, read_at from numbered where kind = ${kind} and n = ${n}`)[0];

  test('concurrent reads of single rows share a statement, and each gets its own row', async (t) => {
    const db = await open(t);
    const ids = numbers(40).map((n) => 1 + (n % 30));
    await until(async () => {
      const odd = ids.map((id) => readAt(db, 'odd', id));
      const even = ids.map((id) => readAt(db, 'even', id));
      const missing = readAt(db, 'odd', 101);
      const found = await Promise.all([...odd, ...even]);
      assert.equal(await missing, undefined);
      assert.deepEqual(
        found.map((row) => row?.slice(0, 2)),
        ['odd', 'even'].flatMap((kind) => ids.map((id) => [id, kind])),
      );
      const timesOf = (rows: typeof found) => new Set(rows.map((row) => row?.[2])).size;
      return timesOf(found) === 2 && timesOf(found.slice(0, 40)) === 1;
    });
  });

  test('reads that share a statement with a slow read are not delayed', async (t) => {
    const db = await open(t);
    const unlock = await lock(t);
    const readWaited = (n: number) => db.read`select waited, n from numbered where n = ${n}`;
    const slow = readWaited(3);
    const all = numbers(groupSize).map((n) => readWaited(n + 4));
    for (const [n, rows] of (await Promise.all(all)).entries())
      assert.deepEqual(rows, [
        ['', n + 4],
        ['', n + 4],
      ]);
    await unlock();
    assert.equal((await slow).length, 2);
  });

  test('reads that share a statement fail together with their connection, and later ones succeed', async (t) => {
    const db = await open(t);
    await lock(t);
    const readWaited = (n: number) => db.read`select waited from numbered where n = ${n}`;
    const lost = numbers(4).map(() => assert.rejects(readWaited(3), StorageUnavailableError));
    await until(async () => (await findWaiting()).length === readers);
    for (const pid of await findWaiting())
      await run(cluster.directUrl, `select pg_terminate_backend(${pid})`);
    await Promise.all(lost);
    assert.equal((await readWaited(5)).length, 2);
  });

  test('reads behind a slow read are not delayed, even if all connections but one wait', async (t) => {
    const db = await open(t);
    const unlock = await lock(t);
    const answered: string[] = [];
    const slow: Promise<unknown>[] = [];
    const quick: Promise<unknown>[] = [];
    // All in one group.
    for (const n of numbers(groupSize)) {
      if (n % 5 === 0 && slow.length < readers - 1)
        slow.push(readLocked(db).then((rows) => answered.push(String(rows))));
      else quick.push(readNumber(db, n));
    }
    await Promise.all(quick);
    await Promise.all(numbers(10 * groupSize).map((n) => readNumber(db, n)));
    assert.deepEqual(answered, []);
    await unlock();
    await Promise.all(slow);
    assert.deepEqual(answered, ['locked', 'locked', 'locked']);
  });

  test('reads that find all connections busy complete once one is free', async (t) => {
    const db = await open(t);
    const unlock = await lock(t);
    const slow = numbers(readers).map(() => readLocked(db));
    const quick = numbers(groupSize).map((n) => readNumber(db, n));
    await until(async () => (await findWaiting()).length === readers);
    await unlock();
    await Promise.all([...slow, ...quick]);
  });

  test('a read that times out fails alone', async (t) => {
    await lock(t);
    const end = async (read: (db: Database) => Promise<unknown>) => {
      const db = await open(t, 6_000);
      const late = assert.rejects(read(db), StorageUnavailableError);
      await Promise.all(numbers(groupSize - 1).map((n) => readNumber(db, n)));
      await late;
      await readNumber(db, 1);
    };
    // The server ends the first read, and the second ends with its connection.
    await Promise.all([end(readLocked), end(({ read }) => read`select pg_sleep(60)::text`)]);
  });

  test('a killed connection fails the read that the others no longer wait for', async (t) => {
    const db = await open(t);
    await lock(t);
    const killed = assert.rejects(readLocked(db), StorageUnavailableError);
    await Promise.all(numbers(groupSize - 1).map((n) => readNumber(db, n)));
    const [pid] = await findWaiting();
    await run(cluster.directUrl, `select pg_terminate_backend(${pid})`);
    await killed;
    await readNumber(db, 1);
  });
});
