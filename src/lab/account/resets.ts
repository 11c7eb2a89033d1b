import { LRUCache } from 'lru-cache';
import { ApiError } from '../../errors.ts';

/** A reset is a hundred times the work of other writes, and those of its workspace wait for it. */
const pauseMs = 1_000;

/** Lets an instance reset each workspace once a second. */
export class Resets {
  readonly #lastMs = new LRUCache<number, number>({ max: 10_000 });
  readonly #stopwatch: () => number;

  /** `stopwatch`: milliseconds of a clock that never goes back. */
  constructor(stopwatch: () => number) {
    this.#stopwatch = stopwatch;
  }

  /** Takes the turn of a workspace. Throws `rate_limited` if it had one within the last second. */
  take(workspaceId: number): void {
    const nowMs = this.#stopwatch();
    if (nowMs - (this.#lastMs.get(workspaceId) ?? Number.NEGATIVE_INFINITY) < pauseMs) {
      throw new ApiError(
        'rate_limited',
        'This workspace was reset within the last second. Try again after 1 s.',
        {
          'Retry-After': '1',
        },
      );
    }
    this.#lastMs.set(workspaceId, nowMs);
  }
}
