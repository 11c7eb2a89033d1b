import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { temporaryFolder } from '../folder.ts';
import { freePort } from '../port.ts';
import { PostgresCluster } from '../postgres-cluster.ts';
import { startProgram } from '../programs.ts';
import { listen } from '../receiver.ts';
import { run } from '../storage.ts';
import { until } from '../until.ts';

/** How long nothing can be written: the decision about a failover takes a while. */
export const undecidedMs = 1_500;

/** A primary and its synchronous standby, each with an HTTP server that reports whether it is the primary. */
export async function startPair(t: TestContext) {
  const primary = await PostgresCluster.start();
  t.after(() => primary.remove());
  const standby = await primary.addStandby();
  t.after(() => standby.remove());
  const backends = await Promise.all([primary, standby].map((server) => startCheck(t, server)));
  const pair = { primary, standby, backends, switchOver, failOver };
  await commitOnBoth();
  return pair;

  /** A planned switch: the primary stops and restarts at once as a standby; a while later the other is promoted. */
  async function switchOver(isStopped: () => void): Promise<void> {
    const { primary, standby } = pair;
    await primary.stop('fast');
    isStopped();
    await primary.follow(standby);
    await sleep(undecidedMs);
    await promote();
    await commitOnBoth();
  }

  /** The primary is killed. A while later the standby is promoted, and then runs alone. */
  async function failOver(isStopped: () => void): Promise<void> {
    pair.primary.kill();
    isStopped();
    await sleep(undecidedMs);
    await promote();
  }

  /** First without a standby: a primary that waits for a missing standby commits nothing. */
  async function promote(): Promise<void> {
    const { primary, standby } = pair;
    await run(standby.url, `alter system set synchronous_standby_names = ''`, 'select pg_reload_conf()');
    await standby.promote();
    Object.assign(pair, { primary: standby, standby: primary });
  }

  /** From here on a commit is acknowledged when both have it. */
  async function commitOnBoth(): Promise<void> {
    const { url } = pair.primary;
    await run(url, `alter system set synchronous_standby_names = '*'`, 'select pg_reload_conf()');
    await until(async () => (await ask(url, 'select sync_state from pg_stat_replication')) === 'sync');
  }
}

type Backend = Awaited<ReturnType<typeof startCheck>>;

/** The ports of a server and of its check, which returns 200 while it is a primary, and else 503, like tools that manage PostgreSQL. */
async function startCheck(t: TestContext, { url, port }: PostgresCluster) {
  const isPrimary = () => ask(url, 'select not pg_is_in_recovery()').catch(() => false);
  const check = createServer(async (_request, response) => {
    response.writeHead((await isPrimary()) ? 200 : 503).end();
  });
  return { port, checkPort: (await listen(t, check)).port };
}

async function ask(connectionString: string, question: string): Promise<unknown> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 1_000, query_timeout: 1_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query({ text: question, rowMode: 'array' });
    return rows[0]?.[0];
  } finally {
    await client.end();
  }
}

/** HAProxy in front of the healthy backends. Sessions with an unhealthy server stay open, unless it `endsSessions`. */
export async function startHaproxy(t: TestContext, backends: Backend[], endsSessions: boolean) {
  const folder = temporaryFolder(t);
  const [port, socketPath, file] = [await freePort(), join(folder, 'socket'), join(folder, 'haproxy.cfg')];
  const ends = endsSessions ? ' on-marked-down shutdown-sessions' : '';
  const servers = backends.map(
    ({ port, checkPort }) => `  server postgres-${port} 127.0.0.1:${port} check port ${checkPort}`,
  );
  // The page on operations shows these.
  const settings = `global
  stats socket ${socketPath}
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 1s
listen postgres
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 3 rise 2${ends}
${servers.join('\n')}
`;
  writeFileSync(file, settings);
  /** The ports of the servers that get new connections. */
  async function healthy(): Promise<number[]> {
    const socket = connect(socketPath);
    socket.write('show stat\n');
    const [header = '', ...lines] = (await text(socket)).split('\n').map((line) => line.split(','));
    const [name, status] = [header.indexOf('svname'), header.indexOf('status')];
    return lines.flatMap((line) => {
      const port = /^postgres-(\d+)$/.exec(line[name] ?? '')?.[1];
      return port && line[status]?.startsWith('UP') ? [Number(port)] : [];
    });
  }
  const answers = () => healthy().then(Boolean, () => false);
  t.after((await startProgram('haproxy', ['-db', '-f', file], answers)).kill);
  return { port, healthy };
}
