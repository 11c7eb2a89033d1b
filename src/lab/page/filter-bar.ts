import type { Attempt } from '../attempts.ts';
import { type FilterId, filters, type Wanted } from './filters.ts';
import { html, live, nothing, type TemplateResult } from './template.ts';

interface Options {
  wanted: Wanted;
  /** Those among which the filters choose; none if only the page itself has asked. */
  attempts: readonly Attempt[] | undefined;
  /** How many requests are the page's own. */
  own: number;
  /** Wants something else, by what is wanted at that moment. */
  want(change: (wanted: Wanted) => Partial<Wanted>): void;
}

/** A button that stays pressed. */
export const toggle = (label: string, isOn: boolean, act: () => void, count?: number): TemplateResult =>
  html`<button type="button" class="toggle" aria-pressed=${isOn} @click=${act}>${label} <span>${count}</span></button>`;

/** Which of the requests are shown. */
export const filterBar = ({ wanted, attempts, own, want }: Options): TemplateResult =>
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
    ${
      attempts
        ? html`<input type="search" aria-label="Part of the path, or #number" placeholder="Path or #number" .value=${live(wanted.path)}
            @input=${({ target }: Event) => want(() => ({ path: (target as HTMLInputElement).value }))} />`
        : nothing
    }
  </div>`;

function toggled(before: ReadonlySet<FilterId>, id: FilterId): Set<FilterId> {
  const only = new Set(before);
  if (!only.delete(id)) only.add(id);
  return only;
}
