import type { Level } from '../faults/shared/fault.ts';
import type { Recorded } from '../recordings/recorded.ts';
import type { Traffic } from './traffic.ts';

export const results = ['passed', 'failed', 'not_observed'] as const;

/** One rule for clients, and how a recording shows whether a client follows it. */
export interface Check {
  /** Stable: `retry-after.obeyed`. */
  name: string;
  level: Level;
  /** What it asks of a client, in one sentence. */
  asks: string;
  /** What counts for the client and what against it. What a server cannot know counts neither way. */
  judged: string;
  /** When the result is `not_observed`. */
  unseen: string;
  /** The faults that provoke it. */
  faults: readonly string[];
  /** What to do about a failure. */
  advice: string;
  /** The name of a guide. */
  guide: string;
  judge(traffic: Traffic): Finding;
}

export interface Finding {
  result: (typeof results)[number];
  /** The requests that show it, each once, in the order of time. */
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

const inOrder = (requests: readonly Recorded[]) =>
  [...new Set(requests)].sort((a, b) => a.atMs - b.atMs || a.number - b.number);

export const notObserved = (because: string): Finding => ({ result: 'not_observed', evidence: [], because });

/** `1 request`, `2 requests`. */
export const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
