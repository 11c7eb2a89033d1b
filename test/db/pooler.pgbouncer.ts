/** Tests of the service behind PgBouncer, and the tests of stores and instances once more through it: `npm test -- pgbouncer`. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { requestDeadlineMs } from '../../src/db/open.ts';
import { temporaryFolder } from '../support/folder.ts';
import { openDatabase, startInstance, untilStatus } from '../support/instances.ts';
import { type PgBouncer, startPgBouncer, whyNoPgBouncer } from '../support/pgbouncer.ts';
import { PostgresCluster, whyNoPostgres } from '../support/postgres-cluster.ts';
import { ampleKey, petstore, startService } from '../support/service.ts';
import { run } from '../support/storage.ts';
import { statusesOf } from '../support/values.ts';

/** The test files that use the storage most, and those of several instances, which use it for events and webhooks too. */
const files = [
  ...['store/resources/pets', 'store/resources/orders', 'store/resources/stock', 'http/idempotency'].map(
    (name) => `../${name}.test.ts`,
  ),
  ...['service', 'store/history'].map((folder) => `../${folder}/instances.postgres.ts`),
];
/** The locks of transactions that have a workspace to themselves. */
const holdingWorkspaces = `select from pg_locks where locktype = 'advisory' and granted`;
/** A frozen instance blocks a workspace for two seconds, and a busy machine adds some more. */
const resumedMs = 7_000;

suite('behind PgBouncer', { skip: whyNoPostgres() || whyNoPgBouncer() }, () => {
  let cluster: PostgresCluster;
  let pooler: PgBouncer;
  before(async () => {
    cluster = await PostgresCluster.start();
    pooler = await startPgBouncer(cluster.url);
  });
  after(async () => {
    await pooler.remove();
    await cluster.remove();
  });

  async function startSeeded(t: TestContext, workspace: string) {
    const instance = await startInstance(t, pooler.url, requestDeadlineMs);
    instance.key = (await instance.addWorkspace(workspace, true)).key;
    return instance;
  }

  test('the tests of stores and of instances pass', async () => {
    const paths = files.map((file) => fileURLToPath(new URL(file, import.meta.url)));
    const withPostgres = fileURLToPath(new URL('../support/with-postgres.ts', import.meta.url));
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const args = [withPostgres, process.execPath, '--test', '--test-concurrency=4', ...paths];
    const child = spawn(process.execPath, args, {
      env: { ...env, PETSTORE_TEST_PGBOUNCER: 'true' },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const [code] = await once(child, 'exit');
    assert.equal(code, 0, output);
  });

  const keeps = /max_prepared_statements = 200/;
  for (const [name, settings, advice] of [
    ['no prepared statements', { max_prepared_statements: 0 }, keeps],
    ['no prepared statements, in turns', { max_prepared_statements: 0, server_round_robin: 1 }, keeps],
    [
      'no prepared statements, on one connection',
      { max_prepared_statements: 0, default_pool_size: 1 },
      keeps,
    ],
    ['no transactions', { pool_mode: 'statement' }, /pool_mode = transaction/],
  ] as const) {
    test(`a PgBouncer with ${name} stops the start with one line that says what to set`, async (t) => {
      await pooler.restart(settings);
      t.after(() => pooler.restart());
      const { status, stdout, stderr } = petstore(['serve'], { DATABASE_URL: pooler.url });
      assert.deepEqual([status, stdout], [1, ''], stderr);
      assert.match(stderr, /^petstore: DATABASE_URL cannot be used: .+\n$/);
      assert.match(stderr, advice);
    });
  }

  test('an address option that PgBouncer ignores stops the start with one line', async () => {
    const url = `${pooler.url}?options=-csearch_path%3Dpublic`;
    const { status, stderr } = petstore(['serve'], { DATABASE_URL: url });
    assert.equal(status, 1, stderr);
    assert.match(stderr, /^petstore: DATABASE_URL cannot be used: .*search_path\. .*alter role.*\n$/);
  });

  for (const [name, settings] of [
    ['in session mode', { pool_mode: 'session', default_pool_size: 20 }],
    ['with one connection to the server', { default_pool_size: 1 }],
  ] as const) {
    test(`a PgBouncer ${name} works`, async (t) => {
      await pooler.restart(settings);
      t.after(() => pooler.restart());
      const instance = await startSeeded(t, name);
      assert.equal((await instance.call('POST', '/store/orders', { body: { petId: 1 } })).status, 201);
    });
  }

  for (const setting of ['max_client_conn', 'max_user_client_connections']) {
    test(`with ${setting} below the connections of an instance, requests wait and none fails`, async (t) => {
      // The start needs two at once, and closed connections may count for a moment.
      await pooler.restart({ [setting]: 4 });
      t.after(() => pooler.restart());
      const instance = await startInstance(t, pooler.url, requestDeadlineMs);
      const notices: string[] = [];
      instance.db.onNotice = (notice) => notices.push(notice);
      instance.key = (await instance.addWorkspace(setting, true)).key;
      const place = () => instance.call('POST', '/store/orders', { body: { petId: 13 } });
      const read = () => instance.db.read`select pg_sleep(0.002)`;
      const [answers] = await Promise.all([
        Promise.all(Array.from({ length: 20 }, place)),
        // This many requests share more than four connections.
        Promise.all(Array.from({ length: 100 }, read)),
      ]);
      assert.deepEqual([...new Set(statusesOf(answers))], [201]);
      assert.equal(notices.length, 1, notices.join());
      assert.match(notices[0] as string, new RegExp(setting));
    });
  }

  test('after a failed transaction, the next one can use the statements that did not run', async (t) => {
    const db = await openDatabase(t, pooler.url, requestDeadlineMs);
    const failing = db.write((sql) => Promise.all([sql`select 1 / 0`, sql`select 4711`]));
    await assert.rejects(failing, /division by zero/);
    const answers = await Promise.all(Array.from({ length: 8 }, () => db.write((sql) => sql`select 4711`)));
    for (const answer of answers) assert.deepEqual(answer, [[4711]]);
  });

  test('a PgBouncer that stops keeping prepared statements gives 503 and never runs another statement; then service resumes', async (t) => {
    const instance = await startSeeded(t, 'reconfigured');
    t.after(() => pooler.restart());
    await pooler.restart({ max_prepared_statements: 0 });
    const seen = new Set<number>();
    const client = async () => {
      for (let i = 0; i < 40; i++) {
        seen.add((await instance.call('GET', '/pets?limit=1')).status);
        seen.add((await instance.call('POST', '/store/orders', { body: { petId: 4 } })).status);
      }
    };
    await Promise.all(Array.from({ length: 8 }, client));
    assert.ok(seen.has(503));
    for (const status of seen) assert.ok([200, 201, 409, 503].includes(status), String(status));
    await pooler.restart();
    await untilStatus(200, () => instance.call('GET', '/pets/1'));
    await untilStatus(201, () => instance.call('POST', '/pets', { body: { name: 'Rex', categoryId: 1 } }));
  });

  test('petstore restored finds an instance behind PgBouncer, which has connections of its own', async (t) => {
    await run(cluster.directUrl, 'create database restored');
    const env = { DATABASE_URL: pooler.url.replace(/\/postgres$/, '/restored'), LOG_LEVEL: 'warn' };
    await startService(t, temporaryFolder(t), env);
    const { status, stderr } = petstore(['restored'], env);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^petstore: An instance or a command uses the database\. Stop them all, and run this again\.\n$/,
    );
  });

  test('an instance that freezes during writes blocks a workspace for others for two seconds at most', async (t) => {
    await run(cluster.directUrl, 'create database frozen');
    const url = new URL(pooler.url);
    url.pathname = '/frozen';
    const env = { DATABASE_URL: url.href, LOG_LEVEL: 'warn' };
    const start = () => startService(t, temporaryFolder(t), env);
    const [frozen, other] = [await start(), await start()];
    const key = await ampleKey(temporaryFolder(t), env);
    const create = async (origin: string) => {
      const response = await fetch(`${origin}/v1/pets`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Rex', categoryId: 1 }),
        signal: AbortSignal.timeout(2 * resumedMs),
      });
      await response.arrayBuffer();
      return response.status;
    };
    let isOver = false;
    t.after(() => {
      isOver = true;
    });
    const writer = async () => {
      while (!isOver) await create(frozen.origin).catch(() => {});
    };
    const writers = Array.from({ length: 16 }, writer);
    // Freezes it again and again until it has an open transaction.
    const startedMs = performance.now();
    for (;;) {
      await sleep(50);
      frozen.child.kill('SIGSTOP');
      await sleep(100);
      if ((await run(cluster.directUrl, holdingWorkspaces)).length > 0) break;
      frozen.child.kill('SIGCONT');
      assert.ok(performance.now() - startedMs < resumedMs, 'no transaction was open');
    }
    const frozenMs = performance.now();
    while ((await create(other.origin)) !== 201) {
      assert.ok(performance.now() - frozenMs < resumedMs, 'the workspace was kept');
    }
    t.diagnostic(`resumed after ${Math.round(performance.now() - frozenMs)} ms`);
    isOver = true;
    frozen.child.kill('SIGKILL');
    await Promise.all(writers);
  });
});
