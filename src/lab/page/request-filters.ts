import type { RecordedRequest } from '../recordings/schema.ts';
import { type Attempt, attemptsOf } from '../recordings/timeline-layout.ts';
import { html, live, nothing, type TemplateResult, when } from './template.ts';

type Test = (attempt: Attempt) => boolean;

const hundreds = (first: number): Test => {
  return ({ request: { status = 0 } }) => Math.floor(status / 100) === first;
};

/** Filters of one group add to each other. Groups narrow each other. */
const filters = [
  { id: '4xx', label: '4xx', group: 'status', test: hundreds(4) },
  { id: '5xx', label: '5xx', group: 'status', test: hundreds(5) },
  { id: 'retries', label: 'Retries', group: 'retries', test: ({ request }) => request.retryOf !== undefined },
  { id: 'deprecated', label: 'Deprecated', group: 'deprecated', test: has('deprecation') },
  { id: 'replayed', label: 'Replayed', group: 'replayed', test: has('idempotency-replayed') },
  { id: 'faults', label: 'Faults', group: 'faults', test: ({ request }) => request.fault !== undefined },
] as const satisfies readonly { id: string; label: string; group: string; test: Test }[];

type FilterId = (typeof filters)[number]['id'];

/** The requests that the user wants to see. */
export interface RequestFilter {
  only: ReadonlySet<FilterId>;
  /** A part of the path, in any case, or the number of a request, such as `#3`. */
  path: string;
  own: boolean;
}

function has(name: string): Test {
  return ({ request }) => request.answerHeaders[name] !== undefined;
}

/** The attempts that the filters choose among, in the order of their numbers: those with the path, and those of the page if wanted. */
export function inScope(requests: readonly RecordedRequest[], { path, own }: RequestFilter): Attempt[] {
  const part = path.trim().toLowerCase();
  return attemptsOf(own ? requests : requests.filter((one) => !one.labPage), 0)
    .filter(({ request: { id, target } }) => `#${id}` === part || target.toLowerCase().includes(part))
    .sort((a, b) => Number(a.request.id) - Number(b.request.id));
}

/** The attempts that pass the chosen filters. */
export function wantedOf(attempts: readonly Attempt[], { only }: RequestFilter): Attempt[] {
  const chosen = filters.filter(({ id }) => only.has(id));
  const groups = [...Map.groupBy(chosen, ({ group }) => group).values()];
  return attempts.filter((one) => groups.every((group) => group.some(({ test }) => test(one))));
}

interface Filters {
  wanted: RequestFilter;
  /** The attempts that the filters choose among; undefined if all requests are the page's own. */
  attempts: readonly Attempt[] | undefined;
  own: number;
  want(change: (wanted: RequestFilter) => Partial<RequestFilter>): void;
}

const toggle = (label: string, isOn: boolean, act: () => void, count?: number): TemplateResult =>
  html`<button type="button" class="toggle" aria-pressed=${isOn} @click=${act}>${label} <span>${count}</span></button>`;

/** The controls that choose the shown requests. */
export const filterBar = ({ wanted, attempts, own, want }: Filters): TemplateResult =>
  html`<div class="filters" role="group" aria-label="Show only">
    ${
      attempts
        ? filters.map(({ id, label, test }) =>
            toggle(
              label,
              wanted.only.has(id),
              () => want(({ only }) => ({ only: toggled(only, id) })),
              attempts.filter(test).length,
            ),
          )
        : nothing
    }
    ${toggle('This page', wanted.own, () => want((now) => ({ own: !now.own })), own)}
    ${when(
      attempts,
      () => html`<input type="search" aria-label="Part of the path, or #number" placeholder="Path or #number" .value=${live(wanted.path)}
            @input=${({ target }: Event) => want(() => ({ path: (target as EventTarget & { value: string }).value }))} />`,
    )}
  </div>`;

function toggled(before: ReadonlySet<FilterId>, id: FilterId): Set<FilterId> {
  const only = new Set(before);
  if (!only.delete(id)) only.add(id);
  return only;
}
