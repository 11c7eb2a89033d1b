import { types } from 'node:util';
import type { Service } from '../service.ts';
import { type Duration, durationMs } from './duration.ts';

/** The time of a store, which tests move ahead. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Moves time ahead by milliseconds, or by a text such as `'1 minute'`. Resolves once all that is due by then is done: what expires
   * has expired, and each retry of a webhook on the way was sent at its time and answered, which takes at most 15 s of real time.
   * Throws TypeError for what is no duration, and RangeError for one below zero, or one that leads beyond 9999-12-01.
   */
  advance(duration: Duration): Promise<void>;
  /** Moves time ahead to an instant, as `advance` does. Throws RangeError if it is in the past, or after 9999-12-01. */
  set(instant: Date): Promise<void>;
}

/** What goes by the clock of a store. */
export type Timed = Pick<Service, 'sendDue' | 'nextRetryAtMs' | 'sweep'>;

// Tests may replace the global clock by one that stands still.
export const { now: realNow } = Date;
export const realStopwatch = performance.now.bind(performance);
/** How far time goes: what ends later, such as a rehearsal, still does so in a year of four digits, as times are written. */
export const lastMs = Date.parse('9999-12-01T00:00:00Z');

/** Real time that can be moved ahead, or time that stands still until it is moved. */
export class MovableClock {
  readonly #startMs: number | undefined;
  /** How far it is ahead of real time or, if it stands still, of its start. */
  #aheadMs = 0;

  /** With a start it stands still there, in milliseconds since 1970. */
  constructor(startMs: number | undefined) {
    this.#startMs = startMs;
  }

  /** Milliseconds since 1970. */
  readonly now = (): number => (this.#startMs ?? realNow()) + this.#aheadMs;

  /** Passes as `now` does, in milliseconds with fractions. */
  readonly stopwatch = (): number => (this.#startMs === undefined ? realStopwatch() : 0) + this.#aheadMs;

  /** Moves ahead to a time, unless it is later already. */
  moveTo(atMs: number): void {
    this.#aheadMs += Math.max(0, atMs - this.now());
  }

  /** Goes back to where it started, as if it had never been moved. */
  restart(): void {
    this.#aheadMs = 0;
  }
}

/** Whether it is a valid Date, also of another realm. */
export const isInstant = (value: unknown): value is Date =>
  types.isDate(value) && !Number.isNaN(value.getTime());

/** The clock of a store. One move follows the other, `inTurn`. */
export function clockOf(clock: MovableClock, timed: Timed, inTurn: InTurn): Clock {
  return {
    now: clock.now,
    async advance(duration) {
      const ms = durationMs(duration);
      await inTurn((signal) => moveThrough(clock, clock.now() + ms, timed, signal));
    },
    async set(instant) {
      if (!isInstant(instant)) {
        throw new TypeError('The instant is not a valid Date.');
      }
      const atMs = instant.getTime();
      await inTurn(async (signal) => {
        if (atMs < clock.now()) throw new RangeError(`Time cannot go back, to ${instant.toISOString()}.`);
        await moveThrough(clock, atMs, timed, signal);
      });
    },
  };
}

/** Runs work once that before is over. What takes long ends when the signal is aborted. */
type InTurn = <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** Stops at each retry of a webhook on the way, since the next one follows from when it was made. */
async function moveThrough(
  clock: MovableClock,
  targetMs: number,
  timed: Timed,
  signal: AbortSignal,
): Promise<void> {
  if (targetMs > lastMs) throw new RangeError(`Time goes no further than ${new Date(lastMs).toISOString()}.`);
  for (;;) {
    await timed.sendDue();
    signal.throwIfAborted();
    const retryAtMs = await timed.nextRetryAtMs();
    if (retryAtMs === undefined || retryAtMs > targetMs) break;
    clock.moveTo(retryAtMs);
  }
  clock.moveTo(targetMs);
  await timed.sweep();
}
