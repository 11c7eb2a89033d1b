import type { Level } from '../faults/shared/fault.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import type { TargetApi } from '../target-api.ts';
import { type Check, findingOf } from './check.ts';
import type { Expected } from './expected.ts';
import { checks, checksVersion } from './list.ts';
import { type CheckResult, maxEvidence, type Report } from './report-schema.ts';
import { type Traffic, trafficOf } from './traffic.ts';

interface Judging {
  /** What the client sends without faults. Requests beyond that are retries, on any connection. */
  expected?: Expected;
  /** Replaces the levels of checks. A check that is `off` is left out. */
  levels?: Levels;
  /** Called before each check. */
  between?: () => void;
}

/** Levels by the names of checks. */
export type Levels = Readonly<Record<string, Level | 'off'>>;

/** Judges the requests of a recording of an API, given oldest first. */
export function reportOn(
  recording: string,
  requests: readonly Recorded[],
  api: TargetApi,
  { expected, levels = {}, between = () => {} }: Judging = {},
): Report {
  const traffic = trafficOf(requests, api, expected);
  const results = checks.flatMap((check) => {
    const level = levels[check.name] ?? check.level;
    if (level === 'off' || (check.needs && !traffic.api.has(check.needs))) return [];
    between();
    return [judge({ ...check, level }, traffic)];
  });
  return { recording, version: checksVersion, verdict: reportVerdict(results), checks: results };
}

function judge(check: Check, traffic: Traffic): CheckResult {
  const { name, level, advice, guide } = check;
  const { result, evidence, because } = findingOf(check, traffic);
  const shown = evidence.slice(0, maxEvidence).map(({ id }) => id);
  const more =
    evidence.length > maxEvidence ? ` The evidence names ${maxEvidence} of ${evidence.length} requests.` : '';
  return { name, level, result, evidence: shown, because: because + more, advice, guide };
}

/** Passes with one observed required check, if none failed: no recording shows all cases. */
export function reportVerdict(results: readonly Pick<CheckResult, 'level' | 'result'>[]): Report['verdict'] {
  const required = results.filter(({ level }) => level === 'required');
  if (required.some(({ result }) => result === 'failed')) return 'failed';
  return required.some(({ result }) => result === 'passed') ? 'passed' : 'incomplete';
}
