import { setTimeout as sleep } from 'node:timers/promises';
import { Pool, type PoolClient, type PoolConfig, type QueryArrayConfig } from 'pg';
import { StorageUnavailableError } from '../errors.ts';
import { type Cause, type Database, newCounts, type StorageCounts, type Transaction } from './database.ts';
import { Ending, transaction } from './end-work.ts';
import { GroupedWrites, type PendingWrite } from './grouped-writes.ts';
import { lockChanges } from './lock.ts';
import { attempt, isAborted, isRace, toFinalError } from './postgres-errors.ts';
import { migratePostgres } from './postgres-migrate.ts';
import { Fragment, flatten, type Row, type Sql, type SqlValue } from './sql.ts';

/** How long to wait for a connection: for a new one, or for one of the pool to come free. */
const connectMs = 3_000;
/** How long the server lets a transaction hold its locks when the process behind it has gone silent. */
const silenceMs = 10_000;
const readers = 4;
const writers = 8;
/** At most so many writes share one transaction. */
const maxGroupSize = 64;
/** So many writes of a workspace may wait. */
const maxWaiting = 10_000;
/** How often a transaction that loses races is tried. */
const maxAttempts = 10;
/** Statements with more values hold lists, whose text differs with each length; they are not kept prepared. */
const maxPreparedValues = 16;

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
    lock_timeout: Math.ceil(deadlineMs * 0.6),
    idle_in_transaction_session_timeout: Math.max(silenceMs, deadlineMs),
  };
  await migratePostgres(settings);
  return new PostgresDatabase(settings, deadlineMs);
}

type Statement = QueryArrayConfig<SqlValue[]>;

/** The published types lack the timeout that a query may have. */
interface TimedQuery extends Statement {
  query_timeout: number;
}

class PostgresDatabase implements Database {
  readonly read: Sql;
  readonly counts = newCounts();
  readonly #deadlineMs: number;
  readonly #statements = new Statements();
  // Writes may wait for rows locked by other writes. Reads have connections of their own, so they do not wait for writes.
  readonly #readers: Pool;
  readonly #writers: Pool;
  readonly #writes: GroupedWrites;
  #closing: Promise<unknown> | undefined;

  constructor(settings: PoolConfig, deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
    this.#readers = openPool(settings, readers);
    this.#writers = openPool(settings, writers);
    this.#writes = new GroupedWrites({
      ...{ maxRunning: writers, maxGroupSize, maxWaiting, deadlineMs },
      run: (group) => this.#commit(group),
    });
    this.read = async (template, ...values) => {
      this.counts.reads++;
      this.counts.statements++;
      const statement = this.#statements.of(template, values);
      try {
        return (await attempt(() => this.#readers.query<Row>(statement))).rows;
      } catch (error) {
        throw this.#final(error);
      }
    };
  }

  write<T>(work: (sql: Transaction) => Promise<T>, cause?: Cause): Promise<T> {
    this.counts.writes++;
    return this.#writes.add(work, cause);
  }

  close(): Promise<void> {
    this.#closing ??= this.#writes
      .finish()
      .then(() => Promise.all([this.#readers.end(), this.#writers.end()]));
    return this.#closing.then(() => undefined);
  }

  /**
   * Commits a group and settles its writes. If it lost a race, it runs again, each write alone, after a random pause that grows,
   * so that the same transactions do not meet again.
   */
  async #commit(group: PendingWrite[]): Promise<void> {
    const endMs = performance.now() + this.#deadlineMs;
    for (let attempt = 1; ; attempt++) {
      try {
        const settle = await this.#transaction(group, endMs);
        for (const answer of settle) answer();
        return;
      } catch (error) {
        const isOver = attempt === maxAttempts || performance.now() >= endMs;
        if (!isRace(error) || isOver) {
          const final = this.#final(error);
          for (const { reject } of group) reject(final);
          return;
        }
        this.counts.reruns++;
        if (group.length > 1) {
          for (const write of group) await this.#commit([write]);
          return;
        }
        await sleep(Math.random() * Math.min(5 * 2 ** attempt, 200));
      }
    }
  }

  /**
   * Runs the writes of a group in one transaction. Each of several has a savepoint of its own, so that a refused write does
   * not affect the others. They share one ending. Returns what settles them, once the commit is on disk.
   */
  async #transaction(group: PendingWrite[], endMs: number): Promise<(() => void)[]> {
    const client = await attempt(() => this.#writers.connect());
    const session = new Session(client, this.#statements, this.counts, endMs, group[0]?.cause?.workspaceId);
    try {
      const settle: (() => void)[] = [];
      const ending = new Ending();
      for (const { work, cause, resolve, reject } of group) {
        const own = new Ending();
        if (group.length > 1) session.send('savepoint one_write');
        try {
          const value = await work(transaction(session.sql, cause, own));
          ending.join(own);
          settle.push(() => resolve(value));
        } catch (error) {
          if (group.length === 1 || isRace(error) || error instanceof StorageUnavailableError) throw error;
          session.send('rollback to one_write');
          settle.push(() => reject(error));
        }
        if (group.length > 1) session.send('release one_write');
      }
      const recorded = ending.run(session.sql);
      const [records] = await Promise.all([recorded, session.commit()]);
      client.release();
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
    return final;
  }
}

/** One transaction on a connection. It begins with its first statement, and sends each without waiting for the one before. */
class Session {
  readonly #client: PoolClient;
  readonly #statements: Statements;
  readonly #counts: StorageCounts;
  readonly #endMs: number;
  readonly #workspaceId: number | undefined;
  #hasBegun = false;
  /** Why statements fail that were sent after the one that failed. */
  #failure: unknown = new Error('The transaction was rolled back.');

  constructor(
    client: PoolClient,
    statements: Statements,
    counts: StorageCounts,
    endMs: number,
    workspaceId: number | undefined,
  ) {
    this.#client = client;
    this.#statements = statements;
    this.#counts = counts;
    this.#endMs = endMs;
    this.#workspaceId = workspaceId;
  }

  readonly sql: Sql = async (template, ...values) => {
    this.#begin();
    return (await this.#run(this.#statements.of(template, values))).rows;
  };

  /** Sends a statement whose failure shows in those after it. */
  send(text: string): void {
    this.#begin();
    void this.#run({ text, rowMode: 'array' }).catch(() => {});
  }

  /** PostgreSQL answers `commit` with a rollback if a statement of the transaction failed. */
  async commit(): Promise<void> {
    if (!this.#hasBegun) return;
    const { command } = await this.#run({ text: 'commit', rowMode: 'array' });
    if (command !== 'COMMIT') throw this.#failure;
  }

  /** Rolls back and returns the connection to the pool. A connection that does not answer is closed, which rolls back, too. */
  async rollBack(): Promise<void> {
    try {
      const query: TimedQuery = { text: 'rollback', rowMode: 'array', query_timeout: connectMs };
      if (this.#hasBegun) await this.#client.query(query);
      this.#client.release();
    } catch {
      this.#client.release(true);
    }
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.send('begin isolation level read committed');
    // Whoever changes a workspace has it to itself, so the order of other locks within a group does not matter.
    if (this.#workspaceId !== undefined) void lockChanges(this.sql, this.#workspaceId).catch(() => {});
  }

  async #run(statement: Statement) {
    this.#counts.statements++;
    const query: TimedQuery = {
      ...statement,
      query_timeout: Math.max(1, Math.ceil(this.#endMs - performance.now())),
    };
    try {
      return await attempt(() => this.#client.query<Row>(query));
    } catch (error) {
      if (!isAborted(error)) this.#failure = error;
      throw this.#failure;
    }
  }
}

function openPool(settings: PoolConfig, max: number): Pool {
  const pool = new Pool({ ...settings, max });
  // A broken connection fails the statements on it and leaves the pool. Without this listener the error would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('error', () => {});
  return pool;
}

/** Statements by their template: the text for the server, and the name under which each connection keeps it prepared. */
class Statements {
  readonly #byTemplate = new WeakMap<TemplateStringsArray, { text: string; name: string }>();
  readonly #names = new Map<string, string>();

  of(template: TemplateStringsArray, values: (SqlValue | Fragment)[]): Statement {
    const known = this.#byTemplate.get(template);
    if (known) return { ...known, values: values as SqlValue[], rowMode: 'array' };
    const flat = flatten(template, values, (n) => `$${n}`);
    if (flat.values.length > maxPreparedValues) return { ...flat, rowMode: 'array' };
    const statement = { text: flat.text, name: this.#nameOf(flat.text) };
    if (!values.some((value) => value instanceof Fragment)) this.#byTemplate.set(template, statement);
    return { ...statement, values: flat.values, rowMode: 'array' };
  }

  #nameOf(text: string): string {
    let name = this.#names.get(text);
    if (!name) {
      name = `petstore_${this.#names.size}`;
      this.#names.set(text, name);
    }
    return name;
  }
}

/** The object identifiers of int8, int2 and int4: https://www.postgresql.org/docs/current/datatype-oid.html */
const integerTypes = [20, 21, 23];

/** Integers are read as numbers, which hold every integer that the tables allow; all else is read as text. */
const parserOf = (typeId: number) => (integerTypes.includes(typeId) ? Number : String);
