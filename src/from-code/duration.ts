import { shown } from './options.ts';

const unitsMs = { millisecond: 1, second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };
type Unit = keyof typeof unitsMs;

/** A length of time: milliseconds, or a number and a unit, such as `'90 seconds'` or `'1 day'`. */
export type Duration = number | `${number} ${Unit}` | `${number} ${Unit}s`;

const form = new RegExp(`^(\\d+(?:\\.\\d+)?) (${Object.keys(unitsMs).join('|')})s?$`);

/** The milliseconds of a duration, whole. Throws TypeError if it is none, and RangeError if it is below zero. */
export function durationMs(duration: Duration): number {
  const ms = typeof duration === 'string' ? ofText(duration) : duration;
  if (typeof ms !== 'number' || !Number.isFinite(ms)) {
    throw new TypeError(
      `A duration is a number of milliseconds, or a text such as '90 seconds' or '1 day', not ${shown(duration)}.`,
    );
  }
  if (ms < 0) throw new RangeError(`Time cannot go back, by ${ms} ms.`);
  return Math.round(ms);
}

function ofText(text: string): number | undefined {
  const [, count, unit] = form.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * unitsMs[unit as Unit];
}
