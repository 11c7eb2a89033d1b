/**
 * What one key that reads its recordings costs another: `npm run bench -- readings`. It measures the latency of the other's requests,
 * and the longest turn of the event loop, quiet and beside each attack. `--check` fails the run when a bar is missed.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { Agent, type ClientRequest, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKey } from '../src/access/keys/store.ts';
import { openSqlite } from '../src/db/sqlite.ts';
import { holdAtMost, introduce, markdownTable, median, quantile, readOptions } from './support/comparison.ts';
import { type Server, type Servers, withServers } from './support/servers.ts';

const effort = readOptions({ recorded: 5_000 });
/** Times the quiet median. */
const medianBar = 2;
const longestTurnBarMs = 5;
const everyMs = 5;
const abandoned = { count: 150, afterMs: 400 };
const target = `/v1/pets?${'x&'.repeat(2_000)}`;
/** So many requests are missing in a full recording, so that it can grow and its report cannot be kept. */
const missing = 500;

const agent = new Agent({ keepAlive: true });

/** Sends a request and resolves to the text of its answer. */
function ask(origin: string, key: string, method: string, path: string, its = agent): Promise<string> {
  return new Promise((resolve, reject) => {
    begin(origin, key, method, path, its)
      .on('error', reject)
      .on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part) => {
          text += part;
        });
        response.on('end', () => resolve(text)).on('error', reject);
      });
  });
}

function begin(origin: string, key: string, method: string, path: string, its: Agent): ClientRequest {
  const body = method === 'POST' ? '{}' : undefined;
  const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) };
  return request(origin + path, { method, headers, agent: its }).end(body);
}

/** Fills a recording of a key with requests of 4 KB, nearly all of them refused, and answers its path. */
async function fill({ origin }: Server, key: string): Promise<string> {
  const { id } = JSON.parse(await ask(origin, key, 'POST', '/lab/recordings'));
  const many = new Agent({ keepAlive: true, maxSockets: 16 });
  const count = effort.recorded - missing;
  await Promise.all(Array.from({ length: count }, () => ask(origin, key, 'GET', target, many)));
  many.destroy();
  const recording = `/lab/recordings/${id}`;
  const kept = await ask(origin, key, 'GET', recording);
  if (JSON.parse(kept).requests !== count) throw new Error(`${count} requests were sent: ${kept}`);
  return recording;
}

type Attack = (isOver: () => boolean) => Promise<void>;

/** Asks for archives and leaves, as fast as the limit of the lab lets it. */
const abandons =
  ({ origin }: Server, key: string, recording: string): Attack =>
  async (isOver) => {
    const many = new Agent({ keepAlive: false });
    const asked = Array.from({ length: abandoned.count }, () =>
      begin(origin, key, 'GET', `${recording}/har`, many).on('error', () => {}),
    );
    await sleep(abandoned.afterMs);
    for (const one of asked) one.destroy();
    many.destroy();
    while (!isOver()) await sleep(10);
  };

/** Asks for the report again and again, on one connection; another request before each makes it new. */
const repeats =
  ({ origin }: Server, key: string, recording: string): Attack =>
  async (isOver) => {
    while (!isOver()) {
      await ask(origin, key, 'GET', target);
      await ask(origin, key, 'GET', `${recording}/report`);
    }
  };

/** Reads archives one after another, each to its end. */
const reads =
  ({ origin }: Server, key: string, recording: string): Attack =>
  async (isOver) => {
    while (!isOver()) await ask(origin, key, 'GET', `${recording}/har`);
  };

/** Latencies of another key's requests, one each few milliseconds, beside an attack. */
async function latencies(
  { origin }: Server,
  key: string,
  seconds: number,
  attack?: Attack,
): Promise<number[]> {
  const endMs = performance.now() + seconds * 1_000;
  const isOver = () => performance.now() >= endMs;
  const attacking = attack?.(isOver);
  const times: number[] = [];
  while (!isOver()) {
    const beganMs = performance.now();
    await ask(origin, key, 'GET', '/v1/pets?limit=1');
    const tookMs = performance.now() - beganMs;
    times.push(tookMs);
    await sleep(Math.max(0, everyMs - tookMs));
  }
  await attacking;
  return times;
}

/** A server with a neighbour, and with an attacker that has filled a recording for each attack. */
async function prepare(servers: Servers, settings: Record<string, string> = {}) {
  const name = Object.keys(settings).length > 0 ? 'watched' : 'plain';
  const { key: neighbour, dataDir } = await servers.prepareData(name);
  const db = await openSqlite(dataDir);
  const newKey = async () =>
    (await db.write((sql) => createKey(sql, { workspaceId: 1, plan: 'free' }, Date.now()))).key;
  const keys = [await newKey(), await newKey()] as const;
  await db.close();
  const server = await servers.startService(dataDir, { settings: { PETSTORE_LAB: 'on', ...settings } });
  const [left, repeated] = [await fill(server, keys[0]), await fill(server, keys[1])];
  const attacks = {
    'beside 150 abandoned archives': abandons(server, keys[0], left),
    'beside one that repeats the report': repeats(server, keys[1], repeated),
  };
  // To accept 150 connections at once takes 5 ms by itself, whatever they ask for.
  const readers = {
    'beside one that reads archives': reads(server, keys[0], left),
    'beside one that repeats the report': repeats(server, keys[1], repeated),
  };
  return { server, neighbour, attacks, readers };
}

await withServers(async (servers) => {
  introduce(effort);
  const { server, neighbour, attacks } = await prepare(servers);
  const loads: [name: string, attack: Attack | undefined][] = [
    ['quiet', undefined],
    ...Object.entries(attacks),
  ];
  const medians = loads.map(() => [] as number[]);
  const p99s = loads.map(() => [] as number[]);
  await latencies(server, neighbour, effort.seconds);
  for (let round = 0; round < effort.rounds; round++) {
    for (const [i, [, attack]] of loads.entries()) {
      const times = await latencies(server, neighbour, effort.seconds, attack);
      medians[i]?.push(median(times));
      p99s[i]?.push(quantile(times, 0.99));
    }
  }
  const ratios = medians.map((own) => median(own.map((ms, i) => ms / (medians[0]?.[i] as number))));
  const rows = loads.map(([name], i) => [
    name,
    ...[medians[i], p99s[i]].map((values) => median(values as number[]).toFixed(2)),
    (ratios[i] as number).toFixed(2),
  ]);
  console.log(`\n${markdownTable([['GET /v1/pets?limit=1', 'p50 ms', 'p99 ms', 'Ratio'], ...rows])}`);
  for (const [i, [name]] of loads.entries())
    if (i > 0) holdAtMost(`The median ${name}`, ratios[i] as number, medianBar, effort);
});

await withServers(async (servers) => {
  const file = join(servers.folder, 'longest-turn');
  const watcher = new URL('support/loop-turns.ts', import.meta.url).href;
  const settings = { NODE_OPTIONS: `--import=${watcher}`, LOOP_TURNS_FILE: file };
  const { server, neighbour, readers } = await prepare(servers, settings);
  const longestTurnMs = async (attack?: Attack) => {
    await latencies(server, neighbour, effort.seconds, attack);
    server.child.kill('SIGUSR2');
    while (!existsSync(file)) await sleep(10);
    const ms = Number(readFileSync(file, 'utf8'));
    rmSync(file);
    return ms;
  };
  // The first turns of a server are those of its compilers.
  for (const attack of [undefined, ...Object.values(readers)]) await longestTurnMs(attack);
  const loads = [['quiet', undefined], ...Object.entries(readers)] as const;
  const longest = loads.map(() => [] as number[]);
  for (let round = 0; round < effort.rounds; round++)
    for (const [i, [, attack]] of loads.entries()) longest[i]?.push(await longestTurnMs(attack));
  const rows = loads.map(([name], i) => [name, median(longest[i] as number[]).toFixed(1)]);
  console.log(`\n${markdownTable([['Longest turn of the event loop', 'ms of processor time'], ...rows])}`);
  const [quietMs, ...readMs] = longest.map(median) as [number, ...number[]];
  for (const [i, ms] of readMs.entries())
    holdAtMost(`Longer than quiet ${loads[i + 1]?.[0]}, in ms`, ms - quietMs, longestTurnBarMs, effort);
});
agent.destroy();
