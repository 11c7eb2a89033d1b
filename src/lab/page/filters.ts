import { type Attempt, attemptsOf } from '../attempts.ts';
import { isOwn } from '../own-requests.ts';
import type { RecordedRequest } from './types.ts';

type Test = (attempt: Attempt) => boolean;

const hundreds = (first: number): Test => {
  return ({ request: { status = 0 } }) => Math.floor(status / 100) === first;
};

/** By which requests can be picked out. Those of one group add to each other, and groups narrow each other. */
export const filters = [
  { id: '4xx', label: '4xx', group: 'status', test: hundreds(4) },
  { id: '5xx', label: '5xx', group: 'status', test: hundreds(5) },
  { id: 'retries', label: 'Retries', group: 'retries', test: ({ before }) => before !== undefined },
  { id: 'deprecated', label: 'Deprecated', group: 'deprecated', test: has('deprecation') },
  { id: 'replayed', label: 'Replayed', group: 'replayed', test: has('idempotency-replayed') },
  { id: 'faults', label: 'Faults', group: 'faults', test: ({ request }) => request.fault !== undefined },
] as const satisfies readonly { id: string; label: string; group: string; test: Test }[];

export type FilterId = (typeof filters)[number]['id'];

/** What the reader wants to see. */
export interface Wanted {
  only: ReadonlySet<FilterId>;
  /** A part of the path, in any case, or the number of a request, such as `#3`. */
  path: string;
  /** Whether requests of this page are shown. */
  own: boolean;
}

function has(name: string): Test {
  return ({ request }) => request.answerHeaders[name] !== undefined;
}

/** Those that filters are applied to, in the order of their numbers: not those of the page, unless they are wanted, and those with the path. */
export function inScope(requests: readonly RecordedRequest[], { path, own }: Wanted): Attempt[] {
  const part = path.trim().toLowerCase();
  return attemptsOf(own ? requests : requests.filter((one) => !isOwn(one)), 0)
    .filter(({ request: { id, target } }) => `#${id}` === part || target.toLowerCase().includes(part))
    .sort((a, b) => Number(a.request.id) - Number(b.request.id));
}

/** Those that are wanted. */
export function wantedOf(attempts: readonly Attempt[], { only }: Wanted): Attempt[] {
  const groups = [
    ...Map.groupBy(
      filters.filter(({ id }) => only.has(id)),
      ({ group }) => group,
    ).values(),
  ];
  return attempts.filter((one) => groups.every((group) => group.some(({ test }) => test(one))));
}
