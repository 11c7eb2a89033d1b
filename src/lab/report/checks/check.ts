import type { Recorded } from '../../recordings/recorded.ts';

export const levels = ['required', 'recommended'] as const;
export type Level = (typeof levels)[number];
export const results = ['passed', 'failed', 'not_observed'] as const;

/** One thing that a good client does, and how a recording shows whether it did. */
export interface Check {
  /** Stable: `retry-after.obeyed`. */
  name: string;
  level: Level;
  /** What it asks of a client, in one sentence. */
  asks: string;
  /** What counts for the client and what against it, so that nobody is blamed for what a server cannot know. */
  judged: string;
  /** When it is not observed. */
  unseen: string;
  /** The faults that bring it about. */
  faults: readonly string[];
  /** What to do about a failure. */
  advice: string;
  /** The guide that says more, by its name. */
  guide: string;
  /** Judges requests in the order in which they came. */
  judge(requests: readonly Recorded[]): Finding | Promise<Finding>;
}

export interface Finding {
  result: (typeof results)[number];
  /** The requests that show it, each once, in their order. */
  evidence: readonly Recorded[];
  /** Why, in one sentence. */
  because: string;
}

export const passed = (evidence: readonly Recorded[], because: string): Finding => ({
  result: 'passed',
  evidence: inOrder(evidence),
  because,
});

export const failed = (evidence: readonly Recorded[], because: string): Finding => ({
  result: 'failed',
  evidence: inOrder(evidence),
  because,
});

/** Each once. */
const inOrder = (requests: readonly Recorded[]) => [...new Set(requests)].sort((a, b) => a.number - b.number);

export const notObserved = (because: string): Finding => ({ result: 'not_observed', evidence: [], because });

/** `1 request`, `2 requests`. */
export const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
