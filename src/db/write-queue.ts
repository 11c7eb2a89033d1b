import { setImmediate as nextTurn } from 'node:timers/promises';
import { StorageUnavailableError } from '../foundation/errors.ts';
import { durationBounds, Histogram } from '../foundation/histogram.ts';
import { inQueue } from '../foundation/tracing.ts';
import type { StorageMeasurements, Transaction, WriteContext } from './database.ts';
import type { PendingWrite } from './write-group.ts';

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

/**
 * Groups writes, so that writes that arrive together share a commit. A queue runs one group at a time. The writes that arrive
 * meanwhile are its next group. Queues take turns.
 */
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
