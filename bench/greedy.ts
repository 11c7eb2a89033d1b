/**
 * What one greedy key costs another: `npm run bench -- greedy`. It sends 600 of the most expensive requests of each kind, as fast as 64
 * connections take them, directly and behind `deploy/haproxy.cfg`. Meanwhile it measures the latency of a neighbour. It also measures the
 * memory for responses that nobody reads. `--check` fails the run when a bar is missed.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKey } from '../src/access/keys/store.ts';
import { openSqlite } from '../src/db/sqlite.ts';
import { maxFaults, maxKept } from '../src/lab/lab-bounds.ts';
import { haproxy } from '../test/support/load-balancers.ts';
import { holdAtMost, introduce, markdownTable, median, quantile, readOptions } from './support/comparison.ts';
import { loadCore, onCore } from './support/load.ts';
import { residentBytes, type Servers, withServers } from './support/servers.ts';

const greedyRequests = 600;
const connections = 64;
const unreadConnections = 20;
const medianBar = 2;
const p99Bar = 4;
const memoryBarBytes = 60_000_000;
const mebibyte = 1024 * 1024;

interface Call {
  method: string;
  path: string;
  body?: string;
}

const message = (method: string, params: object): Call => ({
  method: 'POST',
  path: '/mcp',
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
});
const unknowns = (value: unknown) =>
  Object.fromEntries(Array.from({ length: 950 }, (_, i) => [`x${i}`, value]));
const initialize = (experimental: object) =>
  message('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: { experimental },
    clientInfo: { name: 'greedy', version: '1' },
  });
const get = (path: string): Call => ({ method: 'GET', path });

/** The most expensive requests of each kind. */
const attacks: Record<string, Call> = {
  'ping to /mcp': message('ping', {}),
  'initialize with 950 wrong capabilities': initialize(unknowns(1)),
  'a tool with 950 unknown arguments': message('tools/call', {
    name: 'find_pets',
    arguments: unknowns(1),
  }),
  'tools/list': message('tools/list', {}),
  'a tool that lists 100 categories': message('tools/call', {
    name: 'find_categories',
    arguments: { limit: 100 },
  }),
  'GET /lab/rehearsals': get('/lab/rehearsals'),
  'POST /lab/rehearsals with 100 wrong faults': {
    method: 'POST',
    path: '/lab/rehearsals',
    body: JSON.stringify({
      faults: Array(maxFaults).fill({ fault: 'unavailable', a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1 }),
    }),
  },
  'GET /v1/categories?limit=100': get('/v1/categories?limit=100'),
  'GET /v1/store/events?limit=100': get('/v1/store/events?limit=100'),
};

function headersOf(key: string, body: string | undefined): Record<string, string> {
  const json = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  return { 'X-API-Key': key, ...(body && json) };
}

/** Sends a request and resolves to the status and the length of the response. */
function ask(origin: string, key: string, { method, path, body }: Call, agent: Agent) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    request(origin + path, { method, headers: headersOf(key, body), agent })
      .on('error', reject)
      .on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part) => {
          text += part;
        });
        response
          .on('end', () => resolve({ status: response.statusCode as number, text }))
          .on('error', reject);
      })
      .end(body);
  });
}

/** A request as it goes over the wire. */
function textOf(key: string, { method, path, body }: Call): string {
  const fields = {
    Host: 'localhost',
    ...headersOf(key, body),
    ...(body && { 'Content-Length': Buffer.byteLength(body) }),
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}

/** Sends all requests, and reads each response as cheaply as possible: it shares a core with the neighbour. */
async function attack({ port, text }: { port: number; text: string }): Promise<void> {
  let left = greedyRequests;
  const send = async () => {
    let socket = connect(port, '127.0.0.1');
    while (left-- > 0) {
      if (socket.destroyed) socket = connect(port, '127.0.0.1');
      socket.write(text);
      let missing = Number.POSITIVE_INFINITY;
      let head = '';
      for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
        if (missing === Number.POSITIVE_INFINITY) {
          head += chunk.toString('latin1');
          const length = /\r\nContent-Length: (\d+)\r\n/i.exec(head)?.[1] ?? 0;
          const end = head.indexOf('\r\n\r\n');
          if (end > 0) missing = end + 4 + Number(length) - head.length;
        } else missing -= chunk.length;
        if (missing <= 0) break;
      }
      if (missing > 0 || head.startsWith('HTTP/1.1 502')) throw new Error(`broken: ${head}`);
      if (/\r\nConnection: close/i.test(head)) socket.destroy();
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, send));
}

const effort = readOptions({ rounds: 3 });

/** Latencies of the neighbour, one request after another, until `isOver`. */
async function latencies(origin: string, key: string, isOver: () => boolean): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  while (!isOver() || times.length < 50) {
    const startMs = performance.now();
    const { status } = await ask(origin, key, get('/v1/pets?limit=1'), agent);
    times.push(performance.now() - startMs);
    if (status !== 200) throw new Error(`The neighbour got ${status}.`);
    await sleep(1);
  }
  agent.destroy();
  return times;
}

async function besides(origin: string, neighbour: string, key: string, call: Call | undefined) {
  let isOver = false;
  const endMs = performance.now() + effort.seconds * 1_000;
  if (!call) return latencies(origin, neighbour, () => performance.now() > endMs);
  const given = JSON.stringify({ port: Number(new URL(origin).port), text: textOf(key, call) });
  // The neighbour comes first on the core that they share, so that only the server delays it.
  const words = [...onCore(loadCore), 'nice', '-n', '19', process.execPath, import.meta.filename];
  const child = spawn(words[0] as string, words.slice(1), {
    env: { ...process.env, GREEDY_ATTACK: given },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    isOver = true;
    if (code !== 0) throw new Error('The attack broke.');
  });
  const times = await latencies(origin, neighbour, () => isOver);
  await ended;
  return times;
}

/** A workspace with the largest rows, and keys for greedy clients: those of a plan have limits of their own. */
async function prepare(servers: Servers, name: string) {
  const { key: neighbour, dataDir } = await servers.prepareData(name);
  const db = await openSqlite(dataDir);
  const newKey = async (plan: 'free' | 'business') =>
    (await db.write((sql) => createKey(sql, { workspaceId: 1, plan }, Date.now()))).key;
  const keys = await Promise.all(Array.from({ length: 200 }, () => newKey('business')));
  await db.close();
  const server = await servers.startService(dataDir, {
    settings: { PETSTORE_LAB: 'on', TRUST_PROXY: 'loopback' },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const large = { name: '🐉'.repeat(200), description: '🐉'.repeat(2_000) };
  const created = Array.from({ length: 100 }, () =>
    ask(
      server.origin,
      keys[0] as string,
      { method: 'POST', path: '/v1/categories', body: JSON.stringify(large) },
      agent,
    ),
  );
  for (const { status } of await Promise.all(created))
    if (status !== 201) throw new Error(`created: ${status}`);
  const ready = async () => {
    const key = keys.pop() as string;
    const faults = Array(maxFaults).fill({ fault: 'unavailable', operation: 'placeOrder' });
    for (let i = 0; i < maxKept; i++) {
      const { status, text } = await ask(
        server.origin,
        key,
        { method: 'POST', path: '/lab/rehearsals', body: JSON.stringify({ faults }) },
        agent,
      );
      if (status !== 201) throw new Error(text);
    }
    return key;
  };
  return { server, neighbour, ready };
}

async function measure(servers: Servers): Promise<void> {
  const { server, neighbour, ready } = await prepare(servers, 'greedy');
  const cleanups: (() => Promise<void>)[] = [];
  const context = { after: (end: () => Promise<void>) => cleanups.push(end) } as unknown as TestContext;
  const port = Number(new URL(server.origin).port);
  const origins: Record<string, string> = { directly: server.origin };
  if (!haproxy.needs.skip)
    origins['behind HAProxy'] = `http://127.0.0.1:${await haproxy.start(context, [port, port, port])}`;
  const calls = Object.entries(attacks);
  for (const [way, origin] of Object.entries(origins)) {
    const loads: [string, Call | undefined][] = [['quiet', undefined], ...calls];
    // So that V8 has compiled what serves them, and the SDK of agents is loaded.
    for (const [, call] of loads) await besides(origin, neighbour, await ready(), call);
    const measured = loads.map(() => [] as number[][]);
    for (let round = 0; round < effort.rounds; round++)
      for (const [i, [, call]] of loads.entries())
        measured[i]?.push(await besides(origin, neighbour, call ? await ready() : '', call));
    const of = (i: number, share: number) =>
      (measured[i] as number[][]).map((times) => quantile(times, share));
    const ratio = (i: number, share: number) =>
      median(of(i, share).map((ms, round) => ms / (of(0, share)[round] as number)));
    const rows = loads.map(([name], i) => [
      name,
      ...[
        median(of(i, 0.5)),
        median(of(i, 0.99)),
        ratio(i, 0.5),
        ratio(i, 0.99),
        Math.max(...of(i, 0.9999)),
      ].map((n) => n.toFixed(2)),
    ]);
    console.log(
      `\n${markdownTable([[way, 'p50 ms', 'p99 ms', 'p50 ratio', 'p99 ratio', 'longest ms'], ...rows])}`,
    );
    for (const [i, [name]] of loads.entries()) {
      if (i === 0) continue;
      holdAtMost(`${way}, median beside ${name}`, ratio(i, 0.5), medianBar, effort);
      holdAtMost(`${way}, p99 beside ${name}`, ratio(i, 0.99), p99Bar, effort);
    }
  }
  for (const [name, call] of calls) {
    const key = await ready();
    const beforeBytes = residentBytes(server);
    const text = textOf(key, call);
    const sockets = Array.from({ length: unreadConnections }, () =>
      connect(port, '127.0.0.1').on('error', () => {}),
    );
    for (const socket of sockets) {
      socket.pause();
      socket.write(text.repeat(greedyRequests / unreadConnections));
    }
    let most = 0;
    for (let i = 0; i < 30; i++) {
      await sleep(100);
      most = Math.max(most, residentBytes(server));
    }
    for (const socket of sockets) socket.destroy();
    holdAtMost(
      `MiB for 600 unread responses to ${name}`,
      (most - beforeBytes) / mebibyte,
      memoryBarBytes / mebibyte,
      effort,
    );
  }
  for (const end of cleanups) await end();
}

const given = process.env.GREEDY_ATTACK;
if (given) await attack(JSON.parse(given));
else {
  introduce(effort);
  // HAProxy inherits it.
  if (onCore(loadCore).length > 0)
    execFileSync('taskset', ['-a', '-c', '-p', String(loadCore), String(process.pid)]);
  await withServers(measure);
}
