import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { StorageUnavailableError } from '../errors.ts';
import type { StorageCounts } from './database.ts';
import { AbortedError, attempt, isAborted } from './postgres-errors.ts';
import type { Statement, Statements } from './postgres-statements.ts';
import type { Row, Sql } from './sql.ts';
import type { SharedTransaction } from './write-group.ts';

/** How long a connection may take to roll back. */
const rollBackMs = 3_000;
/** Sets the locks of workspaces apart from other advisory locks in the same database. */
const workspaceLocks = 0x9e75;

interface Options {
  client: PoolClient;
  statements: Statements;
  counts: StorageCounts;
  /** When it must be done, on the clock of `performance.now()`. */
  endMs: number;
  /** What begins it. */
  begin: string;
  /** The workspace that it locks. */
  workspaceId: number | undefined;
}

/** One transaction on a connection. It begins with its first statement, and sends each without waiting for the one before. */
export class PostgresTransaction implements SharedTransaction {
  readonly endMs: number;
  failure: unknown;
  readonly #options: Options;
  #hasBegun = false;
  #hasEnded = false;
  /** Whether a statement was to be prepared but was not. The client and PgBouncer believe that it was. */
  #isUnprepared = false;

  constructor(options: Options) {
    this.#options = options;
    this.endMs = options.endMs;
  }

  readonly sql: Sql = async (template, ...values) => {
    if (this.#hasEnded) throw new Error('A statement came after the end of its transaction.');
    this.#begin();
    return (await this.#run(this.#options.statements.of(template, values))).rows;
  };

  mark(): Promise<boolean> {
    this.#begin();
    return this.#run({ text: 'savepoint one_write', rowMode: 'array' }).then(
      () => true,
      () => false,
    );
  }

  async undo(): Promise<boolean> {
    this.failure = undefined;
    await this.#run({ text: 'rollback to one_write', rowMode: 'array' }).catch(() => {});
    await allNoted();
    return !this.#isUnprepared;
  }

  /** Fails if a statement did, also one that was sent before: PostgreSQL answers `commit` with a rollback then. */
  async commit(): Promise<void> {
    this.#hasEnded = true;
    if (this.#hasBegun && this.failure === undefined) await this.#run({ text: 'commit', rowMode: 'array' });
    if (this.failure !== undefined) throw this.failure;
  }

  /** Returns the connection to the pool, or closes it if a statement is not prepared that is believed to be. */
  release(): void {
    this.#options.client.release(this.#isUnprepared);
  }

  /** Rolls back and returns the connection to the pool. A connection that does not answer is closed, which rolls back, too. */
  async rollBack(): Promise<void> {
    this.#hasEnded = true;
    const { client } = this.#options;
    try {
      const query: Statement = { text: 'rollback', rowMode: 'array', query_timeout: rollBackMs };
      if (this.#hasBegun) await client.query(query);
      await allNoted();
      this.release();
    } catch {
      client.release(true);
    }
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#send(this.#options.begin);
    if (this.#options.workspaceId !== undefined) this.#lockWorkspace(this.#options.workspaceId);
  }

  /**
   * Locks a workspace until the transaction ends. Whoever changes it has it to itself then, so the order in which a group locks rows
   * does not matter. Ids with the same remainder only wait for each other.
   */
  #lockWorkspace(id: number): void {
    void this.sql`select pg_advisory_xact_lock(${workspaceLocks}, ${id % 2 ** 31})`.catch(() => {});
  }

  /** Sends a statement whose failure shows in those after it. */
  #send(text: string): void {
    this.#begin();
    void this.#run({ text, rowMode: 'array' }).catch(() => {});
  }

  async #run(statement: Statement) {
    if (this.failure !== undefined) return abort();
    const { client, counts, statements } = this.#options;
    try {
      const query_timeout = Math.ceil(this.endMs - performance.now());
      // A time-out would close the connection.
      if (query_timeout <= 0) throw new StorageUnavailableError('The transaction was not done in time.');
      counts.statements++;
      const query: Statement = { ...statement, query_timeout };
      const result = await attempt(() => client.query<Row>(query));
      statements.keep(client, statement);
      return result;
    } catch (error) {
      if (this.failure === undefined && !isAborted(error)) {
        this.failure = error;
        throw error;
      }
      if (!statements.isKept(client, statement)) this.#isUnprepared = true;
      return abort();
    }
  }
}

/** Answers that come together are noted in one turn, but not in their order: those of statements that failed take longer. */
const allNoted = () => nextTurn();

/** Fails in the next turn, so that whoever waits for several statements together learns first what a store made of the failure. */
async function abort(): Promise<never> {
  await nextTurn();
  throw new AbortedError();
}
