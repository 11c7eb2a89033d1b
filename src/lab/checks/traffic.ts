import type { Recorded } from '../recordings/recorded.ts';
import type { Expected } from './expected.ts';
import { knownRetriesOf } from './known-retries.ts';
import { freeAtMs, hasOverlaps, isStream, shareConnection } from './request-facts.ts';

/** The requests of a recording, and who sent them as far as it is known. A request from a proxy counts as on a connection of its own. */
export interface Traffic {
  /** In the order of time. */
  requests: readonly Recorded[];
  /** Whether no two requests were in flight at once, also without faults, so that one worker sent them all. Streams do not count. */
  isOfOneWorker: boolean;
  /** Whether it is the first on its connection. */
  opens(request: Recorded): boolean;
  /** Whether it is the last on its connection. */
  isLast(request: Recorded): boolean;
  /**
   * Whether one worker surely sent both. If there are several, both came on one connection, or `earlier` was the last on its connection and
   * `later`, the next request of all, opens one. And from the beginning of `earlier` to that of `later` nothing was in flight on a third
   * connection, since the workers of a pool take any free one.
   */
  isOfSameWorker(later: Recorded, earlier: Recorded): boolean;
  /** Retries that are known without a look at connections, with the attempts that they repeat. */
  knownRetries: ReadonlyMap<Recorded, Recorded>;
  /** Whether `knownRetries` has all retries of this request. */
  isCounted(request: Recorded): boolean;
  /** Whether it came no more often than without faults, as far as that is known. */
  isUsual(request: Recorded): boolean;
}

/** Where a request stands among the others. */
interface Seat {
  index: number;
  connection: string;
  /** The index of the first of the requests in a row that came on this connection. */
  rowFrom: number;
  /** When the last request before this row had ended. */
  othersEndMs: number;
}

/** `requests`: in the order of time. `expected`: what the client sends without faults, if it is known. */
export function trafficOf(requests: readonly Recorded[], expected?: Expected): Traffic {
  const first = new Map<string, Recorded>();
  const last = new Map<string, Recorded>();
  const seats = new Map<Recorded, Seat>();
  const isOfOneWorker = !hasOverlaps(requests) && expected?.hasOverlaps !== true;
  let busyUntilMs = Number.NEGATIVE_INFINITY;
  let before: Seat | undefined;
  for (const request of requests) {
    const connection = connectionOf(request);
    if (!first.has(connection)) first.set(connection, request);
    last.set(connection, request);
    const index = before ? before.index + 1 : 0;
    const isInRow = before?.connection === connection;
    const seat: Seat = {
      ...{ index, connection, rowFrom: index, othersEndMs: busyUntilMs },
      ...(isInRow && before && { rowFrom: before.rowFrom, othersEndMs: before.othersEndMs }),
    };
    seats.set(request, seat);
    if (isStream(request)) continue;
    before = seat;
    busyUntilMs = Math.max(busyUntilMs, freeAtMs(request));
  }
  const opens = (request: Recorded) => first.get(connectionOf(request)) === request;
  const isLast = (request: Recorded) => last.get(connectionOf(request)) === request;

  return {
    requests,
    isOfOneWorker,
    opens,
    isLast,
    ...knownRetriesOf(requests, expected),
    isOfSameWorker(later, earlier) {
      if (isOfOneWorker) return true;
      const [seat, next] = [seats.get(earlier) as Seat, seats.get(later) as Seat];
      if (seat.othersEndMs > earlier.atMs) return false;
      if (shareConnection(later, earlier)) return seat.rowFrom === next.rowFrom;
      const isNext = next.index === seat.index + 1 && later.atMs >= freeAtMs(earlier);
      return isNext && isLast(earlier) && opens(later);
    },
  };
}

const connectionOf = ({ isProxied, number, connection }: Recorded) => (isProxied ? `#${number}` : connection);
