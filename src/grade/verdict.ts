import type { Fault } from '../lab/rehearsals/fault.ts';
import type { CheckResult } from '../lab/report/report.ts';
import type { Baseline, FaultGrade, Grade, Verdict } from './grade.ts';
import type { Run } from './run.ts';

/** The grade of a run under a fault. */
export function gradeOf({ name, level }: Fault, run: Run, difference: string[]): FaultGrade {
  const { exitStatus, lastLines, tookMs, performed, checks, requests } = run;
  return {
    ...{ fault: name, verdict: verdictOn(run, difference), required: level === 'required', performed },
    ...{ difference: performed > 0 ? difference : [], exitStatus, lastLines, tookMs, checks, requests },
  };
}

/** A fault that the program cannot meet, so that it was not run. */
export const unreached = ({ name, level }: Fault): FaultGrade => ({
  ...{ fault: name, verdict: 'not-reached', required: level === 'required', performed: 0 },
  ...{ difference: [], exitStatus: undefined, lastLines: [], tookMs: 0, checks: [], requests: [] },
});

function verdictOn({ performed, exitStatus }: Run, difference: readonly string[]): Verdict {
  if (performed === 0) return 'not-reached';
  if (exitStatus === undefined) return 'hung';
  if (exitStatus !== 0) return 'failed';
  return difference.length > 0 ? 'changed-the-store' : 'survived';
}

/**
 * Whether a run fails the program: it did not survive what every client must survive, or it says that all went well, with status 0,
 * and left something else in the store, which nobody would notice.
 */
export const isFailing = ({ required, verdict }: Pick<FaultGrade, 'required' | 'verdict'>) =>
  verdict === 'changed-the-store' || (required && (verdict === 'failed' || verdict === 'hung'));

/** What becomes of all: see `Grade.verdict`. */
export function verdictOf({ checks }: Baseline, grades: readonly FaultGrade[]): Grade['verdict'] {
  if (grades.some(isFailing) || [checks, ...grades.map((grade) => grade.checks)].some(hasFailed))
    return 'failed';
  return grades.some(({ verdict }) => verdict !== 'not-reached') ? 'passed' : 'incomplete';
}

const hasFailed = (checks: readonly CheckResult[]) =>
  checks.some(({ level, result }) => level === 'required' && result === 'failed');
