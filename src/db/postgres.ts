import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, type PoolConfig } from 'pg';
import { StorageUnavailableError } from '../foundation/errors.ts';
import { durationBounds, Histogram } from '../foundation/histogram.ts';
import { memoizeFor } from '../foundation/promises.ts';
import { inSpan } from '../foundation/tracing.ts';
import {
  type Database,
  newStorageCounts,
  type StorageMeasurements,
  type Transaction,
  type WriteContext,
} from './database.ts';
import {
  AbortedError,
  BeforeCommit,
  type GroupResult,
  OneFailedError,
  type PendingWrite,
  runInSavepoints,
  runPipelined,
  WriteQueue,
} from './group-commit.ts';
import { attemptPostgres, isOfConnection, isRace, startError, toFinalError } from './postgres-errors.ts';
import { assertAlone, migratePostgres } from './postgres-migrate.ts';
import { beginWithin, fitPooler, type Limits } from './postgres-pooler.ts';
import { Pools, writers } from './postgres-pools.ts';
import { Statements, spanTextOf } from './postgres-statements.ts';
import { PostgresTransaction } from './postgres-transaction.ts';
import type { Sql } from './sql.ts';

/** How long to wait for a new connection, or for a free one of the pool. */
const connectMs = 3_000;
const insufficientPrivilege = '42501';
/** The minimum time after which the server ends an idle transaction, which frees its locks. */
const minSilenceMs = 2_000;
/** The time limit of `touch`, unless the deadline is shorter. */
const maxTouchMs = 2_000;
/** For this time, writes share one check of whether commits wait for a standby. */
const askEveryMs = 250;
/** The maximum number of writes in one transaction. */
const maxGroupSize = 64;
/** The maximum number of waiting writes of a workspace. */
const maxWaiting = 10_000;
/** The maximum number of runs of a write that loses races. */
const maxRuns = 10;

/**
 * Opens a PostgreSQL database and brings its tables up to date. A read or write beyond `deadlineMs` fails. Throws StorageUnavailableError if
 * the settings may work later, else ConfigError; a plain Error if the database is newer than this code, or in use despite `isAlone`.
 */
export async function openPostgres(url: string, deadlineMs: number, isAlone = false): Promise<Database> {
  const ofUrl = /(?<=[?&])application_name=([^&]*)/;
  const name = decodeURIComponent(ofUrl.exec(url)?.[1] || 'petstore');
  const settings: PoolConfig = {
    // The name in the address would have priority, and be that of instances.
    connectionString: isAlone ? url.replace(ofUrl, '') : url,
    application_name: isAlone ? `${name} alone` : name,
    types: { getTypeParser: parserOf as never },
    // A statement may be sent before the previous one has its result.
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: connectMs,
    query_timeout: deadlineMs,
  };
  const limits = {
    lock_timeout: Math.ceil(deadlineMs * 0.6),
    // Shorter than lock_timeout, so that a write that waits for a lock of a frozen instance still gets it.
    idle_in_transaction_session_timeout: Math.max(minSilenceMs, Math.ceil(deadlineMs * 0.4)),
  };
  const { accepted, migrations } = await prepareServer(settings, limits, isAlone ? name : undefined);
  return Object.assign(new PostgresDatabase(accepted, deadlineMs, beginWithin(limits)), { migrations });
}

/** Checks that a database can be used, and migrates it. Returns the settings of connections, and the number of migrations. */
async function prepareServer(settings: PoolConfig, limits: Limits, nameOfOthers: string | undefined) {
  try {
    const accepted = await fitPooler(settings, limits);
    if (nameOfOthers !== undefined) await assertAlone(accepted, nameOfOthers);
    return { accepted, migrations: await migratePostgres(accepted, limits) };
  } catch (error) {
    throw startError(error);
  }
}

class PostgresDatabase implements Database {
  readonly read: Sql;
  readonly counts = newStorageCounts();
  readonly measured: StorageMeasurements;
  onNotice: Database['onNotice'];
  readonly #deadlineMs: number;
  readonly #begin: string;
  readonly #statements = new Statements();
  readonly #pools: Pools;
  readonly #writes: WriteQueue;
  readonly #touchMs: number;
  readonly #assertNoneWaitsOnce = memoizeFor(
    askEveryMs,
    () => this.#assertNoneWaits(),
    () => performance.now(),
  );
  /** Whether commits waited for a synchronous standby at the last check. */
  #commitsWait = false;
  #closing: Promise<void> | undefined;

  constructor(settings: PoolConfig, deadlineMs: number, begin: string) {
    this.#deadlineMs = deadlineMs;
    this.#touchMs = Math.min(maxTouchMs, deadlineMs / 2);
    this.#begin = begin;
    this.#pools = new Pools(settings, this.counts, (notice) => this.onNotice?.(notice));
    this.#writes = new WriteQueue({
      ...{ maxRunning: writers, maxWaiting, deadlineMs },
      queueOf: (context) => context?.workspaceId,
      groupSize: (workspaceId) => (workspaceId === undefined ? 1 : maxGroupSize),
      commitGroup: (group) => this.#commitGroup(group),
    });
    const readSeconds = new Histogram(durationBounds);
    const connections = () => this.#pools.counts();
    this.measured = { ...this.#writes.measured, postgres: { readSeconds, connections } };
    this.read = async (template, ...values) => {
      this.counts.reads++;
      const statement = this.#statements.of(template, values);
      const startMs = performance.now();
      try {
        return await inSpan(spanTextOf(statement), () => attemptPostgres(() => this.#pools.read(statement)));
      } catch (error) {
        throw this.#final(error);
      } finally {
        readSeconds.observeSince(startMs);
      }
    };
  }

  async write<T>(work: (sql: Transaction) => Promise<T>, context?: WriteContext): Promise<T> {
    this.counts.writes++;
    // The server keeps a process for each waiting commit, even after our deadline. So no further write begins.
    if (this.#commitsWait) await this.#assertNoneWaitsOnce();
    try {
      return await this.#writes.add(work, context);
    } catch (error) {
      if (isUnanswered(error)) void this.#assertNoneWaitsOnce().catch(() => {});
      throw error;
    }
  }

  /** Skips a row that another transaction has locked. But a commit that waits for a missing synchronous standby fails this. */
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
      const message = `${error.message}. Grant UPDATE on it to the role of the service.`;
      throw this.#final(new StorageUnavailableError(message, { cause: error }));
    }
  }

  /** Throws StorageUnavailableError if a commit has waited too long for a synchronous standby. */
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
    return attemptPostgres(() => this.#pools.query({ text, rowMode: 'array', query_timeout: this.#touchMs }));
  }

  close(): Promise<void> {
    this.#closing ??= this.#writes.finish().then(() => this.#pools.end());
    return this.#closing;
  }

  /**
   * Commits a group, settles its writes, and returns those that did not begin. If one fails, the others continue: in the next group if the
   * server refused it, else in savepoints. A write that lost a race runs again after a random pause.
   */
  async #commitGroup(group: PendingWrite[]): Promise<PendingWrite[]> {
    const endMs = performance.now() + this.#deadlineMs;
    for (let runs = 1, inSavepoints = false; ; runs++) {
      try {
        const { answers, rest } = await this.#transaction(group, endMs, inSavepoints);
        for (const answer of answers) answer();
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
          await this.#commitAlone(group);
          return [];
        }
        const mayRunAgain = isRace(error) && runs < maxRuns && performance.now() < endMs;
        if (!mayRunAgain && !(error instanceof OneFailedError)) {
          const final = this.#final(error);
          for (const { reject } of group) reject(final);
          return [];
        }
        this.counts.reruns++;
        inSavepoints = error instanceof OneFailedError;
        if (!inSavepoints) await sleep(Math.random() * Math.min(5 * 2 ** runs, 200));
      }
    }
  }

  /** Commits each write of a group alone. A group locks rows in the order of its writes, and a single write in the order of the tables. */
  async #commitAlone(group: PendingWrite[]): Promise<void> {
    for (const write of group) {
      if (performance.now() < write.endMs) await this.#commitGroup([write]);
      else write.reject(new StorageUnavailableError('The write was not done in time.'));
    }
  }

  /** Runs the writes of a group in one transaction, and commits it. */
  async #transaction(group: PendingWrite[], endMs: number, inSavepoints: boolean): Promise<GroupResult> {
    const client = await attemptPostgres(() => this.#pools.connect());
    const shared = new PostgresTransaction({
      ...{ client, endMs, begin: this.#begin, statements: this.#statements, counts: this.counts },
      workspaceId: group[0]?.context?.workspaceId,
    });
    try {
      const beforeCommit = new BeforeCommit();
      const ran = await (inSavepoints ? runInSavepoints : runPipelined)(group, shared, beforeCommit);
      const [records] = await Promise.all([beforeCommit.flush(shared.sql), shared.commit()]);
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

/** The type ids of int8, int2 and int4: https://www.postgresql.org/docs/current/datatype-oid.html */
const integerTypes = [20, 21, 23];

/** Reads integers as numbers, which are exact for every integer in the tables, and everything else as text. */
const parserOf = (typeId: number) => (integerTypes.includes(typeId) ? Number : String);

/** Whether a failure did not come from the server. */
const isUnanswered = (error: unknown) =>
  error instanceof StorageUnavailableError && !(error.cause instanceof DatabaseError);
