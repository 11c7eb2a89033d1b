import type { Transaction, WriteContext } from './database.ts';
import type { Sql } from './sql.ts';
import { BeforeCommit, transaction } from './transaction.ts';

/** The share of a transaction's time in which writes may begin. The rest is for their other statements and the commit. */
const shareToBegin = 1 / 3;

/** A write that waits to run in a group. */
export interface PendingWrite {
  callback: (sql: Transaction) => Promise<unknown>;
  context: WriteContext | undefined;
  /** The latest time at which it may begin, on the clock of `performance.now()`. */
  endMs: number;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** The transaction of a group. */
export interface GroupTransaction {
  sql: Sql;
  /** Its deadline, on the clock of `performance.now()`. */
  endMs: number;
  /** The error after which all further statements fail with AbortedError, if there is one. */
  failure: unknown;
  /** Sets the savepoint of one write. False if the transaction has failed before. */
  savepoint(): Promise<boolean>;
  /** Undoes one write, once all its statements have their results. False if no other write can follow. */
  rollBackToSavepoint(): Promise<boolean>;
  /** Whether an error fails the whole group, such as a lost connection. */
  failsAll(error: unknown): boolean;
}

export interface GroupResult {
  /** Settles each write that ran. Call these after the commit. */
  answers: (() => void)[];
  /** The writes that did not begin. */
  rest: PendingWrite[];
}

/** A statement failed only because an earlier one of its transaction did. */
export class AbortedError extends Error {}

/** One of several writes failed, and the others may succeed without it. */
export class OneFailedError extends Error {
  readonly write: PendingWrite | undefined;

  constructor(write: PendingWrite | undefined, cause: unknown) {
    super('One write of a group failed.', { cause });
    this.write = write;
  }
}

/**
 * Runs writes in one transaction without savepoints. Each begins when the one before has sent its last statements, as long as there
 * is time. Throws OneFailedError if one of several fails for a reason of its own.
 */
export async function runPipelined(
  group: PendingWrite[],
  shared: GroupTransaction,
  beforeCommit: BeforeCommit,
): Promise<GroupResult> {
  const failed: OneFailedError[] = [];
  const owns: BeforeCommit[] = [];
  const values: Promise<unknown>[] = [];
  const mayBegin = timeToBegin(shared);
  for (const write of group) {
    if (failed.length > 0 || !mayBegin()) break;
    const own = new BeforeCommit();
    const { promise: isSent, resolve: sentLast } = Promise.withResolvers<void>();
    const sql = transaction(shared.sql, write.context, own, sentLast);
    const value = (async () => write.callback(sql))();
    void value.catch((error) => failed.push(new OneFailedError(write, error))).then(() => sentLast());
    owns.push(own);
    values.push(value);
    await isSent;
  }
  await Promise.allSettled(values);
  if (failed.length > 0 || shared.failure !== undefined) throw failureOf(group, shared, failed);
  for (const own of owns) beforeCommit.addAll(own);
  const results = await Promise.all(values);
  const answers = results.map((value, i) => () => group[i]?.resolve(value));
  return { answers, rest: group.slice(results.length) };
}

/** The failure of the whole group, or OneFailedError. */
function failureOf(group: PendingWrite[], shared: GroupTransaction, failed: OneFailedError[]): unknown {
  const first = failed.find(({ cause }) => !(cause instanceof AbortedError));
  const cause = first ? first.cause : shared.failure;
  return group.length === 1 || shared.failsAll(cause)
    ? cause
    : (first ?? new OneFailedError(undefined, cause));
}

/** Runs writes one after another, each in a savepoint, so that a failed write does not affect the others. */
export async function runInSavepoints(
  group: PendingWrite[],
  shared: GroupTransaction,
  beforeCommit: BeforeCommit,
): Promise<GroupResult> {
  const answers: GroupResult['answers'] = [];
  const mayBegin = timeToBegin(shared);
  for (const { callback, context, resolve, reject } of group) {
    if (!mayBegin()) break;
    const own = new BeforeCommit();
    const isSet = shared.savepoint();
    try {
      const value = await callback(transaction(shared.sql, context, own));
      if (shared.failure !== undefined) throw shared.failure;
      beforeCommit.addAll(own);
      answers.push(() => resolve(value));
    } catch (error) {
      const failure = error instanceof AbortedError ? shared.failure : error;
      if (shared.failsAll(failure) || !(await isSet)) throw failure;
      answers.push(() => reject(failure));
      if (!(await shared.rollBackToSavepoint())) break;
    }
  }
  return { answers, rest: group.slice(answers.length) };
}

/** Returns a function that says whether another write may begin. The first one always may. */
function timeToBegin({ endMs }: GroupTransaction): () => boolean {
  const nowMs = performance.now();
  const untilMs = nowMs + (endMs - nowMs) * shareToBegin;
  let isFirst = true;
  return () => {
    const may = isFirst || performance.now() < untilMs;
    isFirst = false;
    return may;
  };
}
