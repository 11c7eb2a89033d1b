import { isStream } from '../../attempts.ts';
import type { Recorded } from '../../recordings/recorded.ts';
import { endOf, shareConnection } from './outcomes.ts';

/** What the connections of a recording tell about who sent what. Each request that a proxy passed on counts as on its own. */
export interface ConnectionUse {
  /** Whether it is the first on its connection. */
  opens(request: Recorded): boolean;
  /** The same, while nothing else was under way: another worker would have to begin at that very moment. */
  opensAlone(request: Recorded): boolean;
  /** Whether nothing came on its connection afterwards. */
  isLast(request: Recorded): boolean;
  /**
   * Whether who sent `earlier` surely sent `later`: on the same connection, or, when nothing came on that any more, on a new one while nothing
   * else was under way. And from the beginning of one to that of the other nothing was on any other connection: workers share a pool, and
   * take whichever connection is free. What `isKnown` picks out does not count: who sent that knew the same.
   */
  isOfSameWorker(later: Recorded, earlier: Recorded, isKnown?: (other: Recorded) => boolean): boolean;
}

/** Looks through requests, given in the order of time. */
export function connectionUse(requests: readonly Recorded[]): ConnectionUse {
  const first = new Map<string, Recorded>();
  const last = new Map<string, Recorded>();
  const alone = new Set<Recorded>();
  /** What may keep a connection busy, in the order of time. */
  const working: Recorded[] = [];
  /** By the same index: until when it or one before it was under way. */
  const busyUntilMs: number[] = [];
  /** How many of them had come before a request. */
  const before = new Map<Recorded, number>();
  for (const request of requests) {
    const connection = nameOf(request);
    if (!first.has(connection)) first.set(connection, request);
    last.set(connection, request);
    before.set(request, working.length);
    const untilMs = busyUntilMs.at(-1) ?? Number.NEGATIVE_INFINITY;
    if (untilMs <= request.atMs) alone.add(request);
    if (isStream(request)) continue;
    working.push(request);
    busyUntilMs.push(Math.max(untilMs, endOf(request)));
  }
  const opens = (request: Recorded) => first.get(nameOf(request)) === request;
  const opensAlone = (request: Recorded) => alone.has(request) && opens(request);
  const isLast = (request: Recorded) => last.get(nameOf(request)) === request;

  /** Whether from the beginning of `earlier` to that of `later` nothing was under way on a connection of neither. */
  function isQuietBetween(
    earlier: Recorded,
    later: Recorded,
    isKnown: (other: Recorded) => boolean,
  ): boolean {
    const own = [nameOf(earlier), nameOf(later)];
    for (let i = (before.get(later) as number) - 1; (busyUntilMs[i] ?? earlier.atMs) > earlier.atMs; i--) {
      const request = working[i] as Recorded;
      if (endOf(request) > earlier.atMs && !own.includes(nameOf(request)) && !isKnown(request)) return false;
    }
    return true;
  }

  return {
    opens,
    opensAlone,
    isLast,
    isOfSameWorker: (later, earlier, isKnown = () => false) =>
      (shareConnection(later, earlier) || (isLast(earlier) && opensAlone(later))) &&
      isQuietBetween(earlier, later, isKnown),
  };
}

const nameOf = ({ isProxied, number, connection }: Recorded) => (isProxied ? `#${number}` : connection);
