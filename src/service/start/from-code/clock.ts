import { types } from 'node:util';
import type { Service } from '../../service.ts';
import { shown } from './check-options.ts';

/** The clock of a store. Tests can move it ahead. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Moves time ahead by milliseconds, or by a text such as `'1 minute'`. Resolves when everything due by then is done: expired data is
   * removed, and each webhook retry was sent at its time and has its response. A retry takes at most 15 s of real time.
   * Throws TypeError for an invalid duration, and RangeError for a negative duration or a time after 9999-12-01.
   */
  advance(duration: Duration): Promise<void>;
  /** Moves time ahead to an instant, as `advance` does. Throws RangeError if it is in the past, or after 9999-12-01. */
  set(instant: Date): Promise<void>;
}

/** The parts of a service that use the clock of a store. */
type Timed = Pick<Service, 'sendDue' | 'nextRetryAtMs' | 'sweep'>;

// Read at the start, because tests may replace the global clock later.
export const { now: realNow } = Date;
export const realStopwatch = performance.now.bind(performance);
/** The latest time. A rehearsal that starts then still ends in a year of four digits. */
export const lastMs = Date.parse('9999-12-01T00:00:00Z');

/** Real time plus an offset, or a stopped clock that only `moveTo` moves. */
export class MovableClock {
  readonly #startMs: number | undefined;
  /** The offset from real time, or from the start if the clock is stopped. */
  #aheadMs = 0;

  /** With `startMs`, in milliseconds since 1970, the clock is stopped at that time. */
  constructor(startMs: number | undefined) {
    this.#startMs = startMs;
  }

  /** Milliseconds since 1970. */
  readonly now = (): number => (this.#startMs ?? realNow()) + this.#aheadMs;

  /** Runs at the same speed as `now`. In milliseconds with fractions. */
  readonly stopwatch = (): number => (this.#startMs === undefined ? realStopwatch() : 0) + this.#aheadMs;

  /** Moves ahead to a time. Does nothing if the clock is already later. */
  moveTo(atMs: number): void {
    this.#aheadMs += Math.max(0, atMs - this.now());
  }

  restart(): void {
    this.#aheadMs = 0;
  }
}

/** Whether it is a valid Date, also of another realm. */
export const isInstant = (value: unknown): value is Date =>
  types.isDate(value) && !Number.isNaN(value.getTime());

/** The public clock of a store. `inTurn` runs moves one after another. */
export function clockOf(clock: MovableClock, timed: Timed, inTurn: InTurn): Clock {
  return {
    now: clock.now,
    async advance(duration) {
      const ms = durationMs(duration);
      await inTurn((signal) => moveThrough(clock, clock.now() + ms, timed, signal));
    },
    async set(instant) {
      if (!isInstant(instant)) throw new TypeError('The instant is not a valid Date.');
      const atMs = instant.getTime();
      await inTurn(async (signal) => {
        if (atMs < clock.now()) throw new RangeError(`Time cannot go back, to ${instant.toISOString()}.`);
        await moveThrough(clock, atMs, timed, signal);
      });
    },
  };
}

/** Runs work after all earlier work. The work ends early when the signal is aborted. */
type InTurn = <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** Stops at the time of each webhook retry, because the time of the next retry depends on its result. */
async function moveThrough(
  clock: MovableClock,
  targetMs: number,
  timed: Timed,
  signal: AbortSignal,
): Promise<void> {
  if (targetMs > lastMs) throw new RangeError(`Time cannot pass ${new Date(lastMs).toISOString()}.`);
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

const unitsMs = { millisecond: 1, second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };
type Unit = keyof typeof unitsMs;

/** A duration: milliseconds, or a number and a unit, such as `'90 seconds'` or `'1 day'`. */
export type Duration = number | `${number} ${Unit}` | `${number} ${Unit}s`;

const form = new RegExp(`^(\\d+(?:\\.\\d+)?) (${Object.keys(unitsMs).join('|')})s?$`);

/** A duration in whole milliseconds. Throws TypeError if it is invalid, and RangeError if it is below zero. */
export function durationMs(duration: Duration): number {
  const ms = typeof duration === 'string' ? parseDuration(duration) : duration;
  if (typeof ms !== 'number' || !Number.isFinite(ms))
    throw new TypeError(
      `A duration is a number of milliseconds, or a text such as '90 seconds' or '1 day', not ${shown(duration)}.`,
    );
  if (ms < 0) throw new RangeError(`Time cannot go back, by ${ms} ms.`);
  return Math.round(ms);
}

function parseDuration(text: string): number | undefined {
  const [, count, unit] = form.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * unitsMs[unit as Unit];
}
