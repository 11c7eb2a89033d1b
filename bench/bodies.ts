/**
 * What the costliest requests cost: bodies of 64 KiB, targets and fields of 15 KB in every shape of shapes.ts, each beside
 * a plain request of the same size, whole, in this process: `npm run bench -- bodies`. With `--check` the run fails when one
 * costs over 2 ms more.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { LocalLimiter } from '../src/access/limits/local-limiter.ts';
import { openSqlite } from '../src/db/sqlite.ts';
import { readConfig } from '../src/foundation/settings/config.ts';
import { createLogger } from '../src/observe/log/logger.ts';
import { buildApp } from '../src/service/app.ts';
import { holdAtMost, markdownTable, median, readOptions } from './support/comparison.ts';
import { createAmpleKey, createShop, installation } from './support/data.ts';
import { oddRequests, type Pair } from './support/shapes.ts';

const effort = readOptions({ most: 2 });
const runs = 9;
/** A run that lasts so long makes a shape worth a closer look. */
const suspectMs = 1;
const shown = 10;

/** Conditions that translate requests. */
const faults = ['large-ids', 'new-fields', 'new-status'].map((fault) => ({ fault }));

/** Begins a rehearsal anew: by the clock of this run it would soon be over. */
async function rehearse(app: FastifyInstance, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const request = { method: 'POST', url: '/lab/rehearsals', headers, payload: { faults } } as const;
  const { statusCode, body } = await app.inject(request);
  if (statusCode !== 201) throw new Error(body);
}

/** Milliseconds of one request, all that is done for it. */
async function timeOf(
  app: FastifyInstance,
  key: string,
  { headers, ...request }: InjectOptions,
): Promise<number> {
  const startMs = performance.now();
  await app.inject({ ...request, headers: { authorization: `Bearer ${key}`, ...headers } });
  return performance.now() - startMs;
}

/** Milliseconds that the odd request of a pair takes more than the plain one, as medians of runs in turn. */
async function extraOf(
  { odd, plain }: Pair,
  time: (request: InjectOptions) => Promise<number>,
): Promise<number> {
  const times: { odd: number[]; plain: number[] } = { odd: [], plain: [] };
  for (let run = 0; run < runs; run++) {
    times.odd.push(await time(odd));
    times.plain.push(await time(plain));
  }
  return median(times.odd) - median(times.plain);
}

async function measure(
  timeIf: (isRehearsed: boolean, request: InjectOptions) => Promise<number>,
): Promise<void> {
  const extras: { name: string; extraMs: number }[] = [];
  let count = 0;
  for (const { name, make, isRehearsed = false } of oddRequests()) {
    count++;
    const time = (request: InjectOptions) => timeIf(isRehearsed, request);
    const pair = make();
    const firstMs = Math.min(await time(pair.odd), await time(pair.odd));
    if (firstMs < suspectMs) continue;
    let extraMs = await extraOf(pair, time);
    // What else the machine does may hit a shape once, and not every time.
    for (let again = 0; again < 2 && extraMs > effort.most; again++) {
      extraMs = Math.min(extraMs, await extraOf(pair, time));
    }
    extras.push({ name, extraMs });
  }
  const worst = extras.toSorted((a, b) => b.extraMs - a.extraMs).slice(0, shown);
  const rows = worst.map(({ name, extraMs }) => [name, extraMs.toFixed(2)]);
  console.log(`${count} shapes; those that cost most, medians of ${runs} runs in turn:\n`);
  console.log(markdownTable([['', 'ms more than plain text'], ...rows]));
  holdAtMost('The costliest shape, in ms more than plain text', worst[0]?.extraMs ?? 0, effort.most, effort);
}

const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const db = await openSqlite(folder);
const log = createLogger('error', process.stdout);
/** Runs so fast that no request meets a limit: those of the lab are the same for all keys. */
const clock = () => Math.round(performance.timeOrigin + performance.now() * 1_000);
const limiter = new LocalLimiter(db, clock, log);
const config = {
  ...readConfig({}),
  baseUrl: 'http://localhost:8080/v1',
  trustProxy: false,
  hasDraftLimits: true,
  enforceSunset: false,
  lab: true,
};
const app = buildApp({ config, db, limiter, log, installation, clock });
try {
  const { key, workspaceId } = await createShop(db, 'bench');
  const rehearsing = await db.write((sql) => createAmpleKey(sql, workspaceId));
  await measure(async (isRehearsed, request) => {
    if (isRehearsed) await rehearse(app, rehearsing);
    return timeOf(app, isRehearsed ? rehearsing : key, request);
  });
} finally {
  await app.close();
  await limiter.close();
  await db.close();
  rmSync(folder, { recursive: true });
}
