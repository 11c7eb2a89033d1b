import type { Recorded } from '../recordings/recorded-request.ts';
import type { TargetApi } from '../target-api.ts';
import { type Expected, refusalOf } from './expected.ts';
import { JudgedApi } from './judged-api.ts';
import { knownRetriesOf } from './known-retries.ts';
import { placeOf } from './page-links.ts';
import { freeAtMs, shareConnection } from './request-facts.ts';

/** The requests of a recording, and their workers, as far as known. Each request through a proxy counts as its own connection. */
export interface Traffic {
  api: JudgedApi;
  /** Oldest first. */
  requests: readonly Recorded[];
  /** Whether no two requests were in flight at once, with and without faults: then one worker sent them all. Streams do not count. */
  isOfOneWorker: boolean;
  /** Whether it is the first on its connection. */
  opens(request: Recorded): boolean;
  /** Whether it is the last on its connection. */
  isLast(request: Recorded): boolean;
  /** With several workers, both came on one connection with nothing in flight elsewhere: workers of a pool use any free one. */
  isOfSameWorker(later: Recorded, earlier: Recorded): boolean;
  /** Retries that are certain on any connection, with the attempts that they repeat. */
  knownRetries: ReadonlyMap<Recorded, Recorded>;
  /** Whether `knownRetries` has all retries of this request. */
  isCounted(request: Recorded): boolean;
  /** Whether it came no more often than without faults, if that is known. */
  isUsual(request: Recorded): boolean;
  /** Whether its operation gets this refusal without faults, too. */
  isUsualRefusal(request: Recorded): boolean;
  /** Whether the client also leaves this list unfinished in the runs without faults. */
  leavesPages(request: Recorded): boolean;
}

/** Successive requests on one connection. */
interface Row {
  connection: string;
  /** When the last request before had ended. */
  othersEndMs: number;
}

/** `requests`: oldest first. `expected`: what the client sends without faults, if known. */
export function trafficOf(requests: readonly Recorded[], target: TargetApi, expected?: Expected): Traffic {
  const api = new JudgedApi(target);
  const first = new Map(requests.toReversed().map((request) => [connectionOf(request), request]));
  const last = new Map(requests.map((request) => [connectionOf(request), request]));
  const rows = new Map<Recorded, Row>();
  const isOfOneWorker = !api.hasOverlaps(requests) && expected?.hasOverlaps !== true;
  let busyUntilMs = Number.NEGATIVE_INFINITY;
  let row: Row = { connection: '', othersEndMs: busyUntilMs };
  for (const request of requests) {
    const connection = connectionOf(request);
    const own = row.connection === connection ? row : { connection, othersEndMs: busyUntilMs };
    rows.set(request, own);
    if (api.isStream(request)) continue;
    row = own;
    busyUntilMs = Math.max(busyUntilMs, freeAtMs(request));
  }

  return {
    api,
    requests,
    isOfOneWorker,
    opens: (request) => first.get(connectionOf(request)) === request,
    isLast: (request) => last.get(connectionOf(request)) === request,
    ...knownRetriesOf(requests, expected),
    isUsualRefusal: (request) => expected?.refusals.has(refusalOf(request)) ?? false,
    leavesPages: ({ target }) => expected?.leftLists.has(placeOf(target).read) ?? false,
    isOfSameWorker(later, earlier) {
      if (isOfOneWorker) return true;
      const row = rows.get(earlier) as Row;
      return row === rows.get(later) && row.othersEndMs <= earlier.atMs && shareConnection(later, earlier);
    },
  };
}

const connectionOf = ({ proxied, id, connection }: Recorded) => (proxied ? `#${id}` : connection);
