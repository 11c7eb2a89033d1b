/**
 * One and two instances over PostgreSQL and Redis beside pgbench, and what each operation asks of both engines:
 * `npm run bench -- postgres`. It starts servers of its own. `--against FOLDER` measures the version in another folder, too. With
 * `--check` the run fails where a bar is missed.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgres } from '../src/db/postgres.ts';
import { emptyDatabase } from '../test/support/instances.ts';
import { freePort } from '../test/support/port.ts';
import { PostgresCluster } from '../test/support/postgres-cluster.ts';
import {
  compare,
  holdAtLeast,
  holdAtMost,
  introduce,
  type Measured,
  markdownTable,
  ratioOf,
  readOptions,
  type Target,
} from './support/comparison.ts';
import { createShop } from './support/data.ts';
import { get, type LoadRequest, write } from './support/load.ts';
import { runPgbench } from './support/pgbench.ts';
import { prepareBy, type Server, Servers, workspace } from './support/servers.ts';

const effort = readOptions();
const connections = 64;
const workspaces = 16;
/** Different pets are read, since reads of one pet could share its row. */
const petsInTurn = 20;
/** Requests over which the questions of an operation are counted. */
const countedRequests = 400;
const metricsAgeMs = 1_100;
const setupDeadlineMs = 60_000;

/** Makes workspaces with the demonstration data. Returns a key of each. */
async function prepareDatabase(url: string): Promise<string[]> {
  const db = await openPostgres(url, setupDeadlineMs);
  const keys: string[] = [];
  for (let i = 0; i < workspaces; i++) {
    keys.push((await createShop(db, `${workspace}-${i}`)).key);
  }
  await db.close();
  return keys;
}

/** What the service has asked of PostgreSQL and of Valkey until now, by its own metrics, which are made once a second. */
async function questionsOf({ origin }: Server): Promise<[statements: number, roundTrips: number]> {
  await sleep(metricsAgeMs);
  const text = await (await fetch(`${origin}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  return [
    value('petstore_storage_operations_total{kind="statements"}'),
    value('petstore_valkey_round_trips_total'),
  ];
}

/** Statements and round trips that one request of a kind takes. Looking the key up anew twice a second is rounded away. */
async function countQuestions(server: Server, { method, path, headers, body }: LoadRequest) {
  const before = await questionsOf(server);
  for (let i = 0; i < countedRequests; i++) {
    const answer = await fetch(server.origin + path, { method, headers, ...(body && { body }) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    await answer.arrayBuffer();
  }
  const after = await questionsOf(server);
  const perRequest = (i: 0 | 1) => Math.round((after[i] - before[i]) / countedRequests);
  return { statements: perRequest(0), roundTrips: perRequest(1) };
}

const newPet = (key: string) => write('POST', '/v1/pets', key, { name: 'Bella', categoryId: 1 });

async function countAllQuestions(server: Server, key: string): Promise<void> {
  const operations: [string, LoadRequest][] = [
    ['getPet', get('/v1/pets/1', key)],
    ['listPets', get('/v1/pets?limit=20', key)],
    ['createPet', newPet(key)],
    ['placeOrder', write('POST', '/v1/store/orders', key, {})],
  ];
  const rows = [['', 'SQL statements', 'Valkey round trips']];
  for (const [name, request] of operations) {
    const { statements, roundTrips } = await countQuestions(server, request);
    rows.push([name, String(statements), String(roundTrips)]);
    if (name === 'getPet')
      holdAtMost('questions to each engine for a pet', Math.max(statements, roundTrips), 1, effort);
  }
  console.log(`\n### Questions for one request\n\n${markdownTable(rows)}`);
}

/** The processor time of processes until now. Linux counts it in steps of 10 ms. */
function cpuMsOf(pids: number[]): number {
  const timesOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return pids.reduce((sum, pid) => {
    const [userSteps, systemSteps] = timesOf(pid).slice(11, 13);
    return sum + 10 * (Number(userSteps) + Number(systemSteps));
  }, 0);
}

type RequestsOf = (key: string) => LoadRequest | LoadRequest[];

/** `stores` returns the processes of PostgreSQL and Redis. `otherSettings` are those of the other version, which has a database of its own. */
async function compareAll(
  servers: Servers,
  settings: Record<string, string>,
  keys: string[],
  stores: () => number[],
  otherSettings: Record<string, string>,
): Promise<void> {
  const { against } = effort;
  const start = (place = {}) => servers.startService(servers.folder, { settings, ...place });
  const first = await start();
  const second = await start({ core: 1 });
  const third = await start();
  const other = against && {
    keys: Array.from({ length: workspaces }, (_, i) =>
      prepareBy(against, `${workspace}-${i}`, otherSettings),
    ),
    server: await start({ project: against, settings: otherSettings }),
  };
  const [key] = keys as [string];
  await countAllQuestions(first, key);

  /** The instances, with the requests of the first `count` keys. */
  const instances = (requestsOf: RequestsOf, count: number): Target[] => {
    const target = (name: string, some: Server[], ownKeys = keys) => {
      const cpuMs = () => cpuMsOf([...stores(), ...some.map(({ child }) => Number(child.pid))]);
      const requests = ownKeys.slice(0, count).flatMap(requestsOf);
      return { name, origins: some.map(({ origin }) => origin), requests, connections, cpuMs };
    };
    // As behind `deploy/haproxy.cfg`, which sends the writes of a key to one instance. Each has as many callers as one instance alone.
    const routed = (name: string, some: Server[]) => ({
      ...target(`${name} instances, each with its own keys and callers`, some),
      connections: connections * some.length,
      areShared: true,
    });
    const two = [first, second];
    return [
      ...(other ? [target('the other version', [other.server], other.keys)] : []),
      target('one instance', [first]),
      target('two instances', two),
      ...(count > 1 ? [routed('two', two), routed('three', [...two, third])] : []),
    ];
  };
  /** Compares new pets with pgbench, and holds `one instance` against the others. */
  const compareNewPets = async (title: string, count: number, leastOfOther: number) => {
    const run = (seconds: number) => runPgbench(settings.DATABASE_URL as string, count, seconds);
    const measured = await compare(
      `createPet, ${title}`,
      [{ name: `pgbench, the same statements`, run }, ...instances(newPet, count)],
      effort,
    );
    const [pgbench] = measured as [Measured];
    const [one, two, ...routed] = measured.slice(other ? 2 : 1) as [Measured, Measured, ...Measured[]];
    if (other) {
      const ratio = ratioOf(one, measured[1] as Measured, 'perSecond');
      holdAtLeast(`one instance, ${title}, of the other version`, ratio, leastOfOther, effort);
    }
    if (count === 1) {
      holdAtLeast(`one instance, ${title}, of pgbench`, ratioOf(one, pgbench, 'perSecond'), 1, effort);
      holdAtLeast(`two instances, ${title}, of one`, ratioOf(two, one, 'perSecond'), 0.9, effort);
    }
    for (const more of routed)
      holdAtMost(`CPU of ${more.name}, of one`, ratioOf(more, one, 'cpuMicros'), 1.1, effort);
  };
  /** Compares reads, and holds `one instance` against the other version. */
  const compareReads = async (operation: string, paths: string[], leastOfOther: number) => {
    const requestsOf = (key: string) => paths.map((path) => get(path, key));
    const measured = await compare(operation, instances(requestsOf, 1), effort);
    if (!other) return;
    const [before, one] = measured as [Measured, Measured];
    holdAtLeast(`${operation} of the other version`, ratioOf(one, before, 'perSecond'), leastOfOther, effort);
    holdAtMost(`p99 of ${operation} of the other version`, ratioOf(one, before, 'p99Ms'), 1, effort);
    const cpu = ratioOf(one, before, 'cpuMicros');
    holdAtMost(`CPU of ${operation} of the other version`, cpu, 1 / leastOfOther, effort);
  };
  const petPaths = Array.from({ length: petsInTurn }, (_, i) => `/v1/pets/${i + 1}`);
  await compareReads('getPet', petPaths, 2.5);
  await compareReads('listPets', ['/v1/pets?limit=20'], 1.5);
  await compareNewPets('one workspace', 1, 0.9);
  await compareNewPets('sixteen workspaces', workspaces, 0.9);
  await compare(
    'placeOrder',
    instances((key) => write('POST', '/v1/store/orders', key, {}), 1),
    effort,
  );
}

introduce(effort);
const servers = new Servers();
const cluster = await PostgresCluster.start('', tmpdir());
const valkeyPort = await freePort();
const valkey = spawn('redis-server', ['--port', String(valkeyPort), '--bind', '127.0.0.1', '--save', ''], {
  stdio: 'ignore',
});
try {
  const keys = await prepareDatabase(cluster.url);
  const settings = {
    DATABASE_URL: cluster.url,
    PETSTORE_SECRET_KEY: 'the key of an installation for benchmarks',
    VALKEY_URL: `redis://127.0.0.1:${valkeyPort}`,
  };
  const otherSettings = { ...settings, DATABASE_URL: await emptyDatabase(cluster) };
  await compareAll(servers, settings, keys, () => [...cluster.processes, Number(valkey.pid)], otherSettings);
} finally {
  servers.stop();
  valkey.kill();
  await cluster.remove();
}
