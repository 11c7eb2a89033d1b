/**
 * How many events a second one webhook gets, alone and beside writes: `npm run bench -- webhooks`. The receiver answers at once. With
 * `--against FOLDER` another version of this project takes turns with this one. `--check` fails the run when a bar is missed.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  compare,
  holdAtLeast,
  introduce,
  median,
  quantile,
  rateOf,
  readOptions,
  type Target,
} from './support/comparison.ts';
import { type LoadRequest, type Result, send } from './support/load.ts';
import { type Server, type Servers, withServers } from './support/servers.ts';

const effort = readOptions({ events: 5_000, alone: 2_500, beside: 260 });
const connections = 64;

/** Answers each message with 200, and notes when it came and which event it was. */
async function startReceiver() {
  const arrivals: { atMs: number; id: number }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      arrivals.push({ atMs: performance.now(), id: JSON.parse(Buffer.concat(chunks).toString()).id });
      response.end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, arrivals, url: `http://127.0.0.1:${port}/` };
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** A service with one webhook at a time. */
class Sending {
  readonly #origin: string;
  readonly #headers: Record<string, string>;
  readonly #receiver: Receiver;

  constructor({ origin }: Server, key: string, receiver: Receiver) {
    this.#origin = origin;
    this.#headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    this.#receiver = receiver;
  }

  /** A history that waits for an enabled webhook, and how fast it gets it. */
  async alone(): Promise<Result> {
    const { arrivals } = this.#receiver;
    const id = await this.#addWebhook();
    await this.#call('PATCH', `/v1/store/webhooks/${id}`, { enabled: false });
    // In parts, since each is answered before the next.
    const some = Array.from({ length: connections });
    for (let n = 0; n < effort.events; n += connections) {
      const { method, path, body } = this.#write;
      await Promise.all(some.map(() => this.#call(method, path, JSON.parse(body as string))));
    }
    arrivals.length = 0;
    await this.#call('PATCH', `/v1/store/webhooks/${id}`, { enabled: true });
    while (arrivals.length < effort.events) await sleep(20);
    await this.#call('DELETE', `/v1/store/webhooks/${id}`);
    return resultOf(arrivals);
  }

  /** How fast a webhook gets events while as many are written as can be. Also says how many were written. */
  async besideWrites(seconds: number): Promise<Result & { writes: number }> {
    const { arrivals } = this.#receiver;
    const id = await this.#addWebhook();
    arrivals.length = 0;
    const load = { origins: [this.#origin], requests: [this.#write], connections };
    const { perSecond: writes } = await send(load, seconds);
    const result = resultOf(arrivals);
    await this.#call('DELETE', `/v1/store/webhooks/${id}`);
    return { ...result, writes };
  }

  get #write(): LoadRequest {
    const body = JSON.stringify({ name: 'Bella', categoryId: 1 });
    return { method: 'POST', path: '/v1/pets', headers: this.#headers, body };
  }

  async #addWebhook(): Promise<number> {
    const { id } = await this.#call('POST', '/v1/store/webhooks', { url: this.#receiver.url });
    return id;
  }

  // biome-ignore lint/suspicious/noExplicitAny: a benchmark trusts the service
  async #call(method: string, path: string, body?: object): Promise<any> {
    const answer = await fetch(this.#origin + path, {
      method,
      headers: this.#headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    return answer.status === 204 ? undefined : answer.json();
  }
}

/** The rate of arrivals, and how long after each other they came. Throws if one came twice, or not in order. */
function resultOf(arrivals: Receiver['arrivals']): Result {
  if (arrivals.length < 2) return { perSecond: 0, p50Ms: Number.NaN, p99Ms: Number.NaN };
  const gaps = arrivals.slice(1).map(({ atMs, id }, i) => {
    const before = arrivals[i] as (typeof arrivals)[number];
    if (id !== before.id + 1) throw new Error(`Event ${id} came after ${before.id}.`);
    return atMs - before.atMs;
  });
  const lastedMs = (arrivals.at(-1)?.atMs ?? 0) - (arrivals[0]?.atMs ?? 0);
  return {
    perSecond: (gaps.length / lastedMs) * 1_000,
    p50Ms: median(gaps),
    p99Ms: quantile(gaps, 0.99),
  };
}

/** A key to the demonstration that no load uses up. */
function ampleKey(dataDir: string, project: string): string {
  const options = ['--plan', 'enterprise', '--per-minute', '100000000', '--per-day', '1000000000', '--json'];
  const { stdout } = spawnSync(process.execPath, ['bin/petstore.js', 'keys', 'create', ...options], {
    cwd: project,
    env: { ...process.env, PETSTORE_DATA_DIR: dataDir },
    encoding: 'utf8',
  });
  return JSON.parse(stdout).key;
}

async function measure(servers: Servers): Promise<void> {
  const versions = [
    ...(effort.against ? [{ name: 'before', project: effort.against }] : []),
    { name: 'now', project: new URL('..', import.meta.url).pathname },
  ];
  const sendings: { name: string; sending: Sending; receiver: Receiver; writes: number[] }[] = [];
  for (const { name, project } of versions) {
    // The demonstration alone sends to this machine. Each version makes its own, since tables may differ.
    const dataDir = join(servers.folder, name);
    const settings = { PETSTORE_DEMO: 'on' };
    const server = await servers.startService(dataDir, { settings, project });
    const receiver = await startReceiver();
    sendings.push({
      ...{ name, receiver, writes: [] },
      sending: new Sending(server, ampleKey(dataDir, project), receiver),
    });
  }
  const alone = sendings.map(({ name, sending }): Target => ({ name, run: () => sending.alone() }));
  const [first] = (await compare(`${effort.events} events that wait`, alone, effort)).slice(-1);
  if (first) holdAtLeast('events a second, alone', rateOf(first), effort.alone, effort);
  const beside = sendings.map(
    ({ name, sending, writes }): Target => ({
      name,
      async run(seconds) {
        const { writes: written, ...result } = await sending.besideWrites(seconds);
        writes.push(written);
        return result;
      },
    }),
  );
  const [second] = (await compare('Events beside writes', beside, effort)).slice(-1);
  for (const { name, writes } of sendings)
    console.log(`\nWrites a second, ${name}: ${Math.round(median(writes))}.`);
  if (second) holdAtLeast('events a second, beside writes', rateOf(second), effort.beside, effort);
  for (const { receiver } of sendings) receiver.server.close().closeAllConnections();
}

introduce(effort);
await withServers(measure);
