const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** How long after each failed attempt the next one follows. After the last of them the delivery is given up. */
export const retryDelaysMs = [
  5 * secondMs,
  30 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  10 * hourMs,
];

/** Delays differ by up to this share, so that what failed together does not return together. */
const spread = 0.2;

/** A receiver's `Retry-After` is obeyed up to this. */
const maxRetryAfterMs = hourMs;

/** A webhook of which nothing else than failures is known for this long is disabled. */
export const disableAfterMs = 5 * 24 * hourMs;

/**
 * How long after the attempt number `attempts`, which failed, the next one follows. Undefined: never. `Retry-After` makes
 * it longer and never shorter, so no receiver can ask for more attempts than there are. `random` is from 0 to 1.
 */
export function nextAttemptMs(attempts: number, random: number, retryAfterMs = 0): number | undefined {
  const delayMs = retryDelaysMs[attempts - 1];
  if (delayMs === undefined) return undefined;
  const spreadMs = Math.round(delayMs * (1 - spread + 2 * spread * random));
  return Math.max(spreadMs, Math.min(retryAfterMs, maxRetryAfterMs));
}

/** The milliseconds that a `Retry-After` asks for: seconds, or a date in any form of HTTP (RFC 9110, sections 10.2.3 and 5.6.7). */
export function readRetryAfter(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * secondMs;
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return undefined;
  const atMs = Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
