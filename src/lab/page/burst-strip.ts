import { outcomes as recorded } from '../attempts.ts';
import { type Burst, type Outcome, outcomes, type Refusal } from './burst.ts';
import { html, nothing, svg, type TemplateResult } from './template.ts';

const columns = 20;
const cell = 16;

/** Each outcome by a shape of its own, that of recorded requests where there is one, and in a word. */
const shapes: Record<Outcome | 'due', string> = {
  due: 'M-1.6 0a1.6 1.6 0 1 0 3.2 0a1.6 1.6 0 1 0-3.2 0z',
  fine: recorded.fine.path,
  limited: recorded.waits.path,
  banned: recorded.banned.path,
  other: 'M-2-6.5h4V-2h4.5v4H2v4.5h-4V2h-4.5v-4H-2z',
  none: recorded['cut-off'].path,
};

const words: Record<Outcome, string> = {
  fine: '2xx admitted',
  limited: '429 limited',
  banned: '403 banned',
  other: 'other answers',
  none: 'no answer',
};

const always: readonly Outcome[] = ['fine', 'limited', 'banned'];

/** A mark for each request of a burst, in the order in which they were sent, and how many there are of each kind. */
export function strip(burst: Burst): TemplateResult {
  const rows = Math.ceil(burst.outcomes.length / columns);
  const shown = outcomes.filter((outcome) => always.includes(outcome) || burst.count(outcome) > 0);
  const label = shown.map((outcome) => `${words[outcome]}: ${burst.count(outcome)}`).join(', ');
  const mark = (outcome: Outcome | undefined, index: number) => svg`<path
    class=${outcome ?? 'due'}
    d=${shapes[outcome ?? 'due']}
    transform="translate(${cell * ((index % columns) + 0.5)} ${cell * (Math.floor(index / columns) + 0.5)})" />`;
  return html`<svg class="strip marks" viewBox="0 0 ${columns * cell} ${rows * cell}" role="img" aria-label=${label}>
      ${burst.outcomes.map(mark)}
    </svg>
    <ul class="legend row">
      ${shown.map(
        (outcome) => html`<li>
          <svg class="marks" viewBox="-8 -8 16 16" aria-hidden="true"><path class=${outcome} d=${shapes[outcome]} /></svg>
          ${words[outcome]} <strong>${burst.count(outcome)}</strong>
        </li>`,
      )}
    </ul>`;
}

const waitOf = ({ retryAfter }: Refusal) =>
  retryAfter ? html`with <code>Retry-After: ${retryAfter}</code>` : html`without <code>Retry-After</code>`;

/** What the first refusals said, and what came of all once it is over. */
export function inWords(burst: Burst): TemplateResult {
  const { limited, banned } = burst.first;
  return html`${
    limited
      ? html`<p>
          Request ${limited.number} was the first that was refused: 429 ${waitOf(limited)}.
          ${limited.retryAfter ? html`A good client sends nothing for ${limited.retryAfter} s now; this one went on.` : nothing}
        </p>`
      : nothing
  }${
    banned
      ? html`<p>
          Request ${banned.number} was the first that met the ban: 403 ${waitOf(banned)}.
          ${banned.retryAfter ? html`Nothing is admitted for ${banned.retryAfter} s, whatever is sent.` : nothing}
        </p>`
      : nothing
  }${
    burst.isRunning
      ? nothing
      : html`<p>
          ${burst.over < burst.outcomes.length ? 'Stopped' : 'Done'}: ${burst.answered} of ${burst.outcomes.length} answered,
          ${burst.count('fine')} of them admitted.
        </p>`
  }`;
}
