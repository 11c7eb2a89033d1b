import type { Cause, EndWork, Transaction } from './database.ts';
import type { Sql } from './sql.ts';

/** What the end of a transaction has to do: its items, by the work that they are for. */
export class Ending {
  readonly #items = new Map<EndWork<unknown>, unknown[]>();

  add(work: EndWork<unknown>, item: unknown): void {
    const items = this.#items.get(work);
    if (items) items.push(item);
    else this.#items.set(work, [item]);
  }

  /** Takes over what another transaction leaves to the end that they share. */
  join(other: Ending): void {
    for (const [work, items] of other.#items) for (const item of items) this.add(work, item);
  }

  /** Does the work, and returns how many items there were. */
  async run(sql: Sql): Promise<number> {
    const all = [...this.#items];
    await Promise.all(all.map(([work, items]) => work(sql, items)));
    return all.reduce((count, [, items]) => count + items.length, 0);
  }
}

/** A transaction that runs statements with `sql` and leaves its items to `ending`. `sentLast` is called with its last statements. */
export function transaction(
  sql: Sql,
  cause: Cause | undefined,
  ending: Ending,
  sentLast: () => void = () => {},
): Transaction {
  let isSent = false;
  const run: Sql = async (template, ...values) => {
    if (isSent) throw new Error('A write sends statements after those that it called the last.');
    return sql(template, ...values);
  };
  const atEnd = (work: EndWork<unknown>, item: unknown) => ending.add(work, item);
  const last = <Answers>(answers: Promise<Answers>) => {
    isSent = true;
    sentLast();
    return answers;
  };
  return Object.assign(run, { cause, atEnd, last }) as Transaction;
}

/** The same transaction for a part of its work, after which more follows. */
export function partOf(sql: Transaction): Transaction {
  const run: Sql = (template, ...values) => sql(template, ...values);
  const { cause, atEnd } = sql;
  return Object.assign(run, { cause, atEnd, last: <Answers>(answers: Promise<Answers>) => answers });
}
