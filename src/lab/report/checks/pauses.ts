import { clockToleranceMs, timerToleranceMs } from '../../attempts.ts';
import type { Recorded } from '../../recordings/recorded.ts';
import { type ConnectionUse, connectionUse } from './connection-use.ts';
import { endOf, follows, shareConnection } from './outcomes.ts';

/**
 * A request of another worker may have been under way while the refusal was: as long as a round trip around the world takes. What comes on
 * the same connection was sent by somebody who had the refusal, unless others were at work who may have waited for a free connection.
 */
export const inFlightMs = 250;

/** What an answer asks: nothing more before a time, of the requests in its scope. */
export interface Pause extends Wait {
  scope: string;
  /** What a request that comes too early shows. */
  shownBy(early: Recorded): 'disobedience' | 'end of the pause' | 'nothing';
}

/** Until when to wait. */
export interface Wait {
  dueMs: number;
  toleranceMs: number;
}

interface Pair {
  by: Recorded;
  request: Recorded;
}

export interface Observed {
  /** What came in time. */
  kept: Pair[];
  /** What came too early. */
  broken: Pair[];
  /** What was let in although its time had not come: the service itself had ended the pause. */
  lifted: Pair[];
}

/** Until when `Retry-After` tells a client to wait, counted from the end of the answer. */
export function retryAfterOf(refused: Recorded): Wait | undefined {
  const text = refused.answer['retry-after'];
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text))
    return { dueMs: endOf(refused) + Number(text) * 1_000, toleranceMs: timerToleranceMs };
  return untilTime(refused, Date.parse(text));
}

/** A wait until a time of the clock. */
export function untilTime(by: Recorded, dueMs: number): Wait | undefined {
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
): Observed {
  const use = connectionUse(requests);
  const pauses = new Map<string, Pause & { by: Recorded }>();
  const observed: Observed = { kept: [], broken: [], lifted: [] };
  for (const request of requests) {
    for (const scope of scopesOf(request)) {
      const pause = pauses.get(scope);
      const isRefused = (other: Recorded) => endOf(other) <= request.atMs && pauseOf(other)?.scope === scope;
      if (!pause || !isAware(request, pause.by, use, isRefused)) continue;
      const isEarly = request.atMs < pause.dueMs - pause.toleranceMs;
      const shown = isEarly ? pause.shownBy(request) : 'obedience';
      const pair = { by: pause.by, request };
      if (shown === 'disobedience') observed.broken.push(pair);
      if (shown === 'obedience') observed.kept.push(pair);
      if (shown === 'end of the pause') observed.lifted.push(pair);
      if (shown === 'obedience' || shown === 'end of the pause') pauses.delete(scope);
    }
    const asked = pauseOf(request);
    if (asked && !pauses.has(asked.scope)) pauses.set(asked.scope, { ...asked, by: request });
  }
  return observed;
}

/** Whether who sent `later` had, or could have had, the answer to `earlier`, or to another one that was refused likewise. */
const isAware = (
  later: Recorded,
  earlier: Recorded,
  use: ConnectionUse,
  isRefused: (other: Recorded) => boolean,
) =>
  later.atMs >= endOf(earlier) + inFlightMs ||
  (shareConnection(later, earlier) &&
    follows(later, earlier) &&
    use.isOfSameWorker(later, earlier, isRefused));

/** The requests of both sides. */
export const bothOf = (pairs: readonly Pair[]) => pairs.flatMap(({ by, request }) => [by, request]);
