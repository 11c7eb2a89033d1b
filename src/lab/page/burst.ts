import { toLength } from './times.ts';
import type { Account } from './types.ts';

/** So many requests are sent, and so many at once. */
export const burstSize = 100;
const atOnce = 10;

export const outcomes = ['fine', 'limited', 'banned', 'other', 'none'] as const;
/** What came of a request: a status of 200 to 299, 429, 403, any other, or no answer. */
export type Outcome = (typeof outcomes)[number];

/** The first answer that refused. */
export interface Refusal {
  /** Which request it was, from 1. */
  number: number;
  retryAfter: string | null;
}

/** Requests in a row from a client that does not look at answers. */
export class Burst {
  readonly outcomes: (Outcome | undefined)[] = Array(burstSize).fill(undefined);
  readonly first: Partial<Record<Outcome, Refusal>> = {};
  isRunning = false;
  readonly #send: (number: number, signal: AbortSignal) => Promise<Response>;
  readonly #changed: () => void;
  readonly #stopped = new AbortController();

  constructor(send: (number: number, signal: AbortSignal) => Promise<Response>, changed: () => void) {
    this.#send = send;
    this.#changed = changed;
  }

  /** How many are over, with an answer or without. */
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

  /** Sends them all, until it is stopped or `signal` ends. */
  async run(signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, this.#stopped.signal]);
    this.isRunning = true;
    let next = 1;
    const sendSome = async () => {
      while (next <= burstSize && !ended.aborted) await this.#sendOne(next++, ended);
    };
    await Promise.all(Array.from({ length: atOnce }, sendSome));
    this.isRunning = false;
    this.#changed();
  }

  async #sendOne(number: number, signal: AbortSignal): Promise<void> {
    try {
      const response = await this.#send(number, signal);
      this.#take(number, outcomeOf(response.status), response.headers.get('retry-after'));
      // Otherwise the connection could not carry the next one.
      await response.arrayBuffer();
    } catch {
      if (!signal.aborted) this.#take(number, 'none', null);
    }
  }

  #take(number: number, outcome: Outcome, retryAfter: string | null): void {
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

/** What would come of a burst if it were sent now. */
export function foresee({ minute, day, strikes, strikesAllowed, ban }: Account): string {
  if (ban.until) return `The key is banned: all ${burstSize} would be answered with 403, and change nothing.`;
  const left = Math.min(minute.remaining, day.remaining);
  if (left >= burstSize)
    return `With ${left.toLocaleString('en')} left, nothing would be refused. A key of a smaller plan shows refusals.`;
  const refused = burstSize - left;
  const borne = strikesAllowed - strikes;
  const admitted = left || 'none';
  return refused > borne
    ? `Now ${admitted} would be admitted, ${borne} refused with 429, and the next would begin a ban of ${toLength(ban.nextSeconds)}.`
    : `Now ${admitted} would be admitted and ${refused} refused with 429, each a strike: ${strikes + refused} of ${strikesAllowed}.`;
}
