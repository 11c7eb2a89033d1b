import type { Recorded } from '../../recordings/recorded.ts';
import { endOf, isStream, shareConnection } from './outcomes.ts';

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
   * else was under way.
   */
  isOfSameWorker(later: Recorded, earlier: Recorded): boolean;
}

/** Looks through requests, given in the order of time. */
export function connectionUse(requests: readonly Recorded[]): ConnectionUse {
  const first = new Map<string, Recorded>();
  const last = new Map<string, Recorded>();
  const alone = new Set<Recorded>();
  let busyUntilMs = Number.NEGATIVE_INFINITY;
  for (const request of requests) {
    const connection = nameOf(request);
    if (!first.has(connection)) first.set(connection, request);
    last.set(connection, request);
    if (busyUntilMs <= request.atMs) alone.add(request);
    if (!isStream(request)) busyUntilMs = Math.max(busyUntilMs, endOf(request));
  }
  const opens = (request: Recorded) => first.get(nameOf(request)) === request;
  const opensAlone = (request: Recorded) => alone.has(request) && opens(request);
  const isLast = (request: Recorded) => last.get(nameOf(request)) === request;
  return {
    opens,
    opensAlone,
    isLast,
    isOfSameWorker: (later, earlier) =>
      shareConnection(later, earlier) || (isLast(earlier) && opensAlone(later)),
  };
}

const nameOf = ({ isProxied, number, connection }: Recorded) => (isProxied ? `#${number}` : connection);
