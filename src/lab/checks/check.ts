import type { Level } from '../faults/shared/fault.ts';
import { byTime, type Recorded } from '../recordings/recorded-request.ts';
import type { Convention } from './judged-api.ts';
import type { Traffic } from './traffic.ts';

export const results = ['passed', 'failed', 'not_observed'] as const;

/** One rule for clients, and how a recording shows whether a client follows it. */
export interface Check {
  /** Stable: `retry-after.obeyed`. */
  name: string;
  level: Level;
  /** A habit that few clients have. A report card says it in one line, and not as a finding. */
  isAdvice?: true;
  /** Without this convention of the API it could judge wrongly, so the report leaves it out. */
  needs?: Convention;
  /** What it requires of a client, in one sentence. */
  asks: string;
  /** What passes, what fails, and what is not judged because a server cannot know it. */
  judged: string;
  /** When the result is `not_observed`. Also the reason in a result, unless `judge` gives one. */
  unseen: string;
  /** The faults that make it observable. */
  faults: readonly string[];
  /** What to change after a failure. */
  advice: string;
  guide: string;
  judge(traffic: Traffic): Found;
}

/** What a check has found. It fails with bad requests, and passes with good requests only. */
export interface Found {
  bad?: readonly Recorded[];
  good: readonly Recorded[];
  failed?: Text;
  passed: Text;
  /** Why nothing was observed, if it is more specific than the text of the check. */
  unseen?: Text | undefined;
}

/** A function if the text needs requests that may be missing. */
type Text = string | (() => string);

interface Finding {
  result: (typeof results)[number];
  /** The requests that show it, without duplicates, oldest first. */
  evidence: readonly Recorded[];
  /** Why, in one sentence. */
  because: string;
}

export function findingOf(check: Check, traffic: Traffic): Finding {
  const { bad = [], good, failed = '', passed, unseen = check.unseen } = check.judge(traffic);
  if (bad.length > 0) return { result: 'failed', evidence: inOrder(bad), because: inFull(failed) };
  if (good.length > 0) return { result: 'passed', evidence: inOrder(good), because: inFull(passed) };
  return { result: 'not_observed', evidence: [], because: inFull(unseen) };
}

const inOrder = (requests: readonly Recorded[]) => [...new Set(requests)].sort(byTime);

const inFull = (text: Text) => (typeof text === 'string' ? text : text());
