import type { PoolClient } from 'pg';
import type { StorageCounts } from './database.ts';
import { attempt, isAborted } from './postgres-errors.ts';
import type { Statement, Statements } from './postgres-statements.ts';
import type { Row, Sql } from './sql.ts';

/** How long a connection may take to roll back. */
const rollBackMs = 3_000;
/** Sets the locks of workspaces apart from other advisory locks in the same database. */
const workspaceLocks = 0x9e75;

/** The published types lack the timeout that a query may have. */
interface TimedQuery extends Statement {
  query_timeout: number;
}

/** One transaction on a connection. It begins with its first statement, and sends each without waiting for the one before. */
export class Session {
  readonly #client: PoolClient;
  readonly #statements: Statements;
  readonly #counts: StorageCounts;
  readonly #endMs: number;
  readonly #beginText: string;
  readonly #workspaceId: number | undefined;
  #hasBegun = false;
  #hasEnded = false;
  /** Whether a statement was to be prepared but was not. PgBouncer believes that it was, and would refuse the next try. */
  #isUnprepared = false;
  /** Why statements fail that were sent after the one that failed. */
  #failure: unknown = new Error('The transaction was rolled back.');

  constructor(
    client: PoolClient,
    statements: Statements,
    counts: StorageCounts,
    endMs: number,
    begin: string,
    workspaceId: number | undefined,
  ) {
    this.#client = client;
    this.#statements = statements;
    this.#counts = counts;
    this.#endMs = endMs;
    this.#beginText = begin;
    this.#workspaceId = workspaceId;
  }

  readonly sql: Sql = async (template, ...values) => {
    if (this.#hasEnded) throw new Error('A statement came after the commit of its transaction.');
    this.#begin();
    return (await this.#run(this.#statements.of(template, values))).rows;
  };

  /** Sends a statement whose failure shows in those after it. */
  readonly send = (text: string): void => {
    this.#begin();
    void this.#run({ text, rowMode: 'array' }).catch(() => {});
  };

  /** PostgreSQL answers `commit` with a rollback if a statement of the transaction failed. */
  async commit(): Promise<void> {
    this.#hasEnded = true;
    if (!this.#hasBegun) return;
    const { command } = await this.#run({ text: 'commit', rowMode: 'array' });
    if (command !== 'COMMIT') throw this.#failure;
  }

  /** Returns the connection to the pool, or closes it if a pooler would refuse to prepare a statement on it. */
  release(): void {
    this.#client.release(this.#isUnprepared);
  }

  /** Rolls back and returns the connection to the pool. A connection that does not answer is closed, which rolls back, too. */
  async rollBack(): Promise<void> {
    try {
      const query: TimedQuery = { text: 'rollback', rowMode: 'array', query_timeout: rollBackMs };
      if (this.#hasBegun) await this.#client.query(query);
      this.release();
    } catch {
      this.#client.release(true);
    }
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.send(this.#beginText);
    if (this.#workspaceId !== undefined) this.#lockWorkspace(this.#workspaceId);
  }

  /**
   * Locks a workspace until the transaction ends. Whoever changes it has it to itself then, so the order in which a group locks rows
   * does not matter. Ids with the same remainder only wait for each other.
   */
  #lockWorkspace(id: number): void {
    void this.sql`select pg_advisory_xact_lock(${workspaceLocks}, ${id % 2 ** 31})`.catch(() => {});
  }

  async #run(statement: Statement) {
    this.#counts.statements++;
    const query: TimedQuery = {
      ...statement,
      query_timeout: Math.max(1, Math.ceil(this.#endMs - performance.now())),
    };
    try {
      const result = await attempt(() => this.#client.query<Row>(query));
      this.#statements.keep(this.#client, statement);
      return result;
    } catch (error) {
      if (!isAborted(error)) this.#failure = error;
      else if (!this.#statements.isKept(this.#client, statement)) this.#isUnprepared = true;
      throw this.#failure;
    }
  }
}
