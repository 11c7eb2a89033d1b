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

/** A length in words, such as "1 minute 30 seconds". */
export function toLength(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 3_600), 'hour'],
    [Math.floor(seconds / 60) % 60, 'minute'],
    [seconds % 60, 'second'],
  ] as const;
  const words = parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}${count === 1 ? '' : 's'}`);
  return words.join(' ') || '0 seconds';
}

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

/** `3.2 ms`, `125 ms`, `2.004 s`, `1 min 5 s`. */
export function preciseDuration(ms: number): string {
  if (ms < 9.95) return `${Number(ms.toFixed(1))} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_999.5) return `${Number((ms / 1_000).toFixed(3))} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min${seconds % 60 ? ` ${seconds % 60} s` : ''}`;
}

/** The wait that `Retry-After` asked for, to append to a duration: `, Retry-After 3 s`. */
export const retryAfterText = (retryAfterMs: number | undefined): string =>
  retryAfterMs === undefined ? '' : `, Retry-After ${preciseDuration(retryAfterMs)}`;
