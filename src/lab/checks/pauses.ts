import type { Recorded } from '../recordings/recorded.ts';
import { endOf, follows, isEarly, shareConnection, type Wait } from './request-facts.ts';
import type { Traffic } from './traffic.ts';

/**
 * If there are several workers, a request of another one may have been in flight when the refusal was sent, for as long as a round trip
 * around the world takes.
 */
export const inFlightMs = 250;

/** A time in which an answer forbids the requests of its scope. */
interface Pause extends Wait {
  scope: string;
  /** What an early request shows. */
  shownBy(early: Recorded): 'disobedience' | 'end of the pause' | 'nothing';
}

interface Pair {
  by: Recorded;
  request: Recorded;
}

export interface Observed {
  /** Pauses that were obeyed. */
  kept: Pair[];
  /** Requests that came too early. */
  broken: Pair[];
  /** Early requests that the service admitted, since it had ended the pause itself. */
  lifted: Pair[];
}

/**
 * Which requests came too early, and which in time. Of several pauses of one scope only the first counts until it is over: the other
 * refused requests were sent before it was known. A pause in which another one was refused, perhaps of a worker that did not know of it,
 * does not count as obeyed.
 */
export function pausesOf(
  traffic: Traffic,
  pauseOf: (answered: Recorded) => Pause | undefined,
  scopesOf: (request: Recorded) => readonly string[],
): Observed {
  const pauses = new Map<string, Pause & { by: Recorded; isDoubtful?: true }>();
  const observed: Observed = { kept: [], broken: [], lifted: [] };
  for (const request of traffic.requests) {
    for (const scope of scopesOf(request)) {
      const pause = pauses.get(scope);
      if (!pause || !follows(request, pause.by)) continue;
      const shown = isEarly(request, pause) ? pause.shownBy(request) : 'obedience';
      const repeated = traffic.knownRetries.get(request);
      const isRetry = repeated !== undefined && pauseOf(repeated)?.scope === scope;
      const pair = { by: isRetry ? repeated : pause.by, request };
      if (!isRetry && !isAware(traffic, request, pause.by)) {
        if (shown === 'disobedience') pause.isDoubtful = true;
        continue;
      }
      if (shown === 'disobedience') observed.broken.push(pair);
      if (shown === 'obedience' && !pause.isDoubtful) observed.kept.push(pair);
      if (shown === 'end of the pause') observed.lifted.push(pair);
      if (shown === 'obedience' || shown === 'end of the pause') pauses.delete(scope);
    }
    const asked = pauseOf(request);
    if (asked && !pauses.has(asked.scope)) pauses.set(asked.scope, { ...asked, by: request });
  }
  return observed;
}

/** Whether the sender of `later` had the answer to `earlier`, or its client had the time to pass it on. */
const isAware = (traffic: Traffic, later: Recorded, earlier: Recorded) =>
  later.atMs >= endOf(earlier) + inFlightMs ||
  ((traffic.isOfOneWorker || shareConnection(later, earlier)) && traffic.isOfSameWorker(later, earlier));

export const bothOf = (pairs: readonly Pair[]) => pairs.flatMap(({ by, request }) => [by, request]);
