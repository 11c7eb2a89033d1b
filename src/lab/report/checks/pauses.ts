import type { Recorded } from '../../recordings/recorded.ts';
import { endOf, follows, shareConnection } from './attempts.ts';

/** Timers end up to 16 ms early on some systems, and the times of requests are rounded. */
export const timerToleranceMs = 50;
/** An HTTP-date has whole seconds, and the clock of a client may be ahead of ours. Never more than half of the wait. */
export const clockToleranceMs = 1_000;
/**
 * A request of another worker may have been under way while the refusal was: as long as a round trip around the world takes. A request on
 * the same connection, or the same request once more, was sent by somebody who had the refusal.
 */
export const inFlightMs = 250;

/** What an answer asks: nothing more before a time, of the requests in its scope. */
export interface Pause {
  scope: string;
  dueMs: number;
  toleranceMs: number;
}

interface Kept {
  by: Recorded;
  request: Recorded;
}

/** Until when `Retry-After` tells a client to wait, counted from the end of the answer. */
export function retryAfterOf(refused: Recorded): Omit<Pause, 'scope'> | undefined {
  const text = refused.answer['retry-after'];
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text))
    return { dueMs: endOf(refused) + Number(text) * 1_000, toleranceMs: timerToleranceMs };
  return untilTime(refused, Date.parse(text));
}

/** A wait until a time of the clock. */
export function untilTime(by: Recorded, dueMs: number): Omit<Pause, 'scope'> | undefined {
  const waitMs = dueMs - endOf(by);
  return waitMs > 0 ? { dueMs, toleranceMs: Math.min(clockToleranceMs, waitMs / 2) } : undefined;
}

/**
 * Which requests came too early, and which in time. Of several pauses of one scope the first counts until it is over, since those that
 * were refused beside it were sent before it was known.
 */
export function pausesOf(
  requests: readonly Recorded[],
  pauseOf: (answered: Recorded) => Pause | undefined,
  scopesOf: (request: Recorded) => readonly string[],
): { kept: Kept[]; broken: Kept[] } {
  const pauses = new Map<string, Pause & { by: Recorded }>();
  const kept: Kept[] = [];
  const broken: Kept[] = [];
  for (const request of requests) {
    for (const scope of scopesOf(request)) {
      const pause = pauses.get(scope);
      if (!pause || !isAware(request, pause.by)) continue;
      const isEarly = request.atMs < pause.dueMs - pause.toleranceMs;
      (isEarly ? broken : kept).push({ by: pause.by, request });
      if (!isEarly) pauses.delete(scope);
    }
    const asked = pauseOf(request);
    if (asked && !pauses.has(asked.scope)) pauses.set(asked.scope, { ...asked, by: request });
  }
  return { kept, broken };
}

/** Whether who sent `later` had the answer to `earlier`. */
const isAware = (later: Recorded, earlier: Recorded) =>
  later.fingerprint === earlier.fingerprint || shareConnection(later, earlier)
    ? follows(later, earlier)
    : later.atMs >= endOf(earlier) + inFlightMs;

/** The requests of both sides. */
export const bothOf = (pairs: readonly Kept[]) => pairs.flatMap(({ by, request }) => [by, request]);
