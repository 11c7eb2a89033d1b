/** Times do not go back while the clock is set back by less. */
const maxAheadMs = 5_000;
/** The clock has whole milliseconds, and is read a little after the stopwatch. */
const toleranceMs = 20;
const maxTries = 3;

/**
 * Gives times in microseconds from a clock in whole milliseconds and a stopwatch. They follow the clock within `toleranceMs`, and do not
 * go back while it is set back by less than `maxAheadMs`.
 */
export class SteadyClock {
  readonly #clock: () => number;
  readonly #stopwatch: () => number;
  #offsetMs = Number.NEGATIVE_INFINITY;

  constructor(clock: () => number, stopwatch: () => number) {
    this.#clock = clock;
    this.#stopwatch = stopwatch;
  }

  /** Microseconds since 1970. */
  nowUs(): number {
    const { stopwatchMs, offsetMs } = this.#read();
    const aheadMs = this.#offsetMs - offsetMs;
    if (aheadMs < -toleranceMs || aheadMs > maxAheadMs) this.#offsetMs = offsetMs;
    return Math.round((this.#offsetMs + stopwatchMs) * 1_000);
  }

  /** Reads both, and again if the process was suspended in between: that would look like a clock that was set ahead. */
  #read(): { stopwatchMs: number; offsetMs: number } {
    for (let tries = 1; ; tries++) {
      const stopwatchMs = this.#stopwatch();
      const offsetMs = this.#clock() - stopwatchMs;
      if (tries === maxTries || this.#stopwatch() - stopwatchMs <= toleranceMs)
        return { stopwatchMs, offsetMs };
    }
  }
}
