import { StorageUnavailableError } from '../errors.ts';
import type { Cause, Transaction } from './database.ts';
import { Ending, transaction } from './end-work.ts';
import { isRace } from './postgres-errors.ts';
import type { Sql } from './sql.ts';

/** A write that waits for its turn. */
export interface PendingWrite {
  work: (sql: Transaction) => Promise<unknown>;
  cause: Cause | undefined;
  /** Until when it may begin, on the clock of `performance.now()`. */
  endMs: number;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

interface Options {
  /** How many groups run at once. */
  maxRunning: number;
  /** How many writes the next group may have. */
  groupSize(): number;
  /** How many writes of a workspace wait at most. */
  maxWaiting: number;
  /** How long a write waits at most. */
  deadlineMs: number;
  /** Runs the writes of a group in their order, and settles each. It does not throw. */
  run(group: PendingWrite[]): Promise<void>;
}

/**
 * Groups writes. A workspace has one group at a time: what has arrived when its last one is done is the next. Workspaces take
 * turns. A write that is for no workspace is a group of its own.
 */
export class GroupedWrites {
  readonly #options: Options;
  /** The writes that wait, by workspace. */
  readonly #waiting = new Map<number, PendingWrite[]>();
  readonly #draining = new Set<Promise<void>>();
  readonly #turns: (() => void)[] = [];
  #running = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Fails with StorageUnavailableError if too many wait already, or if the turn of the write does not come in time. */
  add<T>(work: (sql: Transaction) => Promise<T>, cause: Cause | undefined): Promise<T> {
    const { deadlineMs, maxWaiting } = this.#options;
    return new Promise((resolve, reject) => {
      const endMs = performance.now() + deadlineMs;
      const write = { work, cause, endMs, resolve: resolve as PendingWrite['resolve'], reject };
      const workspaceId = cause?.workspaceId;
      if (workspaceId === undefined) {
        this.#start(this.#run([write]));
        return;
      }
      const waiting = this.#waiting.get(workspaceId);
      if (!waiting) {
        const first = [write];
        this.#waiting.set(workspaceId, first);
        this.#start(this.#drain(workspaceId, first));
      } else if (waiting.length < maxWaiting) {
        waiting.push(write);
      } else {
        reject(new StorageUnavailableError('Too many writes wait for their turn.'));
      }
    });
  }

  /** Waits for all that was added. */
  async finish(): Promise<void> {
    while (this.#draining.size > 0) await Promise.all(this.#draining);
  }

  #start(work: Promise<void>): void {
    this.#draining.add(work);
    void work.then(() => this.#draining.delete(work));
  }

  async #drain(workspaceId: number, waiting: PendingWrite[]): Promise<void> {
    while (waiting.length > 0) {
      // Requests that have arrived by now are read in one turn and handled at its end, so their writes are here in the next.
      await nextTurn();
      await nextTurn();
      await this.#run(waiting);
    }
    this.#waiting.delete(workspaceId);
  }

  /** Runs a group of what is at the front of a queue, when it has its turn. */
  async #run(waiting: PendingWrite[]): Promise<void> {
    if (this.#running === this.#options.maxRunning) {
      await new Promise<void>((resolve) => this.#turns.push(resolve));
    } else {
      this.#running++;
    }
    const group = waiting.splice(0, this.#options.groupSize());
    const nowMs = performance.now();
    const inTime = group.filter(({ endMs }) => nowMs < endMs);
    for (const { endMs, reject } of group) {
      if (nowMs >= endMs) reject(new StorageUnavailableError('The turn of a write did not come in time.'));
    }
    if (inTime.length > 0) await this.#options.run(inTime);
    const next = this.#turns.shift();
    if (next) next();
    else this.#running--;
  }
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** One of several writes failed, and the others with it. */
export class RefusedError extends Error {}

/** How the writes of a group are settled after the commit. */
type Settle = () => void;

/** Where a group runs. */
interface Session {
  sql: Sql;
  /** Sends a statement whose failure shows in those after it. */
  send(text: string): void;
}

/**
 * Runs writes in a transaction that they share. Each begins when the one before has sent its last statements. If one of several fails,
 * throws what is not its fault, or else RefusedError.
 */
export async function runTogether(
  group: PendingWrite[],
  { sql }: Session,
  ending: Ending,
): Promise<Settle[]> {
  const errors: unknown[] = [];
  const endings: Ending[] = [];
  const values: Promise<unknown>[] = [];
  for (const { work, cause } of group) {
    const own = new Ending();
    const { promise: isSent, resolve: sentLast } = Promise.withResolvers<void>();
    const value = work(transaction(sql, cause, own, sentLast));
    void value.catch((error) => errors.push(error)).then(() => sentLast());
    endings.push(own);
    values.push(value);
    await isSent;
    if (errors.length > 0) break;
  }
  await Promise.allSettled(values);
  if (errors.length > 0) throw group.length === 1 ? errors[0] : (errors.find(isOfAll) ?? new RefusedError());
  for (const own of endings) ending.join(own);
  const results = await Promise.all(values);
  return results.map((value, i) => () => group[i]?.resolve(value));
}

/** Runs writes one after another, each in a savepoint of its own, so that one that fails does not affect the others. */
export async function runCarefully(
  group: PendingWrite[],
  { sql, send }: Session,
  ending: Ending,
): Promise<Settle[]> {
  const settle: Settle[] = [];
  for (const { work, cause, resolve, reject } of group) {
    const own = new Ending();
    send('savepoint one_write');
    try {
      const value = await work(transaction(sql, cause, own));
      ending.join(own);
      settle.push(() => resolve(value));
    } catch (error) {
      if (isOfAll(error)) throw error;
      send('rollback to one_write');
      settle.push(() => reject(error));
    }
    send('release one_write');
  }
  return settle;
}

/** Whether an error is not one write's alone. */
const isOfAll = (error: unknown) => isRace(error) || error instanceof StorageUnavailableError;
