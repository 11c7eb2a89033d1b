import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Redis, type RedisOptions } from 'iovalkey';
import { temporaryFolder } from './folder.ts';
import { freePort } from './port.ts';
import { needs, type Running, startProgram, working } from './programs.ts';
import { until } from './until.ts';

const command = 'redis-server';
export const needsValkey = needs(working(command, ['--version']) !== undefined, command);

const slots = 16_384;
const masterCount = 3;

/** A Redis or Valkey server of one test. */
export interface ValkeyServer extends Running {
  url: string;
  port: number;
}

/** Starts a server, by default on a free port, that ends with the test. */
export async function startValkey(t: TestContext, { port = 0, args = [] as string[] } = {}) {
  const at = port || (await freePort());
  const own = ['--port', String(at), '--bind', '127.0.0.1', '--dir', temporaryFolder(t), '--save', ''];
  // A replica need not wait for others before a sync.
  own.push('--repl-diskless-sync-delay', '0');
  return launch(t, at, [...own, ...args], 'Ready to accept connections');
}

/** The Sentinels' name for the master of a test. */
export const masterName = 'pets-1';

/** Starts a Sentinel for which a master counts as lost after half a second. `lines` are added to its file. */
export async function startSentinel(
  t: TestContext,
  master: ValkeyServer,
  { host = '127.0.0.1', quorum = 1, lines = [] as string[] } = {},
): Promise<ValkeyServer> {
  const port = await freePort();
  const folder = temporaryFolder(t);
  const file = join(folder, 'sentinel.conf');
  const own = [
    ...[`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`],
    ...['sentinel resolve-hostnames yes', 'sentinel announce-hostnames yes'],
    `sentinel monitor ${masterName} ${host} ${master.port} ${quorum}`,
    `sentinel down-after-milliseconds ${masterName} 500`,
    `sentinel failover-timeout ${masterName} 3000`,
  ];
  writeFileSync(file, [...own, ...lines, ''].join('\n'));
  return launch(t, port, [file, '--sentinel'], '+monitor');
}

async function launch(t: TestContext, port: number, args: string[], ready: string): Promise<ValkeyServer> {
  const running = await startProgram(command, args, (output) => output.includes(ready));
  t.after(running.kill);
  return { ...running, url: `redis://127.0.0.1:${port}`, port };
}

/** A client of one test, which ends with it. */
export function adminOf(t: TestContext, { port }: ValkeyServer, options: RedisOptions = {}): Redis {
  const admin = new Redis(port, '127.0.0.1', options);
  // Its server may be killed.
  admin.on('error', () => {});
  t.after(() => admin.disconnect());
  return admin;
}

/** The index of the server with an account, among the masters of `startCluster`. */
export async function nodeOf(t: TestContext, server: ValkeyServer, name: string): Promise<number> {
  const slot = Number(await adminOf(t, server).call('CLUSTER', 'KEYSLOT', name));
  return Math.floor((slot * masterCount) / slots);
}

/** Waits until the replicas of a master have its current data. */
export async function replicated(master: Redis): Promise<void> {
  const offsets = (info: string, name: RegExp) =>
    [...info.matchAll(name)].map(([, offset]) => Number(offset));
  const [now = 0] = offsets(await master.info('replication'), /master_repl_offset:(\d+)/g);
  await until(async () => {
    const known = offsets(await master.info('replication'), /^slave\d+:.*offset=(\d+)/gm);
    return known.length > 0 && known.every((offset) => offset >= now);
  });
}

/** Starts a cluster of three servers, each with a third of the slots, and optionally a replica for each. */
export async function startCluster(t: TestContext, { hasReplicas = false } = {}): Promise<ValkeyServer[]> {
  const args = ['--cluster-enabled', 'yes'];
  // A replica takes over after its master counts as lost, which takes two seconds.
  if (hasReplicas) args.push('--cluster-node-timeout', '2000');
  const busPorts = await Promise.all(Array.from({ length: hasReplicas ? 6 : 3 }, freePort));
  const servers = await Promise.all(
    busPorts.map((busPort) => startValkey(t, { args: [...args, '--cluster-port', String(busPort)] })),
  );
  const clients = servers.map((server) => adminOf(t, server));
  const first = clients[0] as Redis;
  for (const [i, client] of clients.entries()) {
    const [from, to] = [i, i + 1].map((n) => Math.ceil((n * slots) / masterCount));
    if (i < masterCount)
      await client.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String((to as number) - 1));
    // An election requires different epochs.
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
    if (i > 0)
      await first.call('CLUSTER', 'MEET', '127.0.0.1', servers[i]?.port ?? '', busPorts[i] as number);
  }
  for (const client of clients) {
    await until(async () => {
      const info = String(await client.call('CLUSTER', 'INFO'));
      return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${servers.length}`);
    });
  }
  for (const [i, replica] of clients.entries()) {
    const master = clients[i % masterCount] as Redis;
    if (i < masterCount) continue;
    const id = String(await master.call('CLUSTER', 'MYID'));
    await until(async () => (await replica.call('CLUSTER', 'REPLICATE', id).catch(() => '')) === 'OK');
    await until(async () => (await replica.info('replication')).includes('master_link_status:up'));
  }
  return servers;
}

/** The kinds of servers that share limits. */
export const serverKinds: [name: string, start: (t: TestContext) => Promise<ValkeyServer[]>][] = [
  ['one server', async (t) => [await startValkey(t)]],
  ['a cluster of three', startCluster],
];
