import { type ClientBase, Pool, type PoolClient, type PoolConfig } from 'pg';
import { ConnectionQueue } from './connection-queue.ts';
import type { StorageCounts } from './database.ts';
import { GuardedClient } from './postgres-client.ts';
import { PipelinedReads } from './postgres-reads.ts';
import type { Statement } from './postgres-statements.ts';
import type { Row } from './sql.ts';

const readers = 4;
export const writers = 8;
/** How long a new connection may take to report whether its server is a standby. */
const askMs = 2_000;
/** Connections are replaced at most once in this time, because a read-only database refuses every write. */
const leaveEveryMs = 1_000;

/** The state of a connection. */
interface Use {
  /** When it was last acquired or received data. */
  lastMs: number;
  isIdle: boolean;
}

/** Connections to the primary. Reads have their own, so they do not wait for writes that wait for locks. */
export class Pools {
  readonly #readers: Pool;
  readonly #writers: Pool;
  readonly #queue: ConnectionQueue;
  readonly #reads: PipelinedReads;
  /** The open connections that may be used. */
  readonly #uses = new Map<PoolClient, Use>();
  #leftAtMs = Number.NEGATIVE_INFINITY;

  /** `onRefused` gets a message for the log when the server begins to refuse connections. */
  constructor(settings: PoolConfig, counts: StorageCounts, onRefused: (message: string) => void) {
    this.#readers = this.#open(settings, readers);
    this.#writers = this.#open(settings, writers);
    this.#queue = new ConnectionQueue([this.#readers, this.#writers], onRefused);
    const connections = {
      acquire: () => this.#acquire(this.#readers),
      release: (client: PoolClient, hasFailed: boolean) => this.#release(client, hasFailed),
    };
    this.#reads = new PipelinedReads(connections, counts);
  }

  /** Runs a read on a connection that other reads share. */
  read(statement: Statement): Promise<Row[]> {
    return this.#reads.add(statement);
  }

  /** Runs one statement on a connection for reads that runs no other statement at that time. */
  async query(statement: Statement): Promise<Row[]> {
    const client = await this.#acquire(this.#readers);
    let hasFailed = true;
    try {
      const { rows } = await client.query<Row>(statement);
      hasFailed = false;
      return rows;
    } finally {
      this.#release(client, hasFailed);
    }
  }

  /** A connection for a write. The caller must release it. */
  connect(): Promise<PoolClient> {
    return this.#acquire(this.#writers);
  }

  /** Replaces all open connections. A proxy keeps an open one with its old server, and leads new ones to the primary. */
  leave(): void {
    const nowMs = performance.now();
    if (nowMs < this.#leftAtMs + leaveEveryMs) return;
    this.#leftAtMs = nowMs;
    this.#leaveUsedBefore(Number.POSITIVE_INFINITY);
  }

  /** Counts of open connections and of requests that wait for one. */
  counts() {
    return { reads: this.#queue.counts(this.#readers), writes: this.#queue.counts(this.#writers) };
  }

  async end(): Promise<void> {
    await Promise.all([this.#readers.end(), this.#writers.end()]);
  }

  /** Removes a lost connection. If it broke, all are replaced. If it timed out, those that have received data since are kept. */
  #lose(client: PoolClient): void {
    const use = this.#uses.get(client);
    if (!use) return;
    this.#uses.delete(client);
    const { errored, readableEnded } = client.connection.stream;
    if (errored || readableEnded) this.leave();
    else this.#leaveUsedBefore(use.lastMs);
  }

  /** Closes idle connections now, and the others when they are released. */
  #leaveUsedBefore(ms: number): void {
    for (const [client, { lastMs, isIdle }] of this.#uses) {
      if (lastMs >= ms) continue;
      this.#uses.delete(client);
      if (isIdle) client.connection.stream.destroy();
    }
  }

  #release(client: PoolClient, hasFailed: boolean): void {
    // After the release no event reports that the connection is lost.
    if (hasFailed && client.connection.stream.destroyed) this.#lose(client);
    client.release(hasFailed);
  }

  async #acquire(pool: Pool): Promise<PoolClient> {
    for (;;) {
      const client = await this.#queue.acquire(pool);
      const use = this.#uses.get(client);
      if (use) {
        use.lastMs = performance.now();
        return client;
      }
      client.release(true);
    }
  }

  #open(settings: PoolConfig, max: number): Pool {
    const pool = new Pool({ ...settings, max, onConnect: assertPrimary, Client: GuardedClient });
    // A broken connection fails its statements and leaves the pool. Without a listener the error would end the process.
    pool.on('error', () => {});
    pool.on('connect', (client) => {
      const use = { lastMs: performance.now(), isIdle: false };
      this.#uses.set(client, use);
      client.connection.stream.on('data', () => {
        use.lastMs = performance.now();
      });
      client.on('error', () => this.#lose(client));
      client.on('end', () => this.#uses.delete(client));
    });
    pool.on('acquire', (client) => this.#setIdle(client, false));
    pool.on('release', (_, client) => this.#setIdle(client, true));
    return pool;
  }

  #setIdle(client: PoolClient, isIdle: boolean): void {
    const use = this.#uses.get(client);
    if (use) use.isIdle = isIdle;
    else client.connection.stream.destroy();
  }
}

/** Throws if the server is a standby: its rows may be old, and it accepts no writes. */
export async function assertPrimary(client: ClientBase): Promise<void> {
  const query = { text: 'select pg_is_in_recovery()::int', rowMode: 'array' as const, query_timeout: askMs };
  const { rows } = await client.query<Row>(query);
  if (rows[0]?.[0] === 1) throw new Error('the server is a standby, on which nothing can be written.');
}
