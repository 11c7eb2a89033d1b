import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { StorageUnavailableError } from '../foundation/errors.ts';
import { ensureFile, inDataDir } from '../foundation/settings/data-dir.ts';
import {
  type Database,
  newStorageCounts,
  type StorageCounts,
  type StorageMeasurements,
  type Transaction,
  type WriteContext,
} from './database.ts';
import {
  BeforeCommit,
  type GroupTransaction,
  type PendingWrite,
  runInSavepoints,
  WriteQueue,
} from './group-commit.ts';
import { type Migration, pendingMigrations } from './migrations.ts';
import {
  type Fragment,
  flatten,
  identifier,
  PreparedByTemplate,
  type Row,
  type Sql,
  type SqlValue,
} from './sql.ts';
import { attemptSqlite, isLocked } from './sqlite-errors.ts';
import { FolderMark, ServiceLock } from './sqlite-folder.ts';
import { GroupedReads } from './sqlite-reads.ts';

/** How long a transaction waits for one of another process, such as the command line. */
const lockWaitMs = 5_000;
/** How long a read waits. In WAL mode it waits only during the recovery after a crash. */
const readerLockWaitMs = 1_000;
/** The maximum number of writes in one transaction, with one fsync. */
const defaultGroupSize = 256;
/** The maximum number of prepared statements with fragments on a connection. */
const maxStatements = 500;

/** Executes a statement and returns its rows. */
type Execute = (...statement: Parameters<Sql>) => Row[];

interface Options {
  /** Whether the process is the service. Only one service may use a folder. */
  isService?: boolean;
  maxGroupSize?: number;
}

/**
 * Opens `petstore.db` in `dataDir`, or creates it for its owner alone, and brings its tables up to date. One connection writes and one reads,
 * so that readers see committed rows only (WAL). Throws ConfigError, and a plain Error if the database is newer than this code.
 */
export async function openSqlite(dataDir: string, options: Options = {}): Promise<Database> {
  return inDataDir(dataDir, () => attemptSqlite(() => open(dataDir, options)));
}

/** Opens a database in memory, which is lost at the end. It has one connection, because two would lock each other out. */
export async function openSqliteMemory(): Promise<Database> {
  const connection = new DatabaseSync(':memory:', { returnArrays: true });
  connection.exec('pragma foreign_keys = on; pragma temp_store = memory');
  migrate(connection, pendingMigrations('sqlite'));
  return new SqliteDatabase(connection, connection, defaultGroupSize, undefined);
}

function open(dataDir: string, { isService = false, maxGroupSize = defaultGroupSize }: Options): Database {
  assertWritable(dataDir);
  const lock = isService ? new ServiceLock(dataDir) : undefined;
  try {
    return connect(dataDir, maxGroupSize, lock);
  } catch (error) {
    lock?.release();
    throw error;
  }
}

function connect(dataDir: string, maxGroupSize: number, lock: ServiceLock | undefined): Database {
  const path = join(dataDir, 'petstore.db');
  ensureFile(path);
  assertWritable(path);
  const writer = new DatabaseSync(path, { timeout: lockWaitMs });
  try {
    writer.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on');
    // Temporary data stays in memory, so that no other folder, such as /tmp, must be writable.
    writer.exec('pragma temp_store = memory');
    const migrations = migrate(writer, pendingMigrations('sqlite'));
    // From here on a wait for a lock must not block the event loop. #begin waits without blocking.
    writer.exec('pragma busy_timeout = 0');
    const reader = new DatabaseSync(path, { readOnly: true, timeout: readerLockWaitMs });
    const db = new SqliteDatabase(writer, reader, maxGroupSize, lock);
    const mark = new FolderMark(dataDir);
    return Object.assign(db, { migrations, origin: () => mark.origin(db), adopt: () => mark.renew(db) });
  } catch (error) {
    writer.close();
    throw error;
  }
}

/** SQLite only reports that it cannot open a file. This check gives the reason. */
const assertWritable = (path: string) => accessSync(path, constants.R_OK | constants.W_OK);

class SqliteDatabase implements Database {
  readonly read: Sql;
  readonly counts = newStorageCounts();
  readonly #writer: DatabaseSync;
  readonly #reader: DatabaseSync;
  readonly #reads: GroupedReads;
  readonly measured: StorageMeasurements;
  readonly #lock: ServiceLock | undefined;
  readonly #execute: Execute;
  readonly #writes: WriteQueue;

  constructor(
    writer: DatabaseSync,
    reader: DatabaseSync,
    maxGroupSize: number,
    lock: ServiceLock | undefined,
  ) {
    this.#lock = lock;
    this.#writer = writer;
    this.#reader = reader;
    const write = executor(writer, this.counts);
    this.#execute = (template, ...values) => write(template, values);
    this.#writes = new WriteQueue({
      ...{ maxRunning: 1, maxWaiting: Number.POSITIVE_INFINITY, deadlineMs: Number.POSITIVE_INFINITY },
      queueOf: () => 0,
      groupSize: () => maxGroupSize,
      commitGroup: (group) => this.#commitGroup(group),
    });
    this.measured = this.#writes.measured;
    this.#reads = new GroupedReads(reader);
    const read = executor(reader, this.counts);
    this.read = (template, ...values) => {
      this.counts.reads++;
      return this.#reads.add(() => read(template, values));
    };
  }

  write<T>(work: (sql: Transaction) => Promise<T>, context?: WriteContext): Promise<T> {
    this.counts.writes++;
    return this.#writes.add(work, context);
  }

  /** Sets the version of the tables again. SQLite writes an unchanged version to disk, but not an unchanged row. */
  touch(): Promise<void> {
    return this.write(async (sql) => {
      const [row] = await sql`pragma user_version`;
      await sql`pragma user_version = ${identifier(String(row?.[0]))}`;
    });
  }

  async close(): Promise<void> {
    await this.#writes.finish();
    if (!this.#writer.isOpen) return;
    this.#reads.finish();
    if (this.#reader !== this.#writer) this.#reader.close();
    this.#writer.close();
    this.#lock?.release();
  }

  /** Commits a group and settles its writes. */
  async #commitGroup(group: PendingWrite[]): Promise<PendingWrite[]> {
    try {
      const answers = await this.#transaction(group);
      this.counts.commits++;
      for (const answer of answers) answer();
    } catch (error) {
      this.counts.failures++;
      for (const { reject } of group) reject(error);
    }
    return [];
  }

  async #transaction(group: PendingWrite[]): Promise<(() => void)[]> {
    await this.#begin();
    try {
      const beforeCommit = new BeforeCommit();
      const shared = new SqliteGroup(this.#execute);
      const { answers } = await runInSavepoints(group, shared, beforeCommit);
      const records = await beforeCommit.flush(shared.sql);
      this.#execute`commit`;
      this.counts.records += records;
      return answers;
    } catch (error) {
      if (this.#writer.isTransaction) this.#writer.exec('rollback');
      throw error;
    }
  }

  async #begin(): Promise<void> {
    const deadlineMs = Date.now() + lockWaitMs;
    for (;;) {
      try {
        this.#execute`begin immediate`;
        return;
      } catch (error) {
        if (!isLocked(error) || Date.now() >= deadlineMs) throw error;
        await sleep(5);
      }
    }
  }
}

/** The savepoints of a transaction. An error of the storage, such as a full disk, ends it. */
class SqliteGroup implements GroupTransaction {
  readonly endMs = Number.POSITIVE_INFINITY;
  readonly sql: Sql;
  failure: unknown;
  readonly #execute: Execute;
  #hasSavepoint = false;

  constructor(execute: Execute) {
    this.#execute = execute;
    this.sql = async (...statement) => execute(...statement);
  }

  async savepoint(): Promise<boolean> {
    try {
      if (this.#hasSavepoint) this.#execute`release one_write`;
      this.#execute`savepoint one_write`;
      this.#hasSavepoint = true;
      return true;
    } catch (error) {
      this.failure = error;
      return false;
    }
  }

  async rollBackToSavepoint(): Promise<boolean> {
    this.#execute`rollback to one_write`;
    return true;
  }

  failsAll(error: unknown): boolean {
    return error instanceof StorageUnavailableError;
  }
}

/** Executes statements on one connection, prepared once for each text. */
function executor(connection: DatabaseSync, counts: StorageCounts) {
  const byTemplate = new PreparedByTemplate<StatementSync>();
  const byText = new LRUCache<string, StatementSync>({ max: maxStatements });
  const prepare = (text: string) => {
    let statement = byText.get(text);
    if (!statement) {
      // SQLite plans a statement again for each new value of a plain limit, which takes as long as the read of a page.
      statement = connection.prepare(text.replaceAll('limit ?', 'limit ? + 0'));
      // In Node.js 22.16 and 24.0 a connection has no such option for all its statements.
      statement.setReturnArrays(true);
      byText.set(text, statement);
    }
    return statement;
  };
  const execute = (template: TemplateStringsArray, values: (SqlValue | Fragment)[]): Row[] => {
    counts.statements++;
    const known = byTemplate.find(template, values);
    if (known) return known.prepared.all(...known.values) as unknown as Row[];
    const flat = flatten(template, values, () => '?');
    const statement = prepare(flat.text);
    byTemplate.keep(template, values, statement);
    return statement.all(...flat.values) as unknown as Row[];
  };
  return (template: TemplateStringsArray, values: (SqlValue | Fragment)[]) =>
    attemptSqlite(() => execute(template, values));
}

/** Applies pending migrations. If none is pending it only reads the version, so that it never waits for another process. */
function migrate(connection: DatabaseSync, pending: (version: number) => Migration[]): number {
  const missing = () => pending(Number(connection.prepare('pragma user_version').get()?.user_version));
  if (missing().length === 0) return 0;
  connection.exec('begin immediate');
  try {
    const migrations = missing();
    for (const migration of migrations) {
      connection.exec(migration.sql);
      connection.exec(`pragma user_version = ${migration.version}`);
    }
    connection.exec('commit');
    return migrations.length;
  } catch (error) {
    if (connection.isTransaction) connection.exec('rollback');
    throw error;
  }
}
