import type { DatabaseSync, StatementSync } from 'node:sqlite';

/**
 * One snapshot for all reads of a turn of the event loop. SQLite locks its file for each transaction, which costs several
 * times as much as reading a row. What this process commits ends the snapshot; a commit of another process is seen in the
 * next turn.
 */
export class TurnSnapshot {
  readonly #connection: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  #isOpen = false;

  constructor(connection: DatabaseSync) {
    this.#connection = connection;
    this.#begin = connection.prepare('begin');
    this.#commit = connection.prepare('commit');
  }

  /** Lets reads until the end of the turn see one state. */
  hold(): void {
    if (this.#isOpen) return;
    this.#begin.run();
    this.#isOpen = true;
    setImmediate(() => this.end());
  }

  /** Lets the next read see everything that is committed. */
  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#connection.isOpen) this.#commit.run();
  }
}
