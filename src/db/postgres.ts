import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolConfig } from 'pg';
import { StorageUnavailableError } from '../errors.ts';
import { type Cause, type Database, newCounts, type Transaction } from './database.ts';
import { Ending } from './end-work.ts';
import {
  GroupedWrites,
  type PendingWrite,
  RefusedError,
  runCarefully,
  runTogether,
} from './grouped-writes.ts';
import { attempt, isDeadlock, isOfConnection, isRace, toFinalError } from './postgres-errors.ts';
import { beginWithin } from './postgres-pooler.ts';
import { Pools, writers } from './postgres-pools.ts';
import { Session } from './postgres-session.ts';
import { startPostgres } from './postgres-start.ts';
import { Statements } from './postgres-statements.ts';
import type { Sql } from './sql.ts';

/** How long to wait for a connection: for a new one, or for one of the pool to come free. */
const connectMs = 3_000;
/** How long the server lets a transaction hold its locks when the process behind it has gone silent. */
const silenceMs = 10_000;
/** How long the smallest write may take. */
const touchMs = 2_000;
/** At most so many writes share one transaction. */
const maxGroupSize = 64;
/** So many writes of a workspace may wait. */
const maxWaiting = 10_000;
/** How often a transaction that loses races is tried. */
const maxAttempts = 10;
/** So long writes do not share transactions after some waited for another's in a circle. */
const aloneMs = 10_000;

/**
 * Opens a PostgreSQL database and brings its tables up to date. A read or a write that is not done within `deadlineMs`
 * fails. Throws StorageUnavailableError that names DATABASE_URL, or a plain Error with one clear line where the database
 * is newer than this code.
 */
export async function openPostgres(url: string, deadlineMs: number): Promise<Database> {
  const settings: PoolConfig = {
    connectionString: url,
    application_name: 'petstore',
    types: { getTypeParser: parserOf as never },
    // A statement may be sent before the one before it is answered, as the first of a transaction is.
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: connectMs,
    query_timeout: deadlineMs,
  };
  const limits = {
    lock_timeout: Math.ceil(deadlineMs * 0.6),
    idle_in_transaction_session_timeout: Math.max(silenceMs, deadlineMs),
  };
  return new PostgresDatabase(await startPostgres(settings, limits), deadlineMs, beginWithin(limits));
}

class PostgresDatabase implements Database {
  readonly read: Sql;
  readonly counts = newCounts();
  readonly #deadlineMs: number;
  readonly #begin: string;
  readonly #statements = new Statements();
  readonly #pools: Pools;
  readonly #writes: GroupedWrites;
  /** On the clock of `performance.now()`. */
  #aloneUntilMs = 0;
  #closing: Promise<void> | undefined;

  constructor(settings: PoolConfig, deadlineMs: number, begin: string) {
    this.#deadlineMs = deadlineMs;
    this.#begin = begin;
    this.#pools = new Pools(settings);
    this.#writes = new GroupedWrites({
      ...{ maxRunning: writers, maxWaiting, deadlineMs },
      groupSize: () => (performance.now() < this.#aloneUntilMs ? 1 : maxGroupSize),
      run: (group) => this.#commit(group),
    });
    this.read = async (template, ...values) => {
      this.counts.reads++;
      this.counts.statements++;
      const statement = this.#statements.of(template, values);
      try {
        return await attempt(() => this.#pools.query(statement));
      } catch (error) {
        throw this.#final(error);
      }
    };
  }

  write<T>(work: (sql: Transaction) => Promise<T>, cause?: Cause): Promise<T> {
    this.counts.writes++;
    return this.#writes.add(work, cause);
  }

  /**
   * It waits for no other write: who holds the row is about to write, such as a migration. But a commit that waits for a synchronous
   * standby holds it, too, for as long as there is none, whichever instance began it.
   */
  async touch(): Promise<void> {
    const query = (text: string) => {
      this.counts.statements++;
      return attempt(() => this.#pools.query({ text, rowMode: 'array', query_timeout: touchMs }));
    };
    try {
      const touched = await query(
        `update schema_version set version = version
         where id = (select id from schema_version where id = 1 for update skip locked) returning id`,
      );
      if (touched.length > 0) return;
      const stuck = await query(
        `select pid from pg_stat_activity
         where wait_event = 'SyncRep' and state_change < clock_timestamp() - interval '1 second'`,
      );
      if (stuck.length > 0) throw new StorageUnavailableError('Commits wait for a synchronous standby.');
    } catch (error) {
      throw this.#final(error);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#writes.finish().then(() => this.#pools.end());
    return this.#closing;
  }

  /**
   * Commits a group and settles its writes. A group in which something fails runs again, carefully. A group that lost a race
   * runs again after a random pause that grows, so that the same transactions do not meet again.
   */
  async #commit(group: PendingWrite[]): Promise<void> {
    const endMs = performance.now() + this.#deadlineMs;
    let isCareful = false;
    for (let attempt = 1; ; attempt++) {
      try {
        const settle = await this.#transaction(group, endMs, isCareful);
        for (const answer of settle) answer();
        return;
      } catch (error) {
        if (isDeadlock(error) && group.length > 1) return this.#commitAlone(group);
        const isOver = attempt === maxAttempts || performance.now() >= endMs;
        const mayRunAgain = isRace(error) || (error instanceof RefusedError && !isCareful);
        if (!mayRunAgain || isOver) {
          const final = this.#final(error);
          for (const { reject } of group) reject(final);
          return;
        }
        this.counts.reruns++;
        isCareful = true;
        if (isRace(error)) await sleep(Math.random() * Math.min(5 * 2 ** attempt, 200));
      }
    }
  }

  /**
   * A group locks rows in the order of its writes. Whoever does not lock the workspace first, as instances of older versions, and
   * locks the same rows in another order can stop it, and would again. Writes that are alone lock rows in one order.
   */
  async #commitAlone(group: PendingWrite[]): Promise<void> {
    this.#aloneUntilMs = performance.now() + aloneMs;
    for (const write of group) {
      if (performance.now() < write.endMs) await this.#commit([write]);
      else write.reject(new StorageUnavailableError('The write was not done in time.'));
    }
  }

  /**
   * Runs the writes of a group in one transaction with one ending, and returns what settles them once the commit is on disk. Each begins
   * when the one before has sent its last statements. Throws RefusedError if one of several fails, unless it is careful: then each has
   * a savepoint of its own and begins when the one before is done, so that one that fails does not affect the others.
   */
  async #transaction(group: PendingWrite[], endMs: number, isCareful: boolean): Promise<(() => void)[]> {
    const client = await attempt(() => this.#pools.connect());
    const workspaceId = group[0]?.cause?.workspaceId;
    const session = new Session(client, this.#statements, this.counts, endMs, this.#begin, workspaceId);
    try {
      const ending = new Ending();
      const run = isCareful && group.length > 1 ? runCarefully : runTogether;
      const settle = await run(group, session, ending);
      const recorded = ending.run(session.sql);
      const [records] = await Promise.all([recorded, session.commit()]);
      session.release();
      this.counts.commits++;
      this.counts.records += records;
      return settle;
    } catch (error) {
      await session.rollBack();
      throw error;
    }
  }

  #final(error: unknown): unknown {
    const final = toFinalError(error);
    if (final instanceof StorageUnavailableError) this.counts.failures++;
    if (isOfConnection(final)) this.#pools.leave();
    return final;
  }
}

/** The object identifiers of int8, int2 and int4: https://www.postgresql.org/docs/current/datatype-oid.html */
const integerTypes = [20, 21, 23];

/** Integers are read as numbers, which hold every integer that the tables allow; all else is read as text. */
const parserOf = (typeId: number) => (integerTypes.includes(typeId) ? Number : String);
