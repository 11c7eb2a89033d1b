const dateTime = /^([+-]?\d{4,})(-\d{2}-\d{2})[Tt](\d{2}:\d{2}):(\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})?$/;

const maxFractionDigits = 9;
const notOfFourDigits = 'its year must be 0000 to 9999 in UTC';

/** A time of the storage, in milliseconds since 1970, as text. */
export const toTime = (atMs: unknown): string => new Date(Number(atMs)).toISOString();

/** The same instant in UTC, or undefined if `text` breaks a rule. */
export const toUtc = (text: string): string | undefined => read(text).utc;

/** The rule that a text breaks, to follow what it must be in a message. Undefined if it has not even the form of a date-time. */
export const instantProblem = (text: string): string | undefined => read(text).problem;

/**
 * Reads an RFC 3339 date-time with at most nine fractional digits and a UTC year of 0000 to 9999. A leap second becomes
 * the next second, as POSIX time counts it.
 */
function read(text: string): { utc?: string; problem?: string } {
  const [, year = '', monthAndDay, minute, second, fraction = '0', offset] = dateTime.exec(text) ?? [];
  if (second === undefined) return {};
  if (offset === undefined) return { problem: 'it needs an offset from UTC, such as Z or +02:00' };
  if (fraction.length > maxFractionDigits)
    return { problem: `its second must have at most ${maxFractionDigits} digits after the point` };
  if (year.length !== 4) return { problem: notOfFourDigits };
  const isLeapSecond = second === '60';
  const [day, time] = [`${year}${monthAndDay}`, `${minute}:${isLeapSecond ? '59' : second}`];
  if (!exists(() => Temporal.PlainDate.from(day))) return { problem: `there is no day ${day}` };
  if (!exists(() => Temporal.PlainTime.from(time)))
    return { problem: `there is no time ${minute}:${second}` };
  const zone = offset.toUpperCase();
  if (!exists(() => Temporal.Instant.from(`${day}T${time}${zone}`)))
    return { problem: `there is no offset ${offset}` };
  const instant = Temporal.Instant.from(`${day}T${time}.${fraction}${zone}`);
  if (isLeapSecond && !instant.toString().includes('T23:59:59'))
    return { problem: 'a leap second is at 23:59:60 in UTC and at no other time' };
  const utc = (isLeapSecond ? instant.add({ seconds: 1 }) : instant).toString();
  return /^\d{4}-/.test(utc) ? { utc } : { problem: notOfFourDigits };
}

/** Whether something can be made from its text. */
function exists(make: () => unknown): boolean {
  try {
    make();
    return true;
  } catch {
    return false;
  }
}
