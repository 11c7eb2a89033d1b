import { LRUCache } from 'lru-cache';
import { ApiError } from '../../errors.ts';

/** A reset is hundreds of times the work of other writes, and those of its workspace wait for it. */
const pauseMs = 1_000;

interface Turn {
  request: object;
  atMs: number;
}

/** Lets an instance reset each workspace once a second. */
export class Resets {
  readonly #last = new LRUCache<number, Turn>({ max: 10_000 });
  readonly #stopwatch: () => number;

  /** `stopwatch`: milliseconds of a clock that never goes back. */
  constructor(stopwatch: () => number) {
    this.#stopwatch = stopwatch;
  }

  /**
   * Runs the reset that a request asks for, within the write of its workspace. It takes the turn unless it fails, and may run again if
   * its transaction does. Throws `rate_limited` if another had the turn within the last second.
   */
  async inTurn<T>(workspaceId: number, request: object, reset: () => Promise<T>): Promise<T> {
    const atMs = this.#stopwatch();
    const last = this.#last.get(workspaceId);
    const other = last?.request === request ? undefined : last;
    if (other && atMs - other.atMs < pauseMs) {
      throw new ApiError(
        'rate_limited',
        'This workspace was reset within the last second. Try again after 1 s.',
        { 'Retry-After': '1' },
      );
    }
    this.#last.set(workspaceId, { request, atMs });
    try {
      return await reset();
    } catch (error) {
      if (other) this.#last.set(workspaceId, other);
      else this.#last.delete(workspaceId);
      throw error;
    }
  }
}
