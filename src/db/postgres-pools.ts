import { type ClientBase, Pool, type PoolClient, type PoolConfig } from 'pg';
import { GuardedClient } from './postgres-client.ts';
import type { Statement } from './postgres-statements.ts';
import type { Row } from './sql.ts';

const readers = 4;
export const writers = 8;
/** How long a new connection may take to tell where it leads. */
const askMs = 2_000;
/** A database that may only be read refuses every write. It is looked for anew at most once in this time. */
const leaveEveryMs = 1_000;

/** What is known of a connection. */
interface Use {
  /** When it was last taken from its pool or heard of. */
  lastMs: number;
  isIdle: boolean;
}

/**
 * Connections to the one server that can be written, wherever its name leads. Writes may wait for rows locked by other writes.
 * Reads have connections of their own, so they do not wait for writes.
 */
export class Pools {
  readonly #readers: Pool;
  readonly #writers: Pool;
  /** The connections that are there, without those that were left. */
  readonly #uses = new Map<PoolClient, Use>();
  #leftAtMs = Number.NEGATIVE_INFINITY;

  constructor(settings: PoolConfig) {
    this.#readers = this.#open(settings, readers);
    this.#writers = this.#open(settings, writers);
  }

  /** Runs one statement on a connection for reads. */
  async query(statement: Statement): Promise<Row[]> {
    const client = await this.#take(this.#readers);
    try {
      const { rows } = await client.query<Row>(statement);
      client.release();
      return rows;
    } catch (error) {
      // A release ends the connection, and then nobody is told that it is lost.
      if (client.connection.stream.destroyed) this.#lose(client);
      client.release(true);
      throw error;
    }
  }

  /** A connection for a write, which is to be released. */
  connect(): Promise<PoolClient> {
    return this.#take(this.#writers);
  }

  /**
   * Uses no connection again that is there now. Those that follow find the server that can be written by now: a proxy keeps what is
   * open with the server that it was opened to.
   */
  leave(): void {
    const nowMs = performance.now();
    if (nowMs < this.#leftAtMs + leaveEveryMs) return;
    this.#leftAtMs = nowMs;
    this.#leaveUsedBefore(Number.POSITIVE_INFINITY);
  }

  async end(): Promise<void> {
    await Promise.all([this.#readers.end(), this.#writers.end()]);
  }

  /**
   * Where one broke off, the others may lead to the same server. Where one kept silent until its time was up, its statement may just
   * be slow: those that were heard of since then do not share its fate.
   */
  #lose(client: PoolClient): void {
    const use = this.#uses.get(client);
    if (!use) return;
    this.#uses.delete(client);
    const { errored, readableEnded } = client.connection.stream;
    if (errored || readableEnded) this.leave();
    else this.#leaveUsedBefore(use.lastMs);
  }

  /** Idle ones are closed now, the others when they are released. They need no farewell. */
  #leaveUsedBefore(ms: number): void {
    for (const [client, { lastMs, isIdle }] of this.#uses) {
      if (lastMs >= ms) continue;
      this.#uses.delete(client);
      if (isIdle) client.connection.stream.destroy();
    }
  }

  async #take(pool: Pool): Promise<PoolClient> {
    for (;;) {
      const client = await pool.connect();
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
    // A broken connection fails the statements on it and leaves the pool. Without this listener the error would end the process.
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

/** Fails if a connection leads to a standby: what is read there may be old, and nothing can be written. */
export async function assertPrimary(client: ClientBase): Promise<void> {
  const query = { text: 'select pg_is_in_recovery()::int', rowMode: 'array' as const, query_timeout: askMs };
  const { rows } = await client.query<Row>(query);
  if (rows[0]?.[0] === 1) throw new Error('the server is a standby, on which nothing can be written.');
}
