import type { Histogram } from '../foundation/histogram.ts';
import type { Row, Sql } from './sql.ts';

/** When and why a write happens. */
export interface WriteContext {
  /** Milliseconds since 1970. */
  atMs: number;
  /** The request that causes the write, if one does. */
  requestId?: string;
  /** Its trace context, unless it follows from its id. */
  traceparent?: string | undefined;
  /** The only workspace that the write changes. Undefined if the write creates it. */
  workspaceId: number | undefined;
}

/** A transaction that records its changes. */
export interface Transaction extends Sql {
  readonly context: WriteContext;
  /** Calls `work` once, right before the commit, with the items of all writes that share it. So its rows are locked only briefly. */
  beforeCommit<Item>(work: BeforeCommitWork<Item>, item: Item): void;
  /** Marks the last statements of a write. Another write may send its statements before these have their results. */
  finalStatements<Answers>(answers: Promise<Answers>): Promise<Answers>;
}

/** Work before a commit. No item may make it fail. It sends all statements at once, so that the commit travels with them. */
export type BeforeCommitWork<Item> = (sql: Sql, items: Item[]) => Promise<void>;

export const newStorageCounts = () => ({
  reads: 0,
  writes: 0,
  commits: 0,
  failures: 0,
  /** Statements sent to the engine, including those that begin and end transactions. */
  statements: 0,
  /** Transactions that ran again because they lost a race with another. */
  reruns: 0,
  /** Items of `beforeCommit` in committed transactions. */
  records: 0,
});

/** Counts of an engine since it was opened. */
export type StorageCounts = ReturnType<typeof newStorageCounts>;

/** What an engine measures for the metrics. */
export interface StorageMeasurements {
  /** The number of writes in each transaction. */
  groupSizes: Histogram;
  /** Seconds of each group, including the wait for a connection, and repeated runs. */
  groupSeconds: Histogram;
  /** The number of writes that wait in the queue. */
  writesWaiting(): number;
  /** Further measurements of PostgreSQL. SQLite reads without a connection, within the process. */
  postgres?: {
    readSeconds: Histogram;
    connections(): Record<'reads' | 'writes', ConnectionCounts>;
  };
}

/** The connections of a pool, and the number of requests that wait for one. */
export interface ConnectionCounts {
  inUse: number;
  idle: number;
  waiting: number;
}

/** A storage engine. Its own failures are StorageUnavailableError. */
export interface Database {
  /** Reads committed rows. Each statement sees one snapshot. */
  readonly read: Sql;

  /** Runs `work` in one transaction. Returns once the commit is on disk, or throws its error. `work` may await only its statements. */
  write<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** The same for work that records its changes. */
  write<T>(work: (sql: Transaction) => Promise<T>, context: WriteContext): Promise<T>;

  /** Tests whether writes are possible: commits a small write that changes nothing, and returns once it is on disk. */
  touch(): Promise<void>;

  readonly counts: Readonly<StorageCounts>;
  readonly measured: StorageMeasurements;

  /** How many migrations its opening applied. */
  readonly migrations?: number;

  /** Receives messages for the log, for example that the engine has no free connection. */
  onNotice?: ((notice: string) => void) | undefined;

  /** `new`: no service has used the data. `moved`: the last service used them elsewhere, as after a restore. Undefined: not known. */
  origin?(): Promise<'own' | 'new' | 'moved'>;

  /** Changes the origin of the data to `own`. */
  adopt?(): Promise<void>;

  /** Lets writes in flight finish and closes the connections. */
  close(): Promise<void>;
}

/** Small, so that other writes do not wait long. */
export const batchSize = 1_000;

/** Runs a statement that changes at most `size` rows and returns them, each time in its own transaction, until no rows are left. */
export async function inBatches(
  db: Database,
  change: (sql: Sql) => Promise<Row[]>,
  size = batchSize,
): Promise<void> {
  let rows: Row[];
  do rows = await db.write(change);
  while (rows.length === size);
}
