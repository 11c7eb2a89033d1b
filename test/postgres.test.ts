import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../src/db/database.ts';
import { requestDeadlineMs } from '../src/db/open.ts';
import { openPostgres } from '../src/db/postgres.ts';
import { Fragment } from '../src/db/sql.ts';
import { StorageUnavailableError } from '../src/errors.ts';
import { createLogger } from '../src/log.ts';
import { prepareDemo } from '../src/workspaces/demo.ts';
import { deleteWorkspace, listWorkspaces } from '../src/workspaces/store.ts';
import { temporaryFolder } from './support/folder.ts';
import { fetchChecked, type JsonAnswer, Petstore } from './support/petstore.ts';
import { PostgresCluster, whyNoPostgres } from './support/postgres-cluster.ts';
import { ampleKey, petstore, startService } from './support/service.ts';
import { StallingProxy } from './support/stalling-proxy.ts';
import { run, withSchema } from './support/storage.ts';

const skip = whyNoPostgres();
const cluster = skip ? undefined : await PostgresCluster.start();
after(() => cluster?.remove());

/** Long enough for any answer on a busy machine, and short of hanging. */
const patienceMs = 3 * requestDeadlineMs;

let schemas = 0;

/** The address of an empty schema. */
async function emptyDatabase(): Promise<string> {
  const { url } = cluster as PostgresCluster;
  const schema = `test_${++schemas}`;
  await run(url, `create schema ${schema}`);
  return withSchema(url, schema);
}

async function open(t: TestContext, url: string, deadlineMs = requestDeadlineMs): Promise<Database> {
  const db = await openPostgres(url, deadlineMs);
  t.after(() => db.close());
  return db;
}

/** Petstores with connections of their own over one database, which holds a seeded workspace. */
async function startInstances(t: TestContext, count: number): Promise<[Petstore, ...Petstore[]]> {
  const url = await emptyDatabase();
  const instances: Petstore[] = [];
  for (let i = 0; i < count; i++) {
    const instance = new Petstore(await openPostgres(url, requestDeadlineMs), url);
    t.after(() => instance.close());
    instances.push(instance);
  }
  const [first] = instances as [Petstore, ...Petstore[]];
  const { key } = await first.addWorkspace('first', true);
  for (const instance of instances) instance.key = key;
  return instances as [Petstore, ...Petstore[]];
}

/** What `send` answers for 0, 1, …, asked by `clients` at once that take turns among the instances. */
async function load(
  instances: Petstore[],
  { clients, requests }: { clients: number; requests: number },
  send: (instance: Petstore, n: number) => Promise<JsonAnswer>,
): Promise<JsonAnswer[]> {
  const answers: JsonAnswer[] = [];
  let next = 0;
  const client = async (_: unknown, i: number) => {
    while (next < requests) answers.push(await send(instances[i % instances.length] as Petstore, next++));
  };
  await Promise.all(Array.from({ length: clients }, client));
  return answers;
}

const withStatus = (answers: JsonAnswer[], status: number) =>
  answers.filter((answer) => answer.status === status);

async function allOrders(instance: Petstore): Promise<Map<number, { id: number }>> {
  const orders = new Map<number, { id: number }>();
  for (let path: string | undefined = '/store/orders?limit=100'; path; ) {
    const page: JsonAnswer = await instance.call('GET', path);
    for (const order of page.body) orders.set(order.id, order);
    path = /\/v1(\S+)>; rel="next"/.exec(page.headers.link ?? '')?.[1];
  }
  return orders;
}

test('five instances that start at once on an empty database migrate it once', { skip }, async (t) => {
  const url = await emptyDatabase();
  const databases = await Promise.all(Array.from({ length: 5 }, () => open(t, url)));
  for (const db of databases) assert.deepEqual(await db.read`select count(*) from workspaces`, [[0]]);
  const { read } = databases[0] as Database;
  assert.equal((await read`select id from schema_version`).length, 1);
});

test('a demonstration that five instances prepare at once is seeded once', { skip }, async (t) => {
  const url = await emptyDatabase();
  const databases = await Promise.all(Array.from({ length: 5 }, () => open(t, url)));
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

test('1,000 orders on a stock of 100, sent to two instances: exactly 100 are accepted', {
  skip,
}, async (t) => {
  const instances = await startInstances(t, 2);
  const [first, second] = instances;
  await first.call('PATCH', '/inventory/1', { body: { quantity: 100 } });
  const answers = await load(instances, { clients: 64, requests: 1000 }, (instance) =>
    instance.call('POST', '/store/orders', { body: { petId: 1 } }),
  );
  assert.equal(withStatus(answers, 201).length, 100);
  assert.equal(answers.filter(({ body }) => body.code === 'insufficient_stock').length, 900);
  assert.deepEqual((await second?.call('GET', '/inventory/1'))?.body, {
    petId: 1,
    quantity: 0,
    status: 'pending',
  });
});

test('one Idempotency-Key sent to three instances at once creates one thing', { skip }, async (t) => {
  const instances = await startInstances(t, 3);
  for (const key of ['a', 'b', 'c', 'd', 'e']) {
    const request = { body: { name: 'Zed', categoryId: 1 }, headers: { 'idempotency-key': key } };
    const answers = await load(instances, { clients: 12, requests: 12 }, (instance) =>
      instance.call('POST', '/pets', request),
    );
    const created = withStatus(answers, 201);
    assert.equal(created.filter(({ headers }) => !('idempotency-replayed' in headers)).length, 1);
    assert.equal(new Set(created.map(({ text }) => text)).size, 1);
    assert.ok(withStatus(answers, 409).every(({ body }) => body.code === 'conflict'));
    assert.equal(created.length + withStatus(answers, 409).length, 12);
  }
  assert.equal((await instances[0].call('GET', '/pets?limit=100')).body.length, 25);
});

test('ids that several instances give out are unique and leave no gap', { skip }, async (t) => {
  const instances = await startInstances(t, 3);
  const answers = await load(instances, { clients: 24, requests: 120 }, (instance) =>
    instance.call('POST', '/categories', { body: { name: 'Dragons' } }),
  );
  const ids = answers.map(({ body }) => body.id).sort((a, b) => a - b);
  assert.deepEqual(
    ids,
    Array.from({ length: 120 }, (_, i) => 7 + i),
  );
});

test('a category goes and a pet comes to it at once: one of the two is refused as described', {
  skip,
}, async (t) => {
  const [first, second] = (await startInstances(t, 2)) as [Petstore, Petstore];
  for (let round = 0; round < 40; round++) {
    const { id: categoryId } = (await first.call('POST', '/categories', { body: { name: 'Dragons' } })).body;
    const [gone, come] = await Promise.all([
      first.call('DELETE', `/categories/${categoryId}`),
      second.call('POST', '/pets', { body: { name: 'Smaug', categoryId } }),
    ]);
    const outcome = [gone.status, come.status, gone.body?.code ?? come.body.code].join(' ');
    assert.ok(['204 400 invalid_reference', '409 201 conflict'].includes(outcome), outcome);
  }
});

test('changes that lock rows in different orders all get through', { skip }, async (t) => {
  const [first, second] = (await startInstances(t, 2)) as [Petstore, Petstore];
  const swap = (db: Database, from: number, to: number) =>
    db.write(async (sql) => {
      for (const id of [from, to]) {
        await sql`update pets set stock = stock where workspace_id = 1 and id = ${id}`;
        await sleep(5);
      }
      await sql`update pets set stock = stock + 1 where workspace_id = 1 and id = ${to}`;
    });
  await Promise.all([1, 2, 3].flatMap(() => [swap(first.db, 1, 2), swap(second.db, 2, 1)]));
  const stocks = await first.db
    .read`select stock from pets where workspace_id = 1 and id in (1, 2) order by id`;
  assert.deepEqual(stocks, [[7], [5]]);
  assert.ok(first.db.counts.reruns + second.db.counts.reruns > 0);
});

test('nothing remains of a workspace that is deleted while others write to it', { skip }, async (t) => {
  const instances = await startInstances(t, 2);
  const { key, workspaceId } = await instances[0].addWorkspace('second', true);
  const writing = load(instances, { clients: 16, requests: 200 }, (instance, n) =>
    n % 2
      ? instance.call('POST', '/store/orders', { key, body: {}, headers: { 'idempotency-key': `k${n}` } })
      : instance.call('POST', '/pets', { key, body: { name: 'Zed', categoryId: 1 } }),
  );
  await sleep(50);
  await instances[1]?.db.write((sql) => deleteWorkspace(sql, workspaceId));
  const answers = await writing;
  for (const { status } of answers) assert.ok([201, 400, 401].includes(status), String(status));
  for (const table of ['categories', 'pets', 'orders', 'sequences', 'idempotency_keys', 'api_keys']) {
    const name = new Fragment([table], []);
    const rows = await instances[0].db.read`select 1 from ${name} where workspace_id = ${workspaceId}`;
    assert.equal(rows.length, 0, table);
  }
});

test('a workspace that is reset while others write to it keeps its rules', { skip }, async (t) => {
  const instances = await startInstances(t, 2);
  const url = instances[0].folder;
  const isReset = new Promise<void>((resolve) => {
    setTimeout(() => {
      assert.equal(petstore(['workspaces', 'reset', 'first'], { DATABASE_URL: url }).status, 0);
      resolve();
    }, 50);
  });
  const writing = load(instances, { clients: 8, requests: 400 }, (instance) =>
    instance.call('POST', '/store/orders', { body: { petId: 13 } }),
  );
  await isReset;
  for (const { status } of await writing) assert.ok([201, 400, 409].includes(status), String(status));
  const { quantity } = (await instances[0].call('GET', '/inventory/13')).body;
  const orders = [...(await allOrders(instances[0])).values()];
  assert.equal(orders.length - 8, 28 - quantity, 'what is gone from stock stands in orders');
});

test('kill -9 of one of two instances under load loses no answered write', { skip }, async (t) => {
  const env = { DATABASE_URL: await emptyDatabase(), LOG_LEVEL: 'warn' };
  const folder = temporaryFolder(t);
  const services = [await startService(t, folder, env), await startService(t, folder, env)] as const;
  const key = ampleKey(folder, env);
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

  const db = await open(t, env.DATABASE_URL);
  const stored = await db.read`select id from orders where workspace_id = 1 and pet_id = 13 and id > 8`;
  const ids = new Set(stored.map(([id]) => id));
  for (const { body } of answered) assert.ok(ids.has(body.id));
  const [stock] = await db.read`select stock from pets where workspace_id = 1 and id = 13`;
  assert.deepEqual(stock, [1_000_000 - stored.length]);
});

for (const mode of ['immediate', 'fast'] as const) {
  test(`PostgreSQL stops (${mode}) and starts under load: 503 meanwhile, and nothing answered is lost`, {
    skip,
  }, async (t) => {
    const instances = await startInstances(t, 2);
    const [first] = instances;
    await first.call('PATCH', '/inventory/13', { body: { quantity: 1_000_000 } });
    const answers: JsonAnswer[] = [];
    let slowestMs = 0;
    let isOver = false;
    const client = async (instance: Petstore) => {
      while (!isOver) {
        const startedMs = performance.now();
        const answer = await instance.call('POST', '/store/orders', { body: { petId: 13 } });
        slowestMs = Math.max(slowestMs, performance.now() - startedMs);
        answers.push(answer);
        if (answer.status !== 201) await sleep(20);
      }
    };
    const clients = instances.flatMap((instance) => Array.from({ length: 8 }, () => client(instance)));
    const ready = async () => (await first.send('GET', '/readyz', { key: null })).status;
    while (answers.length < 100) await sleep(5);
    await cluster?.stop(mode);
    assert.equal(await ready(), 503);
    await sleep(700);
    const before = answers.length;
    await sleep(500);
    assert.ok(answers.length > before, 'requests are answered while the storage is away');
    assert.deepEqual([...new Set(answers.slice(before).map(({ status }) => status))], [503]);
    await cluster?.start();
    while ((await ready()) !== 200) await sleep(20);
    const accepted = withStatus(answers, 201).length;
    while (withStatus(answers, 201).length < accepted + 100) await sleep(5);
    isOver = true;
    await Promise.all(clients);

    assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [201, 503]);
    for (const { headers } of withStatus(answers, 503)) assert.ok(Number(headers['retry-after']) >= 1);
    assert.ok(slowestMs < patienceMs, `${slowestMs} ms`);
    const orders = await allOrders(first);
    for (const { body } of withStatus(answers, 201)) assert.deepEqual(orders.get(body.id), body);
    const stock = (await first.call('GET', '/inventory/13')).body.quantity;
    const held = await first.db
      .read`select count(*) from orders where workspace_id = 1 and pet_id = 13 and id > 8`;
    assert.deepEqual(held, [[1_000_000 - stock]]);
  });
}

test('a server that does not answer any more gets 503 in time, and service resumes', { skip }, async (t) => {
  const { port } = cluster as PostgresCluster;
  const proxy = await StallingProxy.start(t, port);
  const url = (await emptyDatabase()).replace(`:${port}/`, `:${proxy.port}/`);
  const instance = new Petstore(await openPostgres(url, 1_000), url);
  t.after(() => instance.close());
  instance.key = (await instance.addWorkspace('first', true)).key;
  assert.equal((await instance.call('GET', '/pets/1')).status, 200);
  proxy.stall();
  const startedMs = performance.now();
  const answers = await Promise.all([
    instance.call('GET', '/pets/1'),
    instance.call('POST', '/store/orders', { body: {} }),
    instance.send('GET', '/readyz', { key: null }),
  ]);
  for (const { status } of answers) assert.equal(status, 503);
  assert.ok(performance.now() - startedMs < patienceMs);
  proxy.resume();
  while ((await instance.send('GET', '/readyz', { key: null })).status !== 200) await sleep(20);
  assert.equal((await instance.call('POST', '/store/orders', { body: {} })).body.id, 9);
});

test('a row that another connection keeps locked gets 503, reads go on, and so do writes afterwards', {
  skip,
}, async (t) => {
  const url = await emptyDatabase();
  const instance = new Petstore(await openPostgres(url, 1_000), url);
  t.after(() => instance.close());
  instance.key = (await instance.addWorkspace('first', true)).key;
  const other = await open(t, url);
  await other.write(async (sql) => {
    await sql`update pets set stock = stock where workspace_id = 1 and id = 1`;
    const answer = await instance.call('POST', '/store/orders', { body: { petId: 1 } });
    assert.equal(answer.status, 503);
    assert.equal((await instance.call('GET', '/pets/1')).status, 200);
  });
  assert.equal((await instance.call('POST', '/store/orders', { body: { petId: 1 } })).status, 201);
});

test('a database that may only be read refuses writes with 503 and answers reads', { skip }, async (t) => {
  const url = await emptyDatabase();
  const writable = new Petstore(await openPostgres(url, requestDeadlineMs), url);
  t.after(() => writable.close());
  const { key } = await writable.addWorkspace('first', true);
  const readOnlyUrl = `${url}%20-cdefault_transaction_read_only%3Don`;
  const instance = new Petstore(await openPostgres(readOnlyUrl, requestDeadlineMs), url);
  t.after(() => instance.close());
  instance.key = key;
  assert.equal((await instance.call('GET', '/pets/1')).status, 200);
  assert.equal((await instance.call('POST', '/store/orders', { body: {} })).status, 503);
});

test('a server without a connection to spare gets 503', { skip }, async (t) => {
  const { url } = cluster as PostgresCluster;
  await open(t, url);
  await run(
    url,
    `create role guest login password 'open-sesame' connection limit 1`,
    'grant select, update on all tables in schema public to guest',
  );
  const db = await open(t, url.replace('//postgres:', '//guest:'));
  const results = await Promise.allSettled(
    Array.from({ length: 4 }, () => db.read`select 1 from workspaces`),
  );
  assert.ok(results.some(({ status }) => status === 'fulfilled'));
  const refused = results.filter((result) => result.status === 'rejected');
  assert.ok(refused.length > 0);
  for (const { reason } of refused) assert.ok(reason instanceof StorageUnavailableError, String(reason));
});

test('a database that is newer than the code is refused with one clear line', { skip }, async (t) => {
  const url = await emptyDatabase();
  await open(t, url);
  await run(url, 'update schema_version set version = 4711');
  await assert.rejects(openPostgres(url, requestDeadlineMs), /version 4711.*newer Petstore/);
});

test('a transaction that swallowed a failure is not answered as if it were kept', { skip }, async (t) => {
  const db = await open(t, await emptyDatabase());
  const write = db.write(async (sql) => {
    await sql`insert into workspaces (name, created_at_ms) values ('a', 0)`;
    await sql`select 1 / 0`.catch(() => {});
  });
  await assert.rejects(write, /rolled back/);
  assert.deepEqual(await db.read`select name from workspaces`, []);
});

test('BEGIN travels with the first statement, and every statement is counted', { skip }, async (t) => {
  const db = await open(t, await emptyDatabase());
  await db.write((sql) => sql`insert into workspaces (name, created_at_ms) values ('a', 0)`);
  await db.read`select name from workspaces`;
  assert.deepEqual(db.counts, { reads: 1, writes: 1, commits: 1, failures: 0, statements: 4, reruns: 0 });
});

test('what is wrong with DATABASE_URL is told in one line without its password', { skip }, async () => {
  const { url, port } = cluster as PostgresCluster;
  const wrong = [
    url.replace('open-sesame', 'hush-hush'),
    `postgres://postgres:hush-hush@127.0.0.1:${port}/nowhere`,
    url.replace('/postgres', '/nowhere'),
    'postgres://postgres:hush-hush@127.0.0.1:1/postgres',
    'postgres://postgres:hush-hush@localhost:1/postgres',
    'postgres://postgres:hush-hush@no.such.host.invalid/postgres',
    'postgres:hush-hush@localhost:5432/postgres',
  ];
  for (const databaseUrl of wrong) {
    const { status, stdout, stderr } = petstore(['serve'], { DATABASE_URL: databaseUrl });
    assert.equal(status, 1, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, /^petstore: DATABASE_URL .+\n$/);
    assert.doesNotMatch(stderr, /hush|sesame/);
  }
});

test('a log line does not carry the password of an address', { skip }, () => {
  let written = '';
  createLogger('info', { write: (line) => (written += line) }).info('at postgres://me:hush-hush@localhost/x');
  assert.match(written, /postgres:\/\/me:\*\*\*@localhost/);
});
