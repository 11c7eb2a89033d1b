import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, type PoolConfig } from 'pg';
import { StorageUnavailableError } from '../errors.ts';
import { sharedFor } from '../shared.ts';
import { type Cause, type Database, newCounts, type Transaction } from './database.ts';
import { Ending } from './end-work.ts';
import { GroupedWrites } from './grouped-writes.ts';
import {
  AbortedError,
  attempt,
  isDeadlock,
  isOfConnection,
  isRace,
  toFinalError,
} from './postgres-errors.ts';
import { beginWithin } from './postgres-pooler.ts';
import { Pools, writers } from './postgres-pools.ts';
import { startPostgres } from './postgres-start.ts';
import { Statements } from './postgres-statements.ts';
import { PostgresTransaction } from './postgres-transaction.ts';
import type { Sql } from './sql.ts';
import { OneFailedError, type PendingWrite, type Ran, runCarefully, runTogether } from './write-group.ts';

/** How long to wait for a connection: for a new one, or for one of the pool to come free. */
const connectMs = 3_000;
const insufficientPrivilege = '42501';
/** How long the server lets a transaction hold its locks when the process behind it has gone silent. */
const silenceMs = 10_000;
/** How long the smallest write may take, unless the deadline is short. */
const maxTouchMs = 2_000;
/** Writes that find commits waiting share what they ask about that for so long. */
const askEveryMs = 250;
/** At most so many writes share one transaction. */
const maxGroupSize = 64;
/** So many writes of a workspace may wait. */
const maxWaiting = 10_000;
/** How often a write that loses races runs. */
const maxRuns = 10;
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
  readonly #touchMs: number;
  readonly #assertNoneWaitsOnce = sharedFor(
    askEveryMs,
    () => this.#assertNoneWaits(),
    () => performance.now(),
  );
  /** Whether commits were last found to wait for a synchronous standby. */
  #commitsWait = false;
  /** Until when the writes of some workspaces are alone, on the clock of `performance.now()`. */
  readonly #aloneUntilMs = new Map<number, number>();
  #closing: Promise<void> | undefined;

  constructor(settings: PoolConfig, deadlineMs: number, begin: string) {
    this.#deadlineMs = deadlineMs;
    this.#touchMs = Math.min(maxTouchMs, deadlineMs / 2);
    this.#begin = begin;
    this.#pools = new Pools(settings);
    this.#writes = new GroupedWrites({
      ...{ maxRunning: writers, maxWaiting, deadlineMs },
      groupSize: (workspaceId) => this.#groupSize(workspaceId),
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

  async write<T>(work: (sql: Transaction) => Promise<T>, cause?: Cause): Promise<T> {
    this.counts.writes++;
    // The server keeps a process for each commit that waits, also when nobody here waits for it any more. So no more are begun.
    if (this.#commitsWait) await this.#assertNoneWaitsOnce();
    try {
      return await this.#writes.add(work, cause);
    } catch (error) {
      if (isUnanswered(error)) void this.#assertNoneWaitsOnce().catch(() => {});
      throw error;
    }
  }

  /**
   * It waits for no other write: who holds the row is about to write, such as a migration. But a commit that waits for a synchronous
   * standby holds it, too, for as long as there is none, whichever instance began it.
   */
  async touch(): Promise<void> {
    this.counts.writes++;
    try {
      const touched = await this.#ask(
        `update schema_version set version = version
         where id = (select id from schema_version where id = 1 for update skip locked) returning id`,
      );
      if (touched.length > 0) {
        this.counts.commits++;
      } else {
        await this.#assertNoneWaits();
      }
    } catch (error) {
      if (!(error instanceof DatabaseError && error.code === insufficientPrivilege)) throw this.#final(error);
      const message = `${error.message}, which the role of the service needs the right to update.`;
      throw this.#final(new StorageUnavailableError(message, { cause: error }));
    }
  }

  /** Fails if a commit has waited for a synchronous standby for too long. */
  async #assertNoneWaits(): Promise<void> {
    const waiting = await this.#ask(
      `select pid from pg_stat_activity
       where wait_event = 'SyncRep' and state_change < clock_timestamp() - interval '${this.#touchMs / 2} ms'`,
    );
    this.#commitsWait = waiting.length > 0;
    if (this.#commitsWait) throw new StorageUnavailableError('Commits wait for a synchronous standby.');
  }

  #ask(text: string) {
    this.counts.statements++;
    return attempt(() => this.#pools.query({ text, rowMode: 'array', query_timeout: this.#touchMs }));
  }

  close(): Promise<void> {
    this.#closing ??= this.#writes.finish().then(() => this.#pools.end());
    return this.#closing;
  }

  /**
   * Commits a group, settles its writes, and returns those that did not begin. If one of several fails, the others go on without it:
   * at once if the server refused it, and otherwise in a run in which each can be undone by itself. A write that lost a race runs again
   * after a random pause that grows, so that the same transactions do not meet again.
   */
  async #commit(group: PendingWrite[]): Promise<PendingWrite[]> {
    const endMs = performance.now() + this.#deadlineMs;
    for (let runs = 1, isCareful = false; ; runs++) {
      try {
        const { settles, rest } = await this.#transaction(group, endMs, isCareful);
        for (const settle of settles) settle();
        return rest;
      } catch (error) {
        if (
          error instanceof OneFailedError &&
          error.write &&
          error.cause instanceof StorageUnavailableError
        ) {
          error.write.reject(this.#final(error.cause));
          return group.filter((write) => write !== error.write);
        }
        if (isRace(error) && group.length > 1) {
          await this.#commitAlone(group, error);
          return [];
        }
        const mayRunAgain = isRace(error) && runs < maxRuns && performance.now() < endMs;
        if (!mayRunAgain && !(error instanceof OneFailedError)) {
          const final = this.#final(error);
          for (const { reject } of group) reject(final);
          return [];
        }
        this.counts.reruns++;
        isCareful = error instanceof OneFailedError;
        if (!isCareful) await sleep(Math.random() * Math.min(5 * 2 ** runs, 200));
      }
    }
  }

  /**
   * A group locks rows in the order of its writes. Whoever does not lock the workspace first, as instances of older versions, and
   * locks the same rows in another order can stop it, and would again. Writes that are alone lock rows in one order.
   */
  async #commitAlone(group: PendingWrite[], race: unknown): Promise<void> {
    const workspaceId = group[0]?.cause?.workspaceId;
    if (isDeadlock(race) && workspaceId !== undefined)
      this.#aloneUntilMs.set(workspaceId, performance.now() + aloneMs);
    for (const write of group) {
      if (performance.now() < write.endMs) await this.#commit([write]);
      else write.reject(new StorageUnavailableError('The write was not done in time.'));
    }
  }

  #groupSize(workspaceId: number | undefined): number {
    if (workspaceId === undefined) return 1;
    if (performance.now() < (this.#aloneUntilMs.get(workspaceId) ?? 0)) return 1;
    this.#aloneUntilMs.delete(workspaceId);
    return maxGroupSize;
  }

  /** Runs the writes of a group in one transaction with one ending. What settles them is to be called now that the commit is on disk. */
  async #transaction(group: PendingWrite[], endMs: number, isCareful: boolean): Promise<Ran> {
    const client = await attempt(() => this.#pools.connect());
    const shared = new PostgresTransaction({
      ...{ client, endMs, begin: this.#begin, statements: this.#statements, counts: this.counts },
      workspaceId: group[0]?.cause?.workspaceId,
    });
    try {
      const ending = new Ending();
      const ran = await (isCareful ? runCarefully : runTogether)(group, shared, ending);
      const [records] = await Promise.all([ending.run(shared.sql), shared.commit()]);
      shared.release();
      this.counts.commits++;
      this.counts.records += records;
      return ran;
    } catch (error) {
      const failure = error instanceof AbortedError ? shared.failure : error;
      await shared.rollBack();
      throw failure;
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

/** Whether a failure is no answer of the server. */
const isUnanswered = (error: unknown) =>
  error instanceof StorageUnavailableError && !(error.cause instanceof DatabaseError);
