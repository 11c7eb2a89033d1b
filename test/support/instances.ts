import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, WriteContext } from '../../src/db/database.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { readPages } from './history.ts';
import { type JsonAnswer, Petstore, type StoreSetup } from './petstore.ts';
import type { PostgresCluster } from './postgres-cluster.ts';
import { newReportJobWorker } from './report-job-worker.ts';
import { createSchema, withSchema } from './storage.ts';

/** Long enough for anything on a busy machine, but bounded. */
export const patienceMs = 60_000;

let schemas = 0;

/** The address of a new, empty schema. */
export async function emptyDatabase({ url }: PostgresCluster): Promise<string> {
  const schema = `test_${++schemas}`;
  await createSchema(url, schema);
  return withSchema(url, schema);
}

/** A connection to a database, until the test ends. */
export async function openDatabase(t: TestContext, url: string, deadlineMs = patienceMs): Promise<Database> {
  const db = await openPostgres(url, deadlineMs);
  t.after(() => db.close());
  return db;
}

/** A petstore on a database, until the test ends. */
export async function startInstance(
  t: TestContext,
  url: string,
  deadlineMs = patienceMs,
  options: StoreSetup = {},
): Promise<Petstore> {
  const instance = new Petstore(await openPostgres(url, deadlineMs), '', options);
  t.after(() => instance.close());
  return instance;
}

/**
 * Petstores with their own connections to one database, which has a workspace, by default a seeded one. Unless a test is about
 * deadlines, these are long enough for a busy machine.
 */
export async function startInstances(
  t: TestContext,
  databaseUrl: string,
  deadlineMs = patienceMs,
  options: StoreSetup = {},
): Promise<[Petstore, Petstore, Petstore]> {
  const start = () =>
    startInstance(t, databaseUrl, deadlineMs, {
      reportJobWorker: newReportJobWorker(),
      hasOthers: true,
      ...options,
    });
  const first = await start();
  const instances: [Petstore, Petstore, Petstore] = [first, await start(), await start()];
  const { key } = await first.addWorkspace('first', options.seed ?? true);
  for (const instance of instances) instance.key = key;
  return instances;
}

/** Begins a write, which keeps its locks until the returned function ends it. */
export async function holdLocks(db: Database, cause: WriteContext): Promise<() => Promise<unknown>> {
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const ended = db.write(async (sql) => {
    await sql`select 1`;
    begun.resolve();
    await released.promise;
  }, cause);
  await begun.promise;
  return () => {
    released.resolve();
    return ended;
  };
}

/** Sends the request until the response has this status, as clients of a busy machine do, and returns the response. */
export async function untilStatus(status: number, ask: () => Promise<JsonAnswer>): Promise<JsonAnswer> {
  const endMs = performance.now() + patienceMs;
  for (;;) {
    const answer = await ask();
    if (answer.status === status) return answer;
    assert.ok(performance.now() < endMs, `${answer.status} instead of ${status}: ${answer.text}`);
    await sleep(20);
  }
}

/** The responses of `send` for 0, 1, …, sent by concurrent `clients` that take turns among the instances. */
export async function load(
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

export const withStatus = (answers: JsonAnswer[], status: number) =>
  answers.filter((answer) => answer.status === status);

/** Every order of the first workspace by its id. */
export async function allOrders(instance: Petstore) {
  const get = (path: string) => instance.call('GET', path);
  const orders = await readPages<{ id: number }>(get, '/store/orders?limit=100');
  return new Map(orders.map((order) => [order.id, order]));
}
