/**
 * What limits cost. First the time that identify, ban, count and headers add to a request: a bare Fastify and one that
 * admits are asked in turn, over real sockets in this process. Then the memory after many callers.
 * Run it with `npm run bench:limits`.
 */
import { on } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify, { type FastifyInstance, type onRequestAsyncHookHandler } from 'fastify';
import { admit } from '../src/access/admission.ts';
import { identifier } from '../src/access/identify.ts';
import { createKey } from '../src/access/keys.ts';
import { Limiter } from '../src/access/limiter.ts';
import { defaultBanRules } from '../src/access/limits.ts';
import { plans } from '../src/access/plans.ts';
import type { Database } from '../src/db/database.ts';
import { openSqlite } from '../src/db/sqlite.ts';
import { Metrics } from '../src/metrics.ts';
import { createWorkspace } from '../src/workspaces/store.ts';

const warmUpRounds = 10;
const rounds = 60;
const requestsPerRound = 5_000;
/** Requests that are sent at once over a connection, so that the sockets cost little of each. */
const pipelined = 50;
const barMicroseconds = 3;
const addresses = 1_000_000;
const keys = 100_000;

const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const db = await openSqlite(folder);
try {
  await measureTime(db);
  await measureMemory(db);
} finally {
  await db.close();
  rmSync(folder, { recursive: true });
}

async function measureTime(db: Database): Promise<void> {
  const key = await ampleKey(db);
  const limiter = new Limiter(db, Date.now);
  const admission = {
    identify: identifier(db),
    limiter,
    banRules: defaultBanRules,
    metrics: new Metrics(db.counts),
  };
  const bare = await serve(async () => {});
  const admitting = await serve(async (request, reply) => {
    request.caller = await admit(admission, request, reply);
  });
  const differences: number[] = [];
  const bareTimes: number[] = [];
  for (let round = -warmUpRounds; round < rounds; round++) {
    const bareTime = await timeOf(bare, key);
    const admittingTime = await timeOf(admitting, key);
    if (round < 0) continue;
    bareTimes.push(bareTime);
    differences.push(admittingTime - bareTime);
  }
  const median = quantile(differences, 0.5);
  const quartiles = [quantile(differences, 0.25), quantile(differences, 0.75)].map((time) => time.toFixed(2));
  console.log(
    `Identify + ban + count + headers, per request on top of bare Fastify, ${rounds} rounds in turn:`,
  );
  console.log(
    `  median ${median.toFixed(2)} µs, quartiles ${quartiles.join(' and ')} µs (bar: ${barMicroseconds} µs)`,
  );
  console.log(`  bare Fastify itself: ${quantile(bareTimes, 0.5).toFixed(2)} µs`);
  await Promise.all([bare.close(), admitting.close(), limiter.close()]);
  if (median > barMicroseconds) process.exitCode = 1;
}

function quantile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] as number;
}

async function serve(hook: onRequestAsyncHookHandler): Promise<FastifyInstance> {
  const app = fastify({ forceCloseConnections: true });
  app.decorateRequest('caller', undefined);
  app.addHook('onRequest', hook);
  app.get('/v1/pets/1', async () => ({ id: 1, name: 'Bella', categoryId: 1, status: 'available' }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app;
}

/** Microseconds per request of one round. */
async function timeOf(app: FastifyInstance, key: string): Promise<number> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  const request = `GET /v1/pets/1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const started = performance.now();
  for (let sent = 0; sent < requestsPerRound; sent += pipelined) {
    socket.write(request.repeat(pipelined));
    await answers(socket, pipelined);
  }
  const elapsedMs = performance.now() - started;
  socket.destroy();
  return (elapsedMs * 1000) / requestsPerRound;
}

/** Waits for a number of answers, each of which ends with the same body. */
async function answers(socket: Socket, count: number): Promise<void> {
  let text = '';
  for await (const [chunk] of on(socket, 'data')) {
    text += (chunk as Buffer).toString('latin1');
    if (text.split('"available"}').length > count) return;
  }
}

async function ampleKey(db: Database): Promise<string> {
  return db.write(async (sql) => {
    const { id: workspaceId } = await createWorkspace(sql, 'bench', Date.now());
    const quota = { perMinute: 100_000_000, perDay: 1_000_000_000 };
    return (await createKey(sql, { workspaceId, plan: 'enterprise', quota }, Date.now())).key;
  });
}

async function measureMemory(db: Database): Promise<void> {
  const limiter = new Limiter(db, Date.now);
  report('Memory before any caller');
  for (let i = 0; i < keys; i++) {
    await limiter.decide({ workspaceId: 1, id: `key_${i}` }, { quota: plans.pro, banRules: defaultBanRules });
    if (i % pipelined === 0) await nextTurn();
  }
  report(`Memory after ${keys} keys`);
  for (let i = 0; i < addresses; i++) {
    await limiter.decide(
      { workspaceId: 0, id: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` },
      { quota: plans.free },
    );
    if (i % pipelined === 0) await nextTurn();
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
