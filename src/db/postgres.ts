import { setTimeout as sleep } from 'node:timers/promises';
import { Pool, type PoolClient, type PoolConfig, type QueryArrayConfig } from 'pg';
import { StorageUnavailableError } from '../errors.ts';
import { type Cause, type Database, newCounts, type Transaction } from './database.ts';
import { Ending, transaction } from './end-work.ts';
import { attempt, isRace, toFinalError } from './postgres-errors.ts';
import { migratePostgres } from './postgres-migrate.ts';
import { Fragment, flatten, type Row, type Sql, type SqlValue } from './sql.ts';

/** How long to wait for a connection: for a new one, or for one of the pool to come free. */
const connectMs = 3_000;
/** How long the server lets a transaction hold its locks when the process behind it has gone silent. */
const silenceMs = 10_000;
const readers = 4;
const writers = 8;
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
  #closing: Promise<unknown> | undefined;

  constructor(settings: PoolConfig, deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
    this.#readers = openPool(settings, readers);
    this.#writers = openPool(settings, writers);
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

  /** Runs `work` again if it lost a race, after a random pause that grows, so that the same transactions do not meet again. */
  async write<T>(work: (sql: Transaction) => Promise<T>, cause?: Cause): Promise<T> {
    this.counts.writes++;
    const endMs = performance.now() + this.#deadlineMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#transaction(work, cause, endMs);
      } catch (error) {
        if (!isRace(error) || attempt === maxAttempts || performance.now() >= endMs) {
          throw this.#final(error);
        }
        this.counts.reruns++;
        await sleep(Math.random() * Math.min(5 * 2 ** attempt, 200));
      }
    }
  }

  close(): Promise<void> {
    this.#closing ??= Promise.all([this.#readers.end(), this.#writers.end()]);
    return this.#closing.then(() => undefined);
  }

  async #transaction<T>(
    work: (sql: Transaction) => Promise<T>,
    cause: Cause | undefined,
    endMs: number,
  ): Promise<T> {
    const client = await attempt(() => this.#writers.connect());
    const run = (statement: Statement) => {
      this.counts.statements++;
      const query: TimedQuery = {
        ...statement,
        query_timeout: Math.max(1, Math.ceil(endMs - performance.now())),
      };
      return attempt(() => client.query<Row>(query));
    };
    let begun: Promise<unknown> | undefined;
    const begin = () => {
      begun = run({ text: 'begin isolation level read committed', rowMode: 'array' });
      return begun;
    };
    try {
      const sql: Sql = async (template, ...values) => {
        // Both are sent before either is answered.
        const [, { rows }] = await Promise.all([
          begun ?? begin(),
          run(this.#statements.of(template, values)),
        ]);
        return rows;
      };
      const ending = new Ending();
      const result = await work(transaction(sql, cause, ending));
      const records = await ending.run(sql);
      if (begun) await commit(run);
      client.release();
      this.counts.commits++;
      this.counts.records += records;
      return result;
    } catch (error) {
      if (begun) await rollBack(client);
      else client.release();
      throw error;
    }
  }

  #final(error: unknown): unknown {
    const final = toFinalError(error);
    if (final instanceof StorageUnavailableError) this.counts.failures++;
    return final;
  }
}

/** PostgreSQL answers `commit` with a rollback if a statement of the transaction failed. */
async function commit(run: (statement: Statement) => Promise<{ command: string }>): Promise<void> {
  const { command } = await run({ text: 'commit', rowMode: 'array' });
  if (command !== 'COMMIT') throw new Error('The transaction had failed and was rolled back.');
}

/** Rolls back and returns the connection to the pool. A connection that does not answer is closed, which rolls back, too. */
async function rollBack(client: PoolClient): Promise<void> {
  try {
    const query: TimedQuery = { text: 'rollback', rowMode: 'array', query_timeout: connectMs };
    await client.query(query);
    client.release();
  } catch {
    client.release(true);
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
