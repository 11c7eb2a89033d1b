/**
 * What limits cost. First the time that identify, ban, count and headers add to a request: a bare Fastify and one that
 * admits run in processes of their own and are asked in turn. The requests come over a connection in memory, so that the
 * kernel, whose share is the same for both and varies most, stays out of it; parsing the request and writing the answer
 * with its headers are in. Then the memory after many callers. Run it with `npm run bench:limits`.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import fastify, { type FastifyInstance } from 'fastify';
import { admit } from '../src/access/admission.ts';
import { identifier } from '../src/access/identify.ts';
import { generateKey } from '../src/access/key.ts';
import { createKey } from '../src/access/keys.ts';
import { Limiter } from '../src/access/limiter.ts';
import { defaultBanRules } from '../src/access/limits.ts';
import { plans } from '../src/access/plans.ts';
import type { Database } from '../src/db/database.ts';
import { openSqlite } from '../src/db/sqlite.ts';
import { Metrics } from '../src/metrics.ts';
import { createWorkspace } from '../src/workspaces/store.ts';

/** Pairs of processes, since one may be compiled luckier than another. */
const pairs = 5;
const warmUpRounds = 10;
const rounds = 50;
const requestsPerRound = 5_000;
/** Requests that arrive at once. */
const batchSize = 50;
const barMicroseconds = 3;
const addresses = 1_000_000;
const keys = 100_000;

type Role = 'bare' | 'admitting';

const role = process.argv[2] as Role | undefined;
const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const db = await openSqlite(folder);
async function finish(): Promise<void> {
  await db.close();
  rmSync(folder, { recursive: true });
}

/** The server of a role. At each message it answers a round of requests and tells the microseconds that each took. */
async function serve(role: Role): Promise<void> {
  const key = role === 'bare' ? generateKey() : await ampleKey(db);
  const limiter = new Limiter(db, Date.now, console);
  const admission = {
    identify: identifier(db),
    limiter,
    banRules: defaultBanRules,
    metrics: new Metrics(db.counts),
  };
  const app = fastify();
  app.decorateRequest('caller', undefined);
  app.addHook('onRequest', (request, reply, done) => {
    const admitted = role === 'admitting' ? admit(admission, request, reply) : undefined;
    if (admitted) admitted.then(() => done(), done);
    else done();
  });
  app.get('/v1/pets/1', async () => ({ id: 1, name: 'Bella', categoryId: 1, status: 'available' }));
  await app.ready();
  const connection = new MemoryConnection(app, key);
  process.on('message', async () => {
    const startedMs = performance.now();
    for (let sent = 0; sent < requestsPerRound; sent += batchSize) await connection.ask();
    process.send?.(((performance.now() - startedMs) * 1000) / requestsPerRound);
  });
  process.on('disconnect', async () => {
    await finish();
    process.exit();
  });
  process.send?.('ready');
}

/** A connection to a server in this process that sends batches of requests and waits for their answers. */
class MemoryConnection extends Duplex {
  readonly #batch: Buffer;
  #answers = 0;
  #answered = () => {};

  constructor(app: FastifyInstance, key: string) {
    super();
    const request = `GET /v1/pets/1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    this.#batch = Buffer.from(request.repeat(batchSize));
    app.server.emit('connection', this);
  }

  ask(): Promise<void> {
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.push(this.#batch);
    });
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#answers += chunk.toString('latin1').split('HTTP/1.1 200').length - 1;
    done();
    if (this.#answers < batchSize) return;
    this.#answers = 0;
    setImmediate(this.#answered);
  }
}

async function ampleKey(db: Database): Promise<string> {
  return db.write(async (sql) => {
    const { id: workspaceId } = await createWorkspace(sql, 'bench', Date.now());
    const quota = { perMinute: 100_000_000, perDay: 1_000_000_000 };
    return (await createKey(sql, { workspaceId, plan: 'enterprise', quota }, Date.now())).key;
  });
}

async function measureTime(): Promise<void> {
  const bareTimes: number[] = [];
  const added: number[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const [bare, admitting] = [await startServer('bare'), await startServer('admitting')];
    for (let round = -warmUpRounds; round < rounds; round++) {
      const [bareTime, admittingTime] = [await timeOf(bare), await timeOf(admitting)];
      if (round < 0) continue;
      bareTimes.push(bareTime);
      added.push(admittingTime - bareTime);
    }
    bare.disconnect();
    admitting.disconnect();
  }
  const median = quantile(added, 0.5);
  const quartiles = [quantile(added, 0.25), quantile(added, 0.75)].map((time) => time.toFixed(2));
  console.log('Time that identify + ban + count + headers add to a request:');
  console.log(
    `  median ${median.toFixed(2)} µs, quartiles ${quartiles.join(' and ')} µs; the bar is ${barMicroseconds} µs`,
  );
  console.log(`  bare Fastify itself: ${quantile(bareTimes, 0.5).toFixed(2)} µs`);
  console.log(
    `  (${pairs} pairs of processes, ${rounds} rounds each in turn, ${requestsPerRound} requests a round)`,
  );
  if (median > barMicroseconds) process.exitCode = 1;
}

function quantile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] as number;
}

async function startServer(role: Role): Promise<ChildProcess> {
  const child = fork(import.meta.filename, [role]);
  await once(child, 'message');
  return child;
}

/** Microseconds per request of one round. */
async function timeOf(child: ChildProcess): Promise<number> {
  const answered = once(child, 'message');
  child.send('round');
  const [microseconds] = await answered;
  return microseconds;
}

async function measureMemory(db: Database): Promise<void> {
  const limiter = new Limiter(db, Date.now, console);
  report('Memory before any caller');
  for (let i = 0; i < keys; i++) {
    await limiter.decide({ workspaceId: 1, id: `key_${i}` }, { quota: plans.pro, banRules: defaultBanRules });
    if (i % 50 === 0) await nextTurn();
  }
  report(`Memory after ${keys} keys`);
  for (let i = 0; i < addresses; i++) {
    await limiter.decide(
      { workspaceId: 0, id: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` },
      { quota: plans.free },
    );
    if (i % 50 === 0) await nextTurn();
  }
  report(`Memory after ${addresses} addresses more`);
  await limiter.close();
  const [row] = await db.read`select count(*) from limit_accounts`;
  console.log(`Accounts in storage: ${row?.[0]}. Timers in the process: one for all of them.`);
}

/** Lets the event loop turn, as it does between requests, so that accounts are saved. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function report(what: string): void {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  console.log(`${what}: heap ${mib(heapUsed)}, resident ${mib(rss)}`);
}

if (role) await serve(role);
else {
  await measureTime();
  await measureMemory(db);
  await finish();
}
