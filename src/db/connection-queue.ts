import type { Pool, PoolClient } from 'pg';
import type { ConnectionCounts } from './database.ts';
import { isOutOfSlots } from './postgres-errors.ts';

/** After a refusal, at most one connection is opened in each interval of this length. */
const retryMs = 500;
/** After this time without a refusal, connections are opened freely again, and a new refusal is logged. */
const forgetMs = 60_000;

/** The last time the server refused a connection because all its slots were in use. */
interface Refusal {
  error: Error;
  atMs: number;
  /** When the next connection may be opened. */
  retryAtMs: number;
}

/** Resolves with a connection, or with undefined if the caller should check again. */
type Waiting = PromiseWithResolvers<PoolClient | undefined>;

/** The queue for connections of two pools. While the server refuses further ones, a pool without connections borrows from the other. */
export class ConnectionQueue {
  readonly #pools: readonly [Pool, Pool];
  readonly #waiting = new Map<Pool, Set<Waiting>>();
  /** The pools, in the order in which they are served next: both may share the same connections. */
  readonly #turns: Pool[];
  readonly #onRefused: (message: string) => void;
  #refusal: Refusal | undefined;

  /** `onRefused` gets a message for the log when the server begins to refuse connections. */
  constructor(pools: readonly [Pool, Pool], onRefused: (message: string) => void) {
    this.#pools = pools;
    this.#turns = [...pools];
    this.#onRefused = onRefused;
    for (const pool of pools) {
      this.#waiting.set(pool, new Set());
      pool.on('connect', () => {
        if (this.#refusal) this.#refusal.retryAtMs = 0;
      });
      // The pool emits these before it counts the connection as idle or gone.
      for (const event of ['connect', 'release', 'error', 'remove'] as const)
        pool.on(event, () => queueMicrotask(() => this.#serve()));
    }
  }

  /** A connection of a pool, or of the other pool if this one cannot open any. The caller must release it. */
  async acquire(pool: Pool): Promise<PoolClient> {
    const endMs = performance.now() + (pool.options.connectionTimeoutMillis ?? 0);
    for (;;) {
      const refusal = this.#cutOff();
      if (refusal) throw refusal.error;
      try {
        const client = await this.#connect(pool, endMs);
        if (client) return client;
      } catch (error) {
        const isRefused = isOutOfSlots(error);
        if (isRefused) this.#noteRefusal(error);
        // The failed connection leaves room for another.
        this.#serve();
        if (!isRefused) throw error;
      }
    }
  }

  /** The open connections of a pool, and the requests that wait for one. */
  counts(pool: Pool): ConnectionCounts {
    const { totalCount, idleCount, waitingCount } = pool;
    const waiting = waitingCount + (this.#waiting.get(pool) as Set<Waiting>).size;
    return { inUse: totalCount - idleCount, idle: idleCount, waiting };
  }

  async #connect(pool: Pool, endMs: number): Promise<PoolClient | undefined> {
    const waiting = this.#waiting.get(pool) as Set<Waiting>;
    const from = waiting.size === 0 && this.#poolFor(pool);
    if (from) return from.connect();
    const own: Waiting = Promise.withResolvers();
    waiting.add(own);
    const timer = setTimeout(() => {
      waiting.delete(own);
      own.reject(new Error('timeout exceeded when trying to connect'));
    }, endMs - performance.now());
    try {
      return await own.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Gives available connections to waiting requests. */
  #serve(): void {
    const isCutOff = this.#cutOff() !== undefined;
    for (const pool of [...this.#turns]) {
      const waiting = this.#waiting.get(pool) as Set<Waiting>;
      for (const next of waiting) {
        const from = this.#poolFor(pool);
        if (!from && !isCutOff) break;
        waiting.delete(next);
        next.resolve(from?.connect());
        this.#turns.reverse();
      }
    }
  }

  /** The pool that can serve a request to `pool` now, if any. */
  #poolFor(pool: Pool): Pool | undefined {
    if (hasIdle(pool) || (!isFull(pool) && this.#mayOpen())) return pool;
    const [first, second] = this.#pools;
    const other = pool === first ? second : first;
    return pool.totalCount === 0 && hasIdle(other) ? other : undefined;
  }

  #mayOpen(): boolean {
    const refusal = this.#refusal;
    const nowMs = performance.now();
    if (!refusal || isForgotten(refusal, nowMs)) return true;
    if (nowMs < refusal.retryAtMs) return false;
    refusal.retryAtMs = nowMs + retryMs;
    return true;
  }

  /** The last refusal, if no connection is open and none may be opened now. */
  #cutOff(): Refusal | undefined {
    const refusal = this.#refusal;
    if (!refusal || performance.now() >= refusal.retryAtMs) return undefined;
    return this.#pools.every(({ totalCount }) => totalCount === 0) ? refusal : undefined;
  }

  #noteRefusal(error: Error): void {
    const nowMs = performance.now();
    if (!this.#refusal || isForgotten(this.#refusal, nowMs))
      this.#onRefused(
        `PostgreSQL refuses further connections, requests share those that are open: ${error.message}`,
      );
    this.#refusal = { error, atMs: nowMs, retryAtMs: nowMs + retryMs };
    setTimeout(() => this.#serve(), retryMs).unref();
  }
}

/** Whether the pool has an idle connection that no waiting request will get. */
const hasIdle = (pool: Pool) => pool.idleCount > pool.waitingCount;

/** Whether the pool has its maximum of connections. */
const isFull = (pool: Pool) => pool.totalCount >= pool.options.max;

const isForgotten = ({ atMs }: Refusal, nowMs: number) => nowMs > atMs + forgetMs;
