import { preciseDuration } from '../../foundation/words.ts';
/** `16:03:11`, in the time zone of the user. */
export const clockTime = (at: Date | number): string => new Date(at).toLocaleTimeString('en-GB');

/** `16:03:11.125`, in the time zone of the user. */
export function preciseTime(at: string): string {
  const time = new Date(at);
  return `${clockTime(time)}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}

const two = (value: number) => String(value).padStart(2, '0');

/** A countdown, such as 0:43 or 23:59:59. */
export function toCountdown(leftMs: number): string {
  const seconds = Math.max(0, Math.ceil(leftMs / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return `${hours ? `${hours}:${two(minutes)}` : minutes}:${two(seconds % 60)}`;
}

/** Rounds up to the second, so that nobody comes back too early. */
export const endToSecond = (ms: number): number => Math.ceil(ms / 1_000) * 1_000;

/** A local time: `16:03:11` on the day of `nowMs`, else `22 Nov, 16:03`. */
export function toLocalTime(ms: number, nowMs: number): string {
  const at = new Date(ms);
  const isToday = at.toDateString() === new Date(nowMs).toDateString();
  const time = clockTime(at);
  return isToday
    ? time
    : `${at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}, ${time.slice(0, 5)}`;
}

/** A local time, and the same time in UTC. */
export function toBothTimes(ms: number, nowMs: number): string {
  const local = toLocalTime(ms, nowMs);
  if (new Date(ms).getTimezoneOffset() === 0) return `${local} UTC`;
  return `${local} (${new Date(ms).toISOString().slice(11, 19)} UTC)`;
}

/** The wait that `Retry-After` asked for, to append to a duration: `, Retry-After 3 s`. */
export const retryAfterText = (retryAfterMs: number | undefined): string =>
  retryAfterMs === undefined ? '' : `, Retry-After ${preciseDuration(retryAfterMs)}`;

/** Resolves after `ms`. */
export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
