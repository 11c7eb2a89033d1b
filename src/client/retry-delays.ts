const secondMs = 1_000;

/**
 * The milliseconds from `nowMs` that `Retry-After` asks to wait: seconds, or a date in any form of HTTP (RFC 9110, sections 10.2.3 and
 * 5.6.7). Undefined without a valid value.
 */
export function retryAfterMs(field: string | null | undefined, nowMs: number): number | undefined {
  if (!field) return undefined;
  if (/^\d+$/.test(field)) return Number(field) * secondMs;
  if (!/^[A-Z][a-z]{2,8},? /.test(field)) return undefined;
  const atMs = Date.parse(field.endsWith(' GMT') ? field : `${field} GMT`);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

/** The longest wait that the service asks for. A longer `Retry-After` counts as this one. */
export const maxRetryAfterMs = 86_400_000;

/**
 * How long `Retry-After` of a response asks to wait, in milliseconds: a day at most, undefined without it. A date is compared with the
 * `Date` of the response if that is visible, so the clock of this machine may be wrong.
 */
export function askedWaitMs(headers: Headers, nowMs: number): number | undefined {
  const sentMs = Date.parse(headers.get('date') ?? '');
  const ms = retryAfterMs(headers.get('retry-after'), Number.isNaN(sentMs) ? nowMs : sentMs);
  return ms === undefined ? undefined : Math.min(ms, maxRetryAfterMs);
}

const firstDelayMs = 400;
const maxBackoffMs = 20_000;

/**
 * How long to wait after a number of failures, in milliseconds. The longest wait doubles with each failure. `random` (0 to 1) picks a
 * time in its second half: clients do not come back at once, and no wait is shorter than the one before.
 */
export function backoffMs(failures: number, random: number): number {
  const longestMs = Math.min(firstDelayMs * 2 ** (failures - 1), maxBackoffMs);
  return Math.ceil(longestMs / 2 + (random * longestMs) / 2);
}
