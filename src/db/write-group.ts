import { StorageUnavailableError } from '../errors.ts';
import type { Cause, Transaction } from './database.ts';
import { Ending, transaction } from './end-work.ts';
import { AbortedError, isOfStatement, isRace } from './postgres-errors.ts';
import type { Sql } from './sql.ts';

/** Of the time of a transaction, the share in which writes may begin. The rest is for their end and the commit. */
const shareToBegin = 1 / 3;

/** A write that waits for its turn. */
export interface PendingWrite {
  work: (sql: Transaction) => Promise<unknown>;
  cause: Cause | undefined;
  /** Until when it may begin, on the clock of `performance.now()`. */
  endMs: number;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** The transaction that a group shares. */
export interface SharedTransaction {
  sql: Sql;
  /** When it must be done, on the clock of `performance.now()`. */
  endMs: number;
  /** Why the first statement failed that did, if any. After it all fail with AbortedError. */
  failure: unknown;
  /** Marks where a write begins, which `undo` goes back to. False if something failed before, such as the lock of the workspace. */
  mark(): Promise<boolean>;
  /** Undoes a write, once all its statements are answered. False if no other write can follow on this connection. */
  undo(): Promise<boolean>;
}

/** What became of a group: what settles the writes that ran, after the commit, and the writes that did not begin. */
export interface Ran {
  settles: (() => void)[];
  rest: PendingWrite[];
}

/** One write of several failed, for a reason of its own. */
export class OneFailedError extends Error {
  readonly write: PendingWrite | undefined;

  constructor(write: PendingWrite | undefined, cause: unknown) {
    super('One write of a group failed.', { cause });
    this.write = write;
  }
}

/**
 * Runs writes in a transaction that they share. Each begins when the one before has sent its last statements, as long as there is time.
 * If one of several fails for a reason of its own, throws OneFailedError.
 */
export async function runTogether(
  group: PendingWrite[],
  shared: SharedTransaction,
  ending: Ending,
): Promise<Ran> {
  const failed: OneFailedError[] = [];
  const endings: Ending[] = [];
  const values: Promise<unknown>[] = [];
  const mayBegin = timeToBegin(shared);
  for (const write of group) {
    if (failed.length > 0 || !mayBegin()) break;
    const own = new Ending();
    const { promise: isSent, resolve: sentLast } = Promise.withResolvers<void>();
    const value = Promise.try(write.work, transaction(shared.sql, write.cause, own, sentLast));
    void value.catch((error) => failed.push(new OneFailedError(write, error))).then(() => sentLast());
    endings.push(own);
    values.push(value);
    await isSent;
  }
  await Promise.allSettled(values);
  if (failed.length > 0 || shared.failure !== undefined) throw failureOf(group, shared, failed);
  for (const own of endings) ending.join(own);
  const results = await Promise.all(values);
  const settles = results.map((value, i) => () => group[i]?.resolve(value));
  return { settles, rest: group.slice(results.length) };
}

/** What ends a transaction in which writes failed: the failure of one of several, or what is the failure of all. */
function failureOf(group: PendingWrite[], { failure }: SharedTransaction, failed: OneFailedError[]): unknown {
  const first = failed.find(({ cause }) => !(cause instanceof AbortedError));
  const cause = first ? first.cause : failure;
  return group.length === 1 || isOfAll(cause) ? cause : (first ?? new OneFailedError(undefined, cause));
}

/** Runs writes one after another, each to be undone by itself, so that one that fails does not affect the others. */
export async function runCarefully(
  group: PendingWrite[],
  shared: SharedTransaction,
  ending: Ending,
): Promise<Ran> {
  const settles: Ran['settles'] = [];
  const mayBegin = timeToBegin(shared);
  for (const { work, cause, resolve, reject } of group) {
    if (!mayBegin()) break;
    const own = new Ending();
    const isMarked = shared.mark();
    try {
      const value = await work(transaction(shared.sql, cause, own));
      if (shared.failure !== undefined) throw shared.failure;
      ending.join(own);
      settles.push(() => resolve(value));
    } catch (error) {
      const failure = error instanceof AbortedError ? shared.failure : error;
      if (isOfAll(failure) || !(await isMarked)) throw failure;
      settles.push(() => reject(failure));
      if (!(await shared.undo())) break;
    }
  }
  return { settles, rest: group.slice(settles.length) };
}

/** Says whether another write may begin. The first always may. */
function timeToBegin({ endMs }: SharedTransaction): () => boolean {
  const nowMs = performance.now();
  const untilMs = nowMs + (endMs - nowMs) * shareToBegin;
  let isFirst = true;
  return () => {
    const may = isFirst || performance.now() < untilMs;
    isFirst = false;
    return may;
  };
}

/** Whether a failure is not one write's alone: it is the connection's, or a lost race, which runs again. */
const isOfAll = (error: unknown) =>
  isRace(error) || (error instanceof StorageUnavailableError && !isOfStatement(error));
