import { headOf } from '../recordings/link-attempts.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import type { TargetApi } from '../target-api.ts';
import { JudgedApi } from './judged-api.ts';
import { placeOf, unfollowed } from './page-links.ts';

/** What a client sends without faults. */
export interface Expected {
  /**
   * How often it sends this request; for an unknown one, such as one with a random name, the most of any request of its operation. If the
   * body was not read, all requests with this head count. Undefined for a client that may send others each time, such as an agent.
   */
  timesOf?(request: Recorded): number;
  /** Whether two requests were in flight at once, so there are several workers. */
  hasOverlaps: boolean;
  /** The lists that it does not read to the end, by `read` of `placeOf`. */
  leftLists: Pick<ReadonlySet<string>, 'has'>;
  /** The refusals that it gets, by `refusalOf`. */
  refusals: ReadonlySet<string>;
}

/** What a client sends without faults, from the recordings of runs without faults. */
export function expectedOf(runs: readonly (readonly Recorded[])[], target: TargetApi) {
  const api = new JudgedApi(target);
  const times = new Map<string, number>();
  const most = new Map<string, number>();
  for (const run of runs) {
    const counts = new Map<string, number>();
    for (const request of run) {
      for (const isGuessed of [false, true]) {
        const name = nameOf(request, isGuessed);
        const count = (counts.get(name) ?? 0) + 1;
        counts.set(name, count);
        const kind = kindOf(request, isGuessed);
        times.set(name, Math.max(count, times.get(name) ?? 0));
        most.set(kind, Math.max(count, most.get(kind) ?? 0));
      }
    }
  }
  return {
    hasOverlaps: runs.some((run) => api.hasOverlaps(run)),
    leftLists: new Set(runs.flatMap((run) => unfollowed(run, api)).map(({ target }) => placeOf(target).read)),
    refusals: new Set(runs.flat().map(refusalOf)),
    timesOf: (request: Recorded) =>
      times.get(nameOf(request, request.isGuessed)) ?? most.get(kindOf(request, request.isGuessed)) ?? 1,
  };
}

const nameOf = ({ fingerprint }: Recorded, isGuessed = false) =>
  isGuessed ? headOf(fingerprint) : fingerprint;

/** How an operation was refused. */
export const refusalOf = ({ operation, status, code }: Pick<Recorded, 'operation' | 'status' | 'code'>) =>
  `${operation} ${status} ${code}`;

const kindOf = ({ operation }: Recorded, isGuessed = false) => `${operation} ${isGuessed}`;
