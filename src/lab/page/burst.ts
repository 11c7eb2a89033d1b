import { durationInWords } from '../../foundation/words.ts';
import { outcomes as recorded } from '../recordings/outcome-kinds.ts';
import type { KeyAccount } from './account.ts';
import { html, svg, type TemplateResult, when } from './template.ts';

export const burstSize = 100;
const atOnce = 10;

const outcomes = ['fine', 'limited', 'banned', 'other', 'none'] as const;
/** The outcome of a request: status 200 to 299, 429, 403, any other, or no answer. */
type Outcome = (typeof outcomes)[number];

interface Refusal {
  /** The number of the request, from 1. */
  number: number;
  retryAfter: string | null;
}

/** The requests of a client that ignores its answers. */
export class Burst {
  readonly outcomes: (Outcome | undefined)[] = Array(burstSize).fill(undefined);
  readonly first: Partial<Record<Outcome, Refusal>> = {};
  isRunning = false;
  readonly #send: (signal: AbortSignal) => Promise<Response>;
  readonly #changed: () => void;
  readonly #stopped = new AbortController();

  constructor(send: (signal: AbortSignal) => Promise<Response>, changed: () => void) {
    this.#send = send;
    this.#changed = changed;
  }

  get over(): number {
    return this.outcomes.filter((outcome) => outcome !== undefined).length;
  }

  get answered(): number {
    return this.over - this.count('none');
  }

  count(outcome: Outcome): number {
    return this.outcomes.filter((one) => one === outcome).length;
  }

  stop(): void {
    this.#stopped.abort();
  }

  async run(): Promise<void> {
    const { signal } = this.#stopped;
    this.isRunning = true;
    let next = 1;
    const sendSome = async () => {
      while (next <= burstSize && !signal.aborted) await this.#sendOne(next++, signal);
    };
    await Promise.all(Array.from({ length: atOnce }, sendSome));
    this.isRunning = false;
    this.#changed();
  }

  async #sendOne(number: number, signal: AbortSignal): Promise<void> {
    try {
      const response = await this.#send(signal);
      this.#keep(number, outcomeOf(response.status), response.headers.get('retry-after'));
      // A connection carries the next request after the whole answer.
      await response.arrayBuffer();
    } catch {
      if (!signal.aborted) this.#keep(number, 'none', null);
    }
  }

  #keep(number: number, outcome: Outcome, retryAfter: string | null): void {
    this.outcomes[number - 1] ??= outcome;
    this.first[outcome] ??= { number, retryAfter };
    this.#changed();
  }
}

function outcomeOf(status: number): Outcome {
  if (status >= 200 && status < 300) return 'fine';
  if (status === 429) return 'limited';
  return status === 403 ? 'banned' : 'other';
}

/** The answers that a burst would get now. */
export function predictBurst({ minute, day, strikes, strikesAllowed, ban }: KeyAccount): string {
  if (ban.until) return `The key is banned: all ${burstSize} would get 403, and change nothing.`;
  const left = Math.min(minute.remaining, day.remaining);
  if (left >= burstSize)
    return `With ${left.toLocaleString('en')} left, nothing would be refused. Use a key with a smaller plan to see refusals.`;
  const refused = burstSize - left;
  const allowed = strikesAllowed - strikes;
  const admitted = left || 'none';
  return refused > allowed
    ? `Now ${admitted} would be admitted, ${allowed} refused with 429, and the next would start a ban of ${durationInWords(ban.nextSeconds)}.`
    : `Now ${admitted} would be admitted and ${refused} refused with 429, each a strike: ${strikes + refused} of ${strikesAllowed}.`;
}

const columns = 20;
const cell = 16;

/** The shapes of the outcomes. Recorded requests have the same ones. */
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
  other: 'other responses',
  none: 'no response',
};

const always: readonly Outcome[] = ['fine', 'limited', 'banned'];

/** A mark for each request, in the order of sending, and the count of each outcome. */
export function burstStrip(burst: Burst): TemplateResult {
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

const firstLimited = (refusal: Refusal) => html`<p>
  Request ${refusal.number} was the first that was refused: 429 ${waitOf(refusal)}.
  ${when(refusal.retryAfter, (seconds) => html`A good client now sends nothing for ${seconds}&nbsp;s. This one continued.`)}
</p>`;

const firstBanned = (refusal: Refusal) => html`<p>
  Request ${refusal.number} was the first during the ban: 403 ${waitOf(refusal)}.
  ${when(refusal.retryAfter, (seconds) => html`For ${seconds}&nbsp;s the service refuses every request.`)}
</p>`;

const total = (burst: Burst) => html`<p>
  ${burst.over < burst.outcomes.length ? 'Stopped' : 'Done'}: ${burst.answered} of ${burst.outcomes.length} got a response,
  ${burst.count('fine')} of them admitted.
</p>`;

/** The first refusals, and the counts at the end. */
export const burstInWords = (burst: Burst): TemplateResult =>
  html`${when(burst.first.limited, firstLimited)}${when(burst.first.banned, firstBanned)}${when(!burst.isRunning, () => total(burst))}`;
