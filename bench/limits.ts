/**
 * What limits cost. First the time that identify, ban, count and headers add to a request: a bare Fastify and one that
 * admits are asked in turn. The requests come over a connection in memory, so that the kernel, whose share is the same
 * for both and varies most, stays out of it; parsing the request and writing the answer with its headers are in. Then the
 * memory after many callers. Run it with `npm run bench -- limits`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { createIdentify } from '../src/access/keys/identify.ts';
import { LocalLimiter } from '../src/access/limits/local-limiter.ts';
import { admit, planAccount } from '../src/api/admission.ts';
import type { Database } from '../src/db/database.ts';
import { openSqlite } from '../src/db/sqlite.ts';
import { banRules, plans } from '../src/foundation/settings/plans.ts';
import { responseWriter } from '../src/http/write-response.ts';
import { Metrics } from '../src/observe/metrics.ts';
import { createWorkspace } from '../src/store/workspaces/store.ts';
import { quietSources } from '../test/observe/metrics.ts';
import { createAmpleKey } from './support/data.ts';

/** More than one, since one may be compiled luckier than another. */
const processes = 5;
const warmUpTurns = 30;
const turns = 200;
/** Short enough that the machine is the same for both rounds of a turn, long enough to hold their share of collections. */
const requestsPerRound = 2_000;
/** Requests that arrive at once. */
const batchSize = 50;
const barMicroseconds = 3;
const addresses = 1_000_000;
const keys = 100_000;

interface Times {
  bare: number;
  admitting: number;
}

const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const db = await openSqlite(folder);

/** Answers rounds of a bare server and of one that admits, in turn, and tells the microseconds of each. */
async function measureTurns(): Promise<void> {
  const key = await ampleKey(db);
  const limiter = new LocalLimiter(db, Date.now, console);
  const admission = {
    identify: createIdentify(db, limiter),
    ...{ limiter, hasDraftLimits: true, accountOf: planAccount },
    metrics: new Metrics({ ...quietSources, db }),
  };
  const bare = await connect(key, () => undefined);
  const admitting = await connect(key, (request) => admit(admission, request));
  for (let turn = -warmUpTurns; turn < turns; turn++) {
    const times: Times = { bare: await timeOf(bare), admitting: await timeOf(admitting) };
    if (turn >= 0) process.send?.(times);
  }
  await limiter.close();
}

type Gate = (request: FastifyRequest) => Promise<void> | undefined;

async function connect(key: string, gate: Gate): Promise<MemoryConnection> {
  const app = fastify();
  app.decorateRequest('caller', undefined);
  app.decorateRequest('limitHeaders', undefined);
  app.addHook('onRequest', (request, _reply, done) => {
    const admitted = gate(request);
    if (admitted) admitted.then(() => done(), done);
    else done();
  });
  const write = responseWriter(undefined);
  const body = JSON.stringify({ id: 1, name: 'Bella', categoryId: 1, status: 'available' });
  app.get('/v1/pets/1', async (request, reply) => write(request, reply, { status: 200, headers: {}, body }));
  await app.ready();
  return new MemoryConnection(app, key);
}

/** Microseconds per request of one round. */
async function timeOf(connection: MemoryConnection): Promise<number> {
  const startedMs = performance.now();
  for (let sent = 0; sent < requestsPerRound; sent += batchSize) await connection.ask();
  return ((performance.now() - startedMs) * 1000) / requestsPerRound;
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
    // Every answer is one chunk. Only its first bytes are looked at, so that reading it costs both servers the same.
    if (chunk.toString('latin1', 0, 12) !== 'HTTP/1.1 200') throw new Error(`Unexpected answer: ${chunk}`);
    this.#answers++;
    done();
    if (this.#answers < batchSize) return;
    this.#answers = 0;
    setImmediate(this.#answered);
  }
}

const addWorkspace = (db: Database) => db.write((sql) => createWorkspace(sql, 'bench', Date.now()));

async function ampleKey(db: Database): Promise<string> {
  const { id: workspaceId } = await addWorkspace(db);
  return db.write((sql) => createAmpleKey(sql, workspaceId));
}

async function measureTime(): Promise<void> {
  const bareTimes: number[] = [];
  const added: number[] = [];
  for (let i = 0; i < processes; i++) {
    const child = fork(import.meta.filename, ['turns']);
    child.on('message', ({ bare, admitting }: Times) => {
      bareTimes.push(bare);
      added.push(admitting - bare);
    });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error('A measuring process failed.');
  }
  const median = quantile(added, 0.5);
  const quartiles = [quantile(added, 0.25), quantile(added, 0.75)].map((time) => time.toFixed(2));
  console.log('Time that identify + ban + count + headers add to a request:');
  console.log(
    `  median ${median.toFixed(2)} µs, quartiles ${quartiles.join(' and ')} µs; the bar is ${barMicroseconds} µs`,
  );
  console.log(`  bare Fastify itself: ${quantile(bareTimes, 0.5).toFixed(2)} µs`);
  console.log(
    `  (${processes} processes, ${turns} rounds of each in turn, ${requestsPerRound} requests a round)`,
  );
  if (median > barMicroseconds) process.exitCode = 1;
}

function quantile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] as number;
}

async function measureMemory(db: Database): Promise<void> {
  const { id: workspaceId } = await addWorkspace(db);
  const limiter = new LocalLimiter(db, Date.now, console);
  report('Memory before any caller');
  for (let i = 0; i < keys; i++) {
    await limiter.decide({ workspaceId, id: `key_${i}` }, { quota: plans.pro, banRules });
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

if (process.argv[2] === 'turns') await measureTurns();
else {
  await measureTime();
  await measureMemory(db);
}
await db.close();
rmSync(folder, { recursive: true });
