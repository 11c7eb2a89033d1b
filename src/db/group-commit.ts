import { setImmediate as nextTurn } from 'node:timers/promises';
import { StorageUnavailableError } from '../foundation/errors.ts';
import { durationBounds, Histogram } from '../foundation/histogram.ts';
import { inQueue } from '../foundation/tracing.ts';
import type { BeforeCommitWork, StorageMeasurements, Transaction, WriteContext } from './database.ts';
import type { Sql } from './sql.ts';

// How a write is committed. The file tells it in the order in which it happens:
// 1. `WriteQueue.add` puts the write into its queue: one for SQLite, one for each workspace on PostgreSQL.
// 2. The queue hands the writes that arrived together to its engine, as a group.
// 3. The engine opens a transaction and runs the writes in it: `runPipelined`, or `runInSavepoints`.
// 4. `BeforeCommit.flush` stores what the writes recorded, such as events. Then the engine commits.
// 5. The engine settles each write: answers leave after the commit.
// A failed write is rolled back alone. In savepoints the others continue at once, else the engine runs the group again.

/** A write that waits to run in a group. */
export interface PendingWrite {
  callback: (sql: Transaction) => Promise<unknown>;
  context: WriteContext | undefined;
  /** The latest time at which it may begin, on the clock of `performance.now()`. */
  endMs: number;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

const groupSizeBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256];

interface Options {
  /** The maximum number of groups that run at once. */
  maxRunning: number;
  /** The queue of a write. Undefined: the write does not wait for others and is its own group. */
  queueOf(context: WriteContext | undefined): number | undefined;
  /** The maximum number of writes in the next group of a queue. */
  groupSize(queueId: number | undefined): number;
  /** The maximum number of waiting writes in a queue. */
  maxWaiting: number;
  /** The longest time that a write waits. */
  deadlineMs: number;
  /** Commits a group: runs its writes in order, settles those that began, and returns the others. It does not throw. */
  commitGroup(group: PendingWrite[]): Promise<PendingWrite[]>;
}

/** Groups writes that arrive together. A queue runs one group at a time; what arrives meanwhile is its next group. Queues take turns. */
export class WriteQueue {
  readonly measured: StorageMeasurements = {
    groupSizes: new Histogram(groupSizeBounds),
    groupSeconds: new Histogram(durationBounds),
    writesWaiting: () => this.#waiting.values().reduce((sum, { length }) => sum + length, 0),
  };
  readonly #options: Options;
  /** The waiting writes, by queue. */
  readonly #waiting = new Map<number, PendingWrite[]>();
  readonly #draining = new Set<Promise<void>>();
  readonly #turns: (() => void)[] = [];
  #running = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Rejects with StorageUnavailableError if too many writes wait, or if the write cannot begin in time. */
  add<T>(callback: (sql: Transaction) => Promise<T>, context: WriteContext | undefined): Promise<T> {
    return inQueue(callback, (traced) => this.#add(traced, context));
  }

  #add<T>(callback: (sql: Transaction) => Promise<T>, context: WriteContext | undefined): Promise<T> {
    const { deadlineMs, maxWaiting, queueOf } = this.#options;
    return new Promise((resolve, reject) => {
      const endMs = performance.now() + deadlineMs;
      const write = { callback, context, endMs, resolve: resolve as PendingWrite['resolve'], reject };
      const queueId = queueOf(context);
      if (queueId === undefined) {
        this.#start(this.#runNextGroup([write], undefined));
        return;
      }
      const waiting = this.#waiting.get(queueId);
      if (!waiting) {
        const first = [write];
        this.#waiting.set(queueId, first);
        this.#start(this.#drain(queueId, first));
      } else if (waiting.length < maxWaiting) {
        waiting.push(write);
      } else {
        reject(new StorageUnavailableError('Too many writes wait for their turn.'));
      }
    });
  }

  /** Waits for all writes that were added. */
  async finish(): Promise<void> {
    while (this.#draining.size > 0) await Promise.all(this.#draining);
  }

  #start(work: Promise<void>): void {
    this.#draining.add(work);
    void work.then(() => this.#draining.delete(work));
  }

  async #drain(queueId: number, waiting: PendingWrite[]): Promise<void> {
    while (waiting.length > 0) {
      // Node.js reads requests in one turn and handles them at its end, so their writes arrive in the next turn.
      await nextTurn();
      if (waiting.length < this.#options.groupSize(queueId)) await nextTurn();
      await this.#runNextGroup(waiting, queueId);
    }
    this.#waiting.delete(queueId);
  }

  /** Waits until a group may run, and runs the first writes of a queue. */
  async #runNextGroup(waiting: PendingWrite[], queueId: number | undefined): Promise<void> {
    if (this.#running === this.#options.maxRunning) {
      await new Promise<void>((resolve) => this.#turns.push(resolve));
    } else {
      this.#running++;
    }
    const group = waiting.splice(0, this.#options.groupSize(queueId));
    const nowMs = performance.now();
    const inTime = group.filter(({ endMs }) => nowMs < endMs);
    for (const { endMs, reject } of group) {
      if (nowMs >= endMs) reject(new StorageUnavailableError('The turn of a write did not come in time.'));
    }
    if (inTime.length > 0) {
      const rest = await this.#options.commitGroup(inTime);
      this.measured.groupSizes.observe(inTime.length - rest.length);
      this.measured.groupSeconds.observeSince(nowMs);
      waiting.unshift(...rest);
    }
    const next = this.#turns.shift();
    if (next) next();
    else this.#running--;
  }
}

/** The share of a transaction's time in which writes may begin. The rest is for their other statements and the commit. */
const shareToBegin = 1 / 3;

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

/** Runs writes without savepoints. Each begins when the one before has sent its last statements. Throws OneFailedError if one fails. */
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
