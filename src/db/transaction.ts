import type { BeforeCommitWork, Transaction, WriteContext } from './database.ts';
import type { Sql } from './sql.ts';

/** The work of a transaction right before its commit, with its items. */
export class BeforeCommit {
  readonly #items = new Map<BeforeCommitWork<unknown>, unknown[]>();

  add(work: BeforeCommitWork<unknown>, item: unknown): void {
    const items = this.#items.get(work);
    if (items) items.push(item);
    else this.#items.set(work, [item]);
  }

  /** Adds all items of a write that shares the commit. */
  addAll(other: BeforeCommit): void {
    for (const [work, items] of other.#items) for (const item of items) this.add(work, item);
  }

  /** Does the work, and returns the number of items. */
  async flush(sql: Sql): Promise<number> {
    const all = [...this.#items];
    await Promise.all(all.map(([work, items]) => work(sql, items)));
    return all.reduce((count, [, items]) => count + items.length, 0);
  }
}

/** A transaction that runs statements with `sql`. It calls `sentLast` when it has sent its last statements. */
export function transaction(
  sql: Sql,
  context: WriteContext | undefined,
  pending: BeforeCommit,
  sentLast: () => void = () => {},
): Transaction {
  let isSent = false;
  const execute: Sql = async (template, ...values) => {
    if (isSent) throw new Error('A write sends statements after its final ones.');
    return sql(template, ...values);
  };
  const beforeCommit = (work: BeforeCommitWork<unknown>, item: unknown) => pending.add(work, item);
  const finalStatements = <Answers>(answers: Promise<Answers>) => {
    isSent = true;
    sentLast();
    return answers;
  };
  return Object.assign(execute, { context, beforeCommit, finalStatements }) as Transaction;
}

/** The same transaction, but `finalStatements` marks nothing, because the caller sends more statements. */
export function ignoringFinalStatements(sql: Transaction): Transaction {
  const execute: Sql = (template, ...values) => sql(template, ...values);
  const { context, beforeCommit } = sql;
  return Object.assign(execute, {
    ...{ context, beforeCommit },
    finalStatements: <Answers>(answers: Promise<Answers>) => answers,
  });
}
