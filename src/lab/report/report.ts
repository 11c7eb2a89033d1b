import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Recorded } from '../recordings/recorded.ts';
import { checks, checksVersion } from './checks/all.ts';
import type { Check, Finding } from './checks/check.ts';

/** So many requests are named as evidence. */
export const maxEvidence = 10;

export const verdicts = ['passed', 'failed', 'incomplete'] as const;

/** What came of one check. */
export interface CheckResult extends Pick<Check, 'name' | 'level' | 'advice' | 'guide'> {
  result: Finding['result'];
  /** Ids of requests of the recording. */
  evidence: string[];
  because: string;
}

/** The report card of a recording. */
export interface Report {
  /** The id of the recording. */
  recording: string;
  /** Of the checks. */
  version: number;
  verdict: (typeof verdicts)[number];
  checks: CheckResult[];
}

/** Judges the requests of a recording, given in the order in which they came. Others have their turn between the checks. */
export async function reportOn(recording: string, requests: readonly Recorded[]): Promise<Report> {
  const results: CheckResult[] = [];
  for (const check of checks) {
    results.push(await judge(check, requests));
    await nextTurn();
  }
  return { recording, version: checksVersion, verdict: verdictOf(results), checks: results };
}

async function judge(
  { name, level, advice, guide, ...check }: Check,
  requests: readonly Recorded[],
): Promise<CheckResult> {
  const { result, evidence, because } = await check.judge(requests);
  const shown = evidence.slice(0, maxEvidence).map(({ number }) => String(number));
  const more =
    evidence.length > maxEvidence ? ` The evidence names ${maxEvidence} of ${evidence.length} requests.` : '';
  return { name, level, result, evidence: shown, because: because + more, advice, guide };
}

/**
 * Failed if a required check failed. A recording shows some cases and not others, so one required check that was observed is enough
 * to pass; without any, nothing was proved.
 */
export function verdictOf(results: readonly Pick<CheckResult, 'level' | 'result'>[]): Report['verdict'] {
  const required = results.filter(({ level }) => level === 'required');
  if (required.some(({ result }) => result === 'failed')) return 'failed';
  return required.some(({ result }) => result === 'passed') ? 'passed' : 'incomplete';
}
