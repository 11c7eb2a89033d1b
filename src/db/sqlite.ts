import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { closeToOthers, ensureFile, inDataDir } from '../data-dir.ts';
import { StorageUnavailableError } from '../errors.ts';
import { type Cause, type Database, newCounts, type StorageCounts, type Transaction } from './database.ts';
import { Ending, transaction } from './end-work.ts';
import { type Migration, pendingMigrations } from './migrations.ts';
import { ServiceLock } from './service-lock.ts';
import { Fragment, flatten, identifier, type Row, type Sql, type SqlValue } from './sql.ts';
import { attempt, isLocked } from './sqlite-errors.ts';
import { GroupedReads } from './sqlite-reads.ts';

/** How long a transaction waits for another process, such as the command line, to finish its own. */
const lockWaitMs = 5_000;
/** How long a read waits. In WAL mode it waits only during the recovery after a crash. */
const readerLockWaitMs = 1_000;
/** At most so many writes share one transaction and one fsync. */
const defaultGroupSize = 256;
/** Statements with fragments that stay prepared on a connection. */
const maxStatements = 500;

interface PendingWrite {
  work: (sql: Transaction) => Promise<unknown>;
  cause: Cause | undefined;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

interface Options {
  /** Whether this is the service. A folder has at most one. */
  isService?: boolean;
  maxGroupSize?: number;
}

/**
 * Opens `petstore.db` in `dataDir`, creating both as needed for their owner alone, and brings its tables up to date. One
 * connection writes and one reads, so that readers see committed rows only (WAL). Throws StorageUnavailableError, also
 * if another service uses the folder, or a plain Error with one clear line where the database is newer than this code.
 */
export async function openSqlite(dataDir: string, options: Options = {}): Promise<Database> {
  return inDataDir(dataDir, () => attempt(() => open(dataDir, options)));
}

/**
 * Opens a database in memory, which is gone once it is closed. One connection reads and writes: those of one such database
 * lock it against each other while one of them writes.
 */
export async function openMemory(): Promise<Database> {
  const connection = new DatabaseSync(':memory:', { returnArrays: true });
  connection.exec('pragma foreign_keys = on; pragma temp_store = memory');
  migrate(connection, pendingMigrations('sqlite'));
  return new SqliteDatabase(connection, connection, defaultGroupSize, undefined);
}

function open(dataDir: string, { isService = false, maxGroupSize = defaultGroupSize }: Options): Database {
  assertWritable(dataDir);
  closeToOthers(dataDir);
  const lock = isService ? new ServiceLock(dataDir) : undefined;
  try {
    return connect(join(dataDir, 'petstore.db'), maxGroupSize, lock);
  } catch (error) {
    lock?.release();
    throw error;
  }
}

function connect(path: string, maxGroupSize: number, lock: ServiceLock | undefined): Database {
  ensureFile(path);
  assertWritable(path);
  const writer = new DatabaseSync(path, { timeout: lockWaitMs });
  try {
    writer.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on');
    // Temporary data stays in memory, so that no folder such as /tmp need be writable.
    writer.exec('pragma temp_store = memory');
    migrate(writer, pendingMigrations('sqlite'));
    // From here on waiting for a lock must not block the event loop: begin() waits without blocking.
    writer.exec('pragma busy_timeout = 0');
    const reader = new DatabaseSync(path, { readOnly: true, timeout: readerLockWaitMs });
    return new SqliteDatabase(writer, reader, maxGroupSize, lock);
  } catch (error) {
    writer.close();
    throw error;
  }
}

/** SQLite only says that it cannot open a file. Opening it here gives the reason of the system. */
const assertWritable = (path: string) => accessSync(path, constants.R_OK | constants.W_OK);

class SqliteDatabase implements Database {
  readonly read: Sql;
  readonly counts = newCounts();
  readonly #maxGroupSize: number;
  readonly #writer: DatabaseSync;
  readonly #reader: DatabaseSync;
  readonly #reads: GroupedReads;
  readonly #lock: ServiceLock | undefined;
  readonly #run: (...statement: Parameters<Sql>) => Row[];
  readonly #sql: Sql;
  #queue: PendingWrite[] = [];
  #draining: Promise<void> | undefined;

  constructor(
    writer: DatabaseSync,
    reader: DatabaseSync,
    maxGroupSize: number,
    lock: ServiceLock | undefined,
  ) {
    this.#lock = lock;
    this.#maxGroupSize = maxGroupSize;
    this.#writer = writer;
    this.#reader = reader;
    const write = runner(writer, this.counts);
    this.#run = (template, ...values) => write(template, values);
    this.#sql = async (template, ...values) => write(template, values);
    this.#reads = new GroupedReads(reader);
    const read = runner(reader, this.counts);
    this.read = (template, ...values) => {
      this.counts.reads++;
      return this.#reads.add(() => read(template, values));
    };
  }

  write<T>(work: (sql: Transaction) => Promise<T>, cause?: Cause): Promise<T> {
    this.counts.writes++;
    return new Promise((resolve, reject) => {
      this.#queue.push({ work, cause, resolve: resolve as PendingWrite['resolve'], reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Writes the version of the tables anew. SQLite writes it even if it stays as it was, which it does not for a row. */
  touch(): Promise<void> {
    return this.write(async (sql) => {
      const [row] = await sql`pragma user_version`;
      await sql`pragma user_version = ${identifier(String(row?.[0]))}`;
    });
  }

  async close(): Promise<void> {
    await this.#draining;
    if (!this.#writer.isOpen) return;
    this.#reads.finish();
    if (this.#reader !== this.#writer) this.#reader.close();
    this.#writer.close();
    this.#lock?.release();
  }

  /** Commits what is queued, group by group. Writes of requests that arrive together form a group. */
  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      // Requests that have arrived by now are read in one turn and handled at its end, so their writes are queued in the next.
      await nextTurn();
      if (this.#queue.length < this.#maxGroupSize) await nextTurn();
      const group = this.#queue.splice(0, this.#maxGroupSize);
      try {
        const settle = await this.#commit(group);
        this.counts.commits++;
        for (const answer of settle) answer();
      } catch (error) {
        this.counts.failures++;
        for (const write of group) write.reject(error);
      }
    }
    this.#draining = undefined;
  }

  /**
   * Runs a group in one transaction, each write in a savepoint of its own, so that a refused write does not affect the
   * others. The answers wait for the commit, since each may depend on what another write of the group changed. The writes
   * share one ending.
   */
  async #commit(group: PendingWrite[]): Promise<(() => void)[]> {
    await this.#begin();
    try {
      const settle: (() => void)[] = [];
      const ending = new Ending();
      for (const write of group) {
        const own = new Ending();
        this.#run`savepoint one_write`;
        try {
          const value = await write.work(transaction(this.#sql, write.cause, own));
          ending.join(own);
          settle.push(() => write.resolve(value));
        } catch (error) {
          // An error such as a full disk ends the whole transaction.
          if (error instanceof StorageUnavailableError) throw error;
          this.#run`rollback to one_write`;
          settle.push(() => write.reject(error));
        }
        this.#run`release one_write`;
      }
      const records = await ending.run(this.#sql);
      this.#run`commit`;
      this.counts.records += records;
      return settle;
    } catch (error) {
      if (this.#writer.isTransaction) this.#writer.exec('rollback');
      throw error;
    }
  }

  async #begin(): Promise<void> {
    const deadlineMs = Date.now() + lockWaitMs;
    for (;;) {
      try {
        this.#run`begin immediate`;
        return;
      } catch (error) {
        if (!isLocked(error) || Date.now() >= deadlineMs) throw error;
        await sleep(5);
      }
    }
  }
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Runs statements on one connection, prepared once for each text. */
function runner(connection: DatabaseSync, counts: StorageCounts) {
  const byTemplate = new WeakMap<TemplateStringsArray, StatementSync>();
  const byText = new LRUCache<string, StatementSync>({ max: maxStatements });
  const prepare = (text: string) => {
    let statement = byText.get(text);
    if (!statement) {
      // SQLite plans a statement again for each new value of a plain limit, which takes as long as reading a page.
      statement = connection.prepare(text.replaceAll('limit ?', 'limit ? + 0'));
      // Before Node.js 24.4 a connection cannot be told it for all of its statements.
      statement.setReturnArrays(true);
      byText.set(text, statement);
    }
    return statement;
  };
  const run = (template: TemplateStringsArray, values: (SqlValue | Fragment)[]): Row[] => {
    counts.statements++;
    const known = byTemplate.get(template);
    if (known) return known.all(...(values as SqlValue[])) as unknown as Row[];
    const flat = flatten(template, values, () => '?');
    const statement = prepare(flat.text);
    if (!values.some((value) => value instanceof Fragment)) byTemplate.set(template, statement);
    return statement.all(...flat.values) as unknown as Row[];
  };
  return (template: TemplateStringsArray, values: (SqlValue | Fragment)[]) =>
    attempt(() => run(template, values));
}

/** Applies each pending migration in a transaction that also records its number. */
function migrate(connection: DatabaseSync, pending: (version: number) => Migration[]): void {
  connection.exec('begin immediate');
  try {
    const version = connection.prepare('pragma user_version').get()?.user_version;
    for (const migration of pending(Number(version))) {
      connection.exec(migration.sql);
      connection.exec(`pragma user_version = ${migration.version}`);
    }
    connection.exec('commit');
  } catch (error) {
    if (connection.isTransaction) connection.exec('rollback');
    throw error;
  }
}
