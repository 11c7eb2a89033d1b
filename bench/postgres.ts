/**
 * One and two instances over PostgreSQL and Redis, and what each operation asks of both: `npm run bench:postgres`. It starts
 * servers of its own. With `--check` the run fails when reading a pet takes more than one statement or round trip.
 */
import { spawn } from 'node:child_process';
import { openPostgres } from '../src/db/postgres.ts';
import { seedWorkspace } from '../src/demo/seed.ts';
import { createKey } from '../src/keys/store.ts';
import { createWorkspace } from '../src/workspaces/store.ts';
import { freePort } from '../test/support/port.ts';
import { PostgresCluster } from '../test/support/postgres-cluster.ts';
import { compare, holdAtMost, introduce, median, readOptions } from './comparison.ts';
import type { LoadRequest } from './load.ts';
import { type Server, Servers, workspace } from './servers.ts';

const effort = readOptions();
const connections = 64;
/** Requests over which the questions of an operation are counted. */
const countedRequests = 200;
const setupDeadlineMs = 60_000;

async function prepareDatabase(url: string): Promise<string> {
  const db = await openPostgres(url, setupDeadlineMs);
  const { key } = await db.write(
    async (sql) => {
      const { id: workspaceId } = await createWorkspace(sql, workspace, Date.now());
      await seedWorkspace(sql, workspaceId);
      const quota = { perMinute: 100_000_000, perDay: 1_000_000_000 };
      return createKey(sql, { workspaceId, plan: 'enterprise', quota }, Date.now());
    },
    { atMs: Date.now(), workspaceId: undefined },
  );
  await db.close();
  return key;
}

/** What the service has asked of PostgreSQL and of Valkey until now, by its own metrics. */
async function questionsOf({ origin }: Server): Promise<[statements: number, roundTrips: number]> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  return [
    value('petstore_storage_operations_total{kind="statements"}'),
    value('petstore_valkey_round_trips_total'),
  ];
}

/** Statements and round trips that one request of a kind takes. The key is looked up anew twice a second, which is left out. */
async function countQuestions(server: Server, { method, path, headers, body }: LoadRequest) {
  const send = async () => {
    const answer = await fetch(server.origin + path, { method, headers, ...(body && { body }) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  const perRequest: [number, number][] = [];
  for (let i = 0; i < countedRequests; i++) {
    const before = await questionsOf(server);
    await send();
    const after = await questionsOf(server);
    perRequest.push([after[0] - before[0], after[1] - before[1]]);
  }
  return { statements: median(perRequest.map(([n]) => n)), roundTrips: median(perRequest.map(([, n]) => n)) };
}

async function compareAll(servers: Servers, settings: Record<string, string>, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const json = { ...headers, 'content-type': 'application/json' };
  const operations: [string, LoadRequest][] = [
    ['getPet', { method: 'GET', path: '/v1/pets/1', headers }],
    ['listPets', { method: 'GET', path: '/v1/pets?limit=20', headers }],
    [
      'createPet',
      { method: 'POST', path: '/v1/pets', headers: json, body: '{"name":"Bella","categoryId":1}' },
    ],
    ['placeOrder', { method: 'POST', path: '/v1/store/orders', headers: json, body: '{}' }],
  ];
  const first = await servers.startService(servers.folder, 'warn', settings);
  const second = await servers.startService(servers.folder, 'warn', settings, 1);

  console.log(
    '\n### Questions for one request\n\n| | SQL statements | Valkey round trips |\n| --- | --: | --: |',
  );
  let questionsForPet = Number.POSITIVE_INFINITY;
  for (const [name, request] of operations) {
    const { statements, roundTrips } = await countQuestions(first, request);
    console.log(`| ${name} | ${statements} | ${roundTrips} |`);
    if (name === 'getPet') questionsForPet = Math.max(statements, roundTrips);
  }
  holdAtMost('questions to each engine for a pet', questionsForPet, 1, effort);
  for (const [name, request] of operations) {
    const load = { requests: [request], connections };
    await compare(
      name,
      [
        { name: 'one instance', origins: [first.origin], ...load },
        { name: 'two instances', origins: [first.origin, second.origin], ...load },
      ],
      effort,
    );
  }
}

introduce(effort);
const servers = new Servers();
const cluster = await PostgresCluster.start();
const valkeyPort = await freePort();
const valkey = spawn('redis-server', ['--port', String(valkeyPort), '--bind', '127.0.0.1', '--save', ''], {
  stdio: 'ignore',
});
try {
  const key = await prepareDatabase(cluster.url);
  const settings = {
    DATABASE_URL: cluster.url,
    PETSTORE_SECRET_KEY: 'the key of an installation for benchmarks',
    VALKEY_URL: `redis://127.0.0.1:${valkeyPort}`,
  };
  await compareAll(servers, settings, key);
} finally {
  servers.stop();
  valkey.kill();
  await cluster.remove();
}
