import type { Sql } from './sql.ts';

/** What a transaction records about its occasion. */
export interface Cause {
  /** Milliseconds since 1970. */
  atMs: number;
  /** The request that causes it, if one does. */
  requestId?: string;
  /**
   * The workspace that it changes, and no other. Such a transaction has the workspace to itself, or shares it with others that
   * came before it. Undefined: one that it makes.
   */
  workspaceId: number | undefined;
}

/** A transaction that records what it changes. */
export interface Transaction extends Sql {
  readonly cause: Cause;
  /**
   * Has `work` called once, right before the commit, with every item that was given for it by this transaction and by others
   * that share its commit. So the rows that `work` locks are locked last, and for the shortest time.
   */
  atEnd<Item>(work: EndWork<Item>, item: Item): void;
  /**
   * Says that the statements whose answers are awaited here are the last ones, so that another write may send its own before
   * these are answered.
   */
  last<Answers>(answers: Promise<Answers>): Promise<Answers>;
}

/**
 * Work for the end of a transaction. It must not fail for a reason that lies in one item, and sends its statements at once,
 * without waiting for the answer of one, so that the commit travels with them.
 */
export type EndWork<Item> = (sql: Sql, items: Item[]) => Promise<void>;

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
  /** Items for the end of transactions that were committed. */
  records: number;
}

export const newCounts = (): StorageCounts => ({
  reads: 0,
  writes: 0,
  commits: 0,
  failures: 0,
  statements: 0,
  reruns: 0,
  records: 0,
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
  /** The same for work that records what it changes. */
  write<T>(work: (sql: Transaction) => Promise<T>, cause: Cause): Promise<T>;

  /** Makes a small write that changes nothing, and returns once its commit is on disk. So it tells whether others could be made. */
  touch(): Promise<void>;

  readonly counts: Readonly<StorageCounts>;

  /** Lets writes in flight finish and closes the connections. */
  close(): Promise<void>;
}
