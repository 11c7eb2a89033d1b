import { type ClientBase, Pool, type PoolClient, type PoolConfig } from 'pg';
import type { Statement } from './postgres-statements.ts';
import type { Row } from './sql.ts';

const readers = 4;
export const writers = 8;
/** How long a new connection may take to tell where it leads. */
const askMs = 2_000;
/** A database that may only be read refuses every write. It is looked for anew at most once in this time. */
const leaveEveryMs = 1_000;

/**
 * Connections to the one server that can be written, wherever its name leads. Writes may wait for rows locked by other writes.
 * Reads have connections of their own, so they do not wait for writes.
 */
export class Pools {
  readonly #readers: Pool;
  readonly #writers: Pool;
  /** When each connection was made. */
  readonly #madeAtMs = new WeakMap<ClientBase, number>();
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
    if (nowMs >= this.#leftAtMs + leaveEveryMs) this.#leftAtMs = nowMs;
  }

  async end(): Promise<void> {
    await Promise.all([this.#readers.end(), this.#writers.end()]);
  }

  /** Those that were left are closed when their turn comes, or by the pool when they have been idle for a while. They need no farewell. */
  async #take(pool: Pool): Promise<PoolClient> {
    for (;;) {
      const client = await pool.connect();
      if ((this.#madeAtMs.get(client) ?? 0) > this.#leftAtMs) return client;
      client.connection.stream.destroy();
      client.release(true);
    }
  }

  #open(settings: PoolConfig, max: number): Pool {
    const onConnect = (client: ClientBase) => {
      this.#madeAtMs.set(client, performance.now());
      // Where one broke off or kept silent, the others may lead to the same server.
      client.on('error', () => this.leave());
      return assertPrimary(client);
    };
    const pool = new Pool({ ...settings, max, onConnect });
    // A broken connection fails the statements on it and leaves the pool. Without this listener the error would end the process.
    pool.on('error', () => {});
    return pool;
  }
}

/** Fails if a connection leads to a standby: what is read there may be old, and nothing can be written. */
export async function assertPrimary(client: ClientBase): Promise<void> {
  const query = { text: 'select pg_is_in_recovery()::int', rowMode: 'array' as const, query_timeout: askMs };
  const { rows } = await client.query<Row>(query);
  if (rows[0]?.[0] === 1) throw new Error('the server is a standby, on which nothing can be written.');
}
