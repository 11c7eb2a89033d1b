import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { Redis } from 'iovalkey';
import { temporaryFolder } from './folder.ts';
import { freePort } from './port.ts';
import { until } from './until.ts';

const command = 'redis-server';
const isInstalled = spawnSync(command, ['--version']).status === 0;

/** For the options of tests that need a server. Where everything must be tested, none is skipped. */
export const needsValkey = {
  skip: isInstalled || process.env.CI === 'true' ? false : `there is no ${command}`,
};

const startTimeoutMs = 20_000;
const slots = 16_384;

/** A Redis or Valkey server of a test's own. */
export interface ValkeyServer {
  url: string;
  port: number;
  child: ChildProcess;
  /** Ends it at once. */
  kill(): Promise<void>;
}

/** Starts a server, by default on a free port, that ends with the test. */
export async function startValkey(
  t: TestContext,
  { port, args = [] }: { port?: number; args?: string[] } = {},
): Promise<ValkeyServer> {
  const at = port ?? (await freePort());
  const folder = temporaryFolder(t);
  const child = spawn(
    command,
    ['--port', String(at), '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...args],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  t.after(kill);
  let output = '';
  const deadline = AbortSignal.timeout(startTimeoutMs);
  while (!output.includes('Ready to accept connections')) {
    const [chunk] = await once(child.stdout, 'data', { signal: deadline });
    output += chunk;
  }
  child.stdout.resume();
  return { url: `redis://127.0.0.1:${at}`, port: at, child, kill };
}

/** Starts a cluster of three servers, each with a third of the slots. */
export async function startCluster(t: TestContext): Promise<ValkeyServer[]> {
  const busPorts = [await freePort(), await freePort(), await freePort()];
  const servers = await Promise.all(
    busPorts.map((busPort) =>
      startValkey(t, { args: ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)] }),
    ),
  );
  const clients = servers.map(({ port }) => new Redis(port, '127.0.0.1'));
  for (const [i, client] of clients.entries()) {
    const [from, to] = [i, i + 1].map((n) => Math.ceil((n * slots) / servers.length));
    await client.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String((to as number) - 1));
    const met = servers[(i + 1) % servers.length] as ValkeyServer;
    await client.call('CLUSTER', 'MEET', '127.0.0.1', met.port, busPorts[servers.indexOf(met)] as number);
  }
  for (const client of clients) {
    const isWhole = async () => {
      const info = String(await client.call('CLUSTER', 'INFO'));
      return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3');
    };
    await until(isWhole);
    client.disconnect();
  }
  return servers;
}
