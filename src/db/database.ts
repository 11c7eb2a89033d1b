import type { Sql } from './sql.ts';

/** What an engine has done since it was opened. */
export interface StorageCounts {
  reads: number;
  writes: number;
  commits: number;
  failures: number;
  /** Statements sent to the engine, also those that begin and end transactions. */
  statements: number;
  /** Transactions that ran again because they lost a race with another. */
  reruns: number;
}

export const newCounts = (): StorageCounts => ({
  reads: 0,
  writes: 0,
  commits: 0,
  failures: 0,
  statements: 0,
  reruns: 0,
});

/** What the stores need of an engine. Failures of the engine itself are StorageUnavailableError. */
export interface Database {
  /** Reads committed rows. Each statement sees one snapshot. */
  readonly read: Sql;

  /**
   * Runs `work` in one transaction and returns its result once the commit is on disk. If `work` throws, this throws the
   * same and nothing is kept. `work` may await its statements, nothing slower.
   */
  write<T>(work: (sql: Sql) => Promise<T>): Promise<T>;

  readonly counts: Readonly<StorageCounts>;

  /** Lets writes in flight finish and closes the connections. */
  close(): Promise<void>;
}
