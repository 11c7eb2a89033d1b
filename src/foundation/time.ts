export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

const dateTime = /^([+-]?\d{4,})(-\d{2}-\d{2})[Tt](\d{2}:\d{2}):(\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})?$/;

const maxFractionDigits = 9;
const notOfFourDigits = 'its year must be 0000 to 9999 in UTC';

/** A stored time, in milliseconds since 1970, as RFC 3339 text. */
export const toTime = (atMs: unknown): string => new Date(Number(atMs)).toISOString();

/** The same instant in UTC, or undefined if `text` breaks a rule. */
export const toUtc = (text: string): string | undefined => read(text).utc;

/** The rule that a text breaks, for a message. Undefined if it has not even the form of a date-time. */
export const instantProblem = (text: string): string | undefined => read(text).problem;

/** Reads an RFC 3339 date-time of the years 0000 to 9999. A leap second becomes the next second, as in POSIX time. */
function read(text: string): { utc?: string; problem?: string } {
  const [, year = '', monthAndDay, minute, second, fraction = '0', offset] = dateTime.exec(text) ?? [];
  if (second === undefined) return {};
  if (offset === undefined) return { problem: 'it needs an offset from UTC, such as Z or +02:00' };
  if (fraction.length > maxFractionDigits)
    return { problem: `its second must have at most ${maxFractionDigits} digits after the point` };
  if (year.length !== 4) return { problem: notOfFourDigits };
  const isLeapSecond = second === '60';
  const [day, time] = [`${year}${monthAndDay}`, `${minute}:${isLeapSecond ? '59' : second}`];
  if (!exists(day, '00:00:00')) return { problem: `there is no day ${day}` };
  if (!exists(day, time)) return { problem: `there is no time ${minute}:${second}` };
  const atMs = Date.parse(`${day}T${time}${offset.toUpperCase()}`);
  if (Number.isNaN(atMs)) return { problem: `there is no offset ${offset}` };
  if (isLeapSecond && !inUtc(atMs).endsWith('T23:59:59'))
    return { problem: 'a leap second is at 23:59:60 in UTC and at no other time' };
  const utc = inUtc(isLeapSecond ? atMs + 1000 : atMs);
  if (!/^\d{4}-/.test(utc)) return { problem: notOfFourDigits };
  const digits = fraction.replace(/0+$/, '');
  return { utc: `${utc}${digits && `.${digits}`}Z` };
}

/** Whether a day and a time exist. `Date` turns 30 February into 1 March, and 24:00 into the next day. */
function exists(day: string, time: string): boolean {
  const atMs = Date.parse(`${day}T${time}Z`);
  return !Number.isNaN(atMs) && inUtc(atMs) === `${day}T${time}`;
}

/** A time to the second, without its zone. */
const inUtc = (atMs: number) => new Date(atMs).toISOString().slice(0, -'.000Z'.length);
