import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { corkForTurn } from '../foundation/cork-for-turn.ts';
import { StorageUnavailableError } from '../foundation/errors.ts';
import { inSpan } from '../foundation/tracing.ts';
import type { StorageCounts } from './database.ts';
import { AbortedError, type GroupTransaction } from './group-commit.ts';
import { attemptPostgres, isAborted, isOfStatement, isRace } from './postgres-errors.ts';
import { type Statement, type Statements, spanTextOf } from './postgres-statements.ts';
import type { Row, Sql } from './sql.ts';

/** How long a connection may take to roll back. */
const rollBackMs = 3_000;
/** The class of our advisory locks. It separates them from others in the same database. */
const workspaceLocks = 0x9e75;

interface Options {
  client: PoolClient;
  statements: Statements;
  counts: StorageCounts;
  /** Its deadline, on the clock of `performance.now()`. */
  endMs: number;
  /** The SQL that begins it. */
  begin: string;
  /** The workspace that it locks. */
  workspaceId: number | undefined;
}

/** A transaction on a connection. It begins with its first statement, and sends each statement without waiting for the previous one. */
export class PostgresTransaction implements GroupTransaction {
  readonly endMs: number;
  failure: unknown;
  readonly #options: Options;
  #hasBegun = false;
  #hasEnded = false;
  /** Whether the server did not prepare a statement, while the client and PgBouncer assume that it did. */
  #isUnprepared = false;

  constructor(options: Options) {
    this.#options = options;
    this.endMs = options.endMs;
  }

  readonly sql: Sql = async (template, ...values) => {
    if (this.#hasEnded) throw new Error('A statement came after the end of its transaction.');
    this.#begin();
    return (await this.#execute(this.#options.statements.of(template, values))).rows;
  };

  savepoint(): Promise<boolean> {
    this.#begin();
    return this.#execute({ text: 'savepoint one_write', rowMode: 'array' }).then(
      () => true,
      () => false,
    );
  }

  async rollBackToSavepoint(): Promise<boolean> {
    this.failure = undefined;
    await this.#execute({ text: 'rollback to one_write', rowMode: 'array' }).catch(() => {});
    await allNoted();
    return !this.#isUnprepared;
  }

  /** True for an error of the connection, and for a lost race. After a lost race the group runs again. */
  failsAll(error: unknown): boolean {
    return isRace(error) || (error instanceof StorageUnavailableError && !isOfStatement(error));
  }

  /** Throws if any statement failed: PostgreSQL then responds to `commit` with a rollback. */
  async commit(): Promise<void> {
    this.#hasEnded = true;
    if (this.#hasBegun && this.failure === undefined)
      await this.#execute({ text: 'commit', rowMode: 'array' });
    if (this.failure !== undefined) throw this.failure;
  }

  /** Returns the connection to the pool, or closes it if a statement was not prepared. */
  release(): void {
    this.#options.client.release(this.#isUnprepared);
  }

  /** Rolls back and returns the connection to the pool. Closes a connection that does not respond, which also rolls back. */
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

  /** Locks a workspace until the transaction ends, so that the order in which a group locks rows does not matter. */
  #lockWorkspace(id: number): void {
    void this.sql`select pg_advisory_xact_lock(${workspaceLocks}, ${id % 2 ** 31})`.catch(() => {});
  }

  /** Sends a statement without waiting. The following statements report its failure. */
  #send(text: string): void {
    this.#begin();
    void this.#execute({ text, rowMode: 'array' }).catch(() => {});
  }

  async #execute(statement: Statement) {
    if (this.failure !== undefined) return abort();
    const { client, counts, statements } = this.#options;
    try {
      const query_timeout = Math.ceil(this.endMs - performance.now());
      // A timeout of the client would close the connection.
      if (query_timeout <= 0) throw new StorageUnavailableError('The transaction was not done in time.');
      counts.statements++;
      const query: Statement = { ...statement, query_timeout };
      corkForTurn(client.connection.stream);
      const result = await inSpan(spanTextOf(statement), () =>
        attemptPostgres(() => client.query<Row>(query)),
      );
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

/** Waits until all results that arrived together are processed. Failed statements are processed after the others. */
const allNoted = () => nextTurn();

/** Rejects in the next turn, so that `Promise.all` over several statements rejects with the first failure. */
async function abort(): Promise<never> {
  await nextTurn();
  throw new AbortedError();
}
