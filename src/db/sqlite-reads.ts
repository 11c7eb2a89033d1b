import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Row } from './sql.ts';
import { attemptSqlite } from './sqlite-errors.ts';

interface PendingRead {
  read: () => Row[];
  resolve: (rows: Row[]) => void;
  reject: (error: unknown) => void;
}

/** Runs the reads of one tick in one transaction, because SQLite's file lock costs several times as much as a small read. */
export class GroupedReads {
  readonly #connection: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  #group: PendingRead[] = [];

  constructor(connection: DatabaseSync) {
    this.#connection = connection;
    this.#begin = connection.prepare('begin');
    this.#commit = connection.prepare('commit');
  }

  /** Runs `read` together with the other reads of this tick, and returns its rows. */
  add(read: () => Row[]): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      if (this.#group.push({ read, resolve, reject }) === 1) process.nextTick(() => this.finish());
    });
  }

  /** Runs the waiting reads. */
  finish(): void {
    const group = this.#group;
    if (group.length === 0) return;
    if (this.#connection.isOpen && this.#connection.isTransaction) {
      // The connection also writes, and a read must not see uncommitted rows.
      setImmediate(() => this.finish());
      return;
    }
    this.#group = [];
    try {
      attemptSqlite(() => this.#begin.run());
      for (const pending of group) settle(pending);
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      // A failure of the disk has already ended the transaction.
      if (this.#connection.isOpen && this.#connection.isTransaction) this.#commit.run();
    }
  }
}

function settle({ read, resolve, reject }: PendingRead): void {
  try {
    resolve(read());
  } catch (error) {
    reject(error);
  }
}
