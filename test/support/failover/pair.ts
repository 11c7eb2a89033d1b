import { createServer } from 'node:http';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Backend } from '../haproxy.ts';
import { PostgresCluster } from '../postgres-cluster.ts';
import { listen } from '../receiver.ts';
import { run } from '../storage.ts';
import { until } from '../until.ts';

/** How long nothing can be written: the decision about a failover takes a while. */
export const undecidedMs = 1_500;

/** A primary and its synchronous standby, each with an HTTP server that reports whether it is the primary. */
export class ServerPair {
  primary: PostgresCluster;
  standby: PostgresCluster;
  readonly backends: Backend[];

  private constructor(primary: PostgresCluster, standby: PostgresCluster, backends: Backend[]) {
    this.primary = primary;
    this.standby = standby;
    this.backends = backends;
  }

  static async start(t: TestContext): Promise<ServerPair> {
    const primary = await PostgresCluster.start();
    t.after(() => primary.remove());
    const standby = await primary.addStandby();
    t.after(() => standby.remove());
    const backends = await Promise.all([primary, standby].map((server) => startCheck(t, server)));
    const pair = new ServerPair(primary, standby, backends);
    await pair.#commitOnBoth();
    return pair;
  }

  /** A planned switch: the primary stops and restarts at once as a standby; a while later the other is promoted. */
  async switchOver(isStopped: () => void): Promise<void> {
    const { primary, standby } = this;
    await primary.stop('fast');
    isStopped();
    await primary.follow(standby);
    await sleep(undecidedMs);
    await this.#promote();
    await this.#commitOnBoth();
  }

  /** The primary is killed. A while later the standby is promoted, and then runs alone. */
  async failOver(isStopped: () => void): Promise<void> {
    this.primary.kill();
    isStopped();
    await sleep(undecidedMs);
    await this.#promote();
  }

  /** First without a standby: a primary that waits for a missing standby commits nothing. */
  async #promote(): Promise<void> {
    const { primary, standby } = this;
    await run(standby.url, `alter system set synchronous_standby_names = ''`, 'select pg_reload_conf()');
    await standby.promote();
    [this.primary, this.standby] = [standby, primary];
  }

  /** From here on a commit is acknowledged when both have it. */
  async #commitOnBoth(): Promise<void> {
    const { url } = this.primary;
    await run(url, `alter system set synchronous_standby_names = '*'`, 'select pg_reload_conf()');
    await until(async () => (await ask(url, 'select sync_state from pg_stat_replication')) === 'sync');
  }
}

/** Returns 200 while the server is a primary, and else 503, like tools that manage PostgreSQL. */
async function startCheck(t: TestContext, { url, port }: PostgresCluster): Promise<Backend> {
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
