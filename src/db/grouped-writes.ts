import { StorageUnavailableError } from '../errors.ts';
import type { Cause, Transaction } from './database.ts';
import type { PendingWrite } from './write-group.ts';

interface Options {
  /** How many groups run at once. */
  maxRunning: number;
  /** How many writes the next group of a workspace may have. */
  groupSize(workspaceId: number | undefined): number;
  /** How many writes of a workspace wait at most. */
  maxWaiting: number;
  /** How long a write waits at most. */
  deadlineMs: number;
  /** Runs the writes of a group in their order, settles each that began, and returns the others. It does not throw. */
  run(group: PendingWrite[]): Promise<PendingWrite[]>;
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
    const group = waiting.splice(0, this.#options.groupSize(waiting[0]?.cause?.workspaceId));
    const nowMs = performance.now();
    const inTime = group.filter(({ endMs }) => nowMs < endMs);
    for (const { endMs, reject } of group) {
      if (nowMs >= endMs) reject(new StorageUnavailableError('The turn of a write did not come in time.'));
    }
    if (inTime.length > 0) waiting.unshift(...(await this.#options.run(inTime)));
    const next = this.#turns.shift();
    if (next) next();
    else this.#running--;
  }
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
