import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What is sent: one request, or several in turn, by so many connections, which are shared out among the servers. */
export interface Load {
  origins: string[];
  requests: LoadRequest[];
  connections: number;
  /** Each server gets a share of the requests, not all of them. */
  areShared?: boolean;
}

export interface LoadRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** A request for a path with a key. */
export function get(path: string, key: string): LoadRequest {
  return { method: 'GET', path, headers: { authorization: `Bearer ${key}` } };
}

/** A request with a key that changes something. */
export function write(method: string, path: string, key: string, body: object): LoadRequest {
  const headers = { ...get(path, key).headers, 'content-type': 'application/json' };
  return { method, path, headers, body: JSON.stringify(body) };
}

/** What came of it: answers a second, and milliseconds within which half and 99 of 100 came. */
export interface Result {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

const succeeds = (command: string, args: string[]) => spawnSync(command, args).error === undefined;

/** wrk takes little of the processor itself. autocannon is there for machines without it. */
export const generator = succeeds('wrk', ['-v']) ? 'wrk' : 'autocannon';
if (generator === 'autocannon' && !existsSync(new URL('../peers/node_modules/autocannon', import.meta.url))) {
  console.error('No load generator: install wrk, or run "npm ci --ignore-scripts --prefix bench/peers".');
  process.exit(1);
}

/** The words before a command that keep it on one core, where that can be done. */
export const onCore = (core: number): string[] =>
  succeeds('taskset', ['-V']) ? ['taskset', '-c', String(core)] : [];

/** The core of the load; servers have the first one. */
export const loadCore = 1;

/** Sends a load for some seconds. Rejects when an answer is no success or a connection breaks. */
export async function send(
  { origins, requests, connections, areShared }: Load,
  seconds: number,
): Promise<Result> {
  const sendTo = generator === 'wrk' ? sendByWrk : sendByAutocannon;
  const share = Math.ceil(connections / origins.length);
  const requestsOf = (server: number) =>
    areShared ? requests.filter((_, i) => i % origins.length === server) : requests;
  const results = await Promise.all(
    origins.map((origin, i) => sendTo(origin, requestsOf(i), share, seconds)),
  );
  return {
    perSecond: results.reduce((sum, { perSecond }) => sum + perSecond, 0),
    p50Ms: Math.max(...results.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...results.map(({ p99Ms }) => p99Ms)),
  };
}

async function sendByWrk(
  origin: string,
  requests: LoadRequest[],
  connections: number,
  seconds: number,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-load-'));
  const script = join(folder, 'requests.lua');
  writeFileSync(script, luaOf(requests));
  const effort = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`];
  // Some peers are slow, which is no error.
  const options = [...effort, '--timeout', '30s', '--latency', '-s', script];
  const command = [...onCore(loadCore), 'wrk', ...options, origin];
  const { stdout } = await run(command[0] as string, command.slice(1)).finally(() =>
    rmSync(folder, { recursive: true }),
  );
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`Not every request succeeded:\n${stdout}`);
  return {
    perSecond: Number(/Requests\/sec:\s*([\d.]+)/.exec(stdout)?.[1]),
    p50Ms: millisecondsOf(/^ +50%\s+(\S+)/m.exec(stdout)?.[1]),
    p99Ms: millisecondsOf(/^ +99%\s+(\S+)/m.exec(stdout)?.[1]),
  };
}

/** A script for wrk that sends the requests in turn. */
function luaOf(requests: LoadRequest[]): string {
  const calls = requests.map(({ method, path, headers, body }) => {
    const fields = Object.entries(headers).map(([name, value]) => `[${lua(name)}]=${lua(value)}`);
    return `wrk.format(${lua(method)}, ${lua(path)}, {${fields.join(', ')}}, ${body === undefined ? 'nil' : lua(body)})`;
  });
  return `
local requests
local next = 0
function init() requests = { ${calls.join(',\n')} } end
function request()
  next = next % #requests + 1
  return requests[next]
end`;
}

const lua = (text: string) => JSON.stringify(text);

function millisecondsOf(text = ''): number {
  const [, number, unit] = /^([\d.]+)(us|ms|s|m)$/.exec(text) ?? [];
  const factor = { us: 0.001, ms: 1, s: 1_000, m: 60_000 }[unit ?? ''];
  return Number(number) * (factor ?? Number.NaN);
}

async function sendByAutocannon(
  origin: string,
  requests: LoadRequest[],
  connections: number,
  seconds: number,
): Promise<Result> {
  const program = new URL('../peers/autocannon.js', import.meta.url).pathname;
  const load = JSON.stringify({ url: origin, requests, connections, duration: seconds });
  const command = [...onCore(loadCore), process.execPath, program, load];
  const { stdout } = await run(command[0] as string, command.slice(1));
  return JSON.parse(stdout);
}
