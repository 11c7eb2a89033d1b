import { retryAfterMs } from '../client/retry-delays.ts';
import { minuteMs } from '../foundation/time.ts';
import type { CheckResult } from '../lab/checks/report-schema.ts';
import type { Fault } from '../lab/faults/shared/fault.ts';
import type { RecordedRequest } from '../lab/recordings/schema.ts';
import type { ranks } from './card-schema.ts';
import {
  type Baseline,
  type Deviation,
  type FaultGrade,
  type FaultRun,
  type Grade,
  isAffectedBy,
  type Verdict,
  withoutFaults,
} from './grade.ts';
import { type RunPlan, timesInARow } from './run/plan.ts';
import type { Run } from './run/run.ts';

/** Possible deviations of a run. `verdictOn` decides which of them count. */
export interface Judgement {
  deviations: Deviation[];
  /** Other lines that are right, with the reason. */
  excused?: string[];
  /** Whether the program reported a failure. Then only deviations of the kinds `countsWhenGivenUp` count. */
  gaveUp: boolean;
  countsWhenGivenUp: readonly Deviation['kind'][];
  /** Further facts if a goal judges the run. */
  facts?: Pick<FaultRun, 'goalReached' | 'lastWords'>;
}

/** Judges runs of a program by its runs without faults, or by a goal. */
export interface Judge {
  /** `again`: another run under the same fault, which must show a deviation of the output, too. */
  judge(run: Run, fault?: Fault, again?: Run): Judgement;
  /** `result`: whether it is the same as without faults. Undefined for a program that reported a failure. */
  checksOf(run: Run, result?: 'equal' | 'different'): CheckResult[];
}

/** The verdict on a run with a deviation of each kind. */
export const kindVerdicts = {
  twice: 'did-it-twice',
  undone: 'left-undone',
  other: 'did-something-else',
  printed: 'printed-something-else',
  reported: 'reported-failure',
} as const satisfies Record<Deviation['kind'], Verdict>;

/** The worst first. */
export const severity = [
  ...Object.values(kindVerdicts),
  ...(['hung', 'failed', 'survived', 'not-reached'] as const),
] satisfies Verdict[];

/** The worst verdict; `not-reached` if there are none. */
export const worst = (verdicts: readonly Verdict[]): Verdict =>
  severity.find((verdict) => verdicts.includes(verdict)) ?? 'not-reached';

/** The maximum number of requests that a grade shows of a run. */
const maxShown = 1_000;

/** The requests that a grade shows, without their bodies. */
export const shownRequests = (requests: readonly RecordedRequest[]): RecordedRequest[] =>
  requests.slice(0, maxShown).map(({ body: _, ...request }) => request);

/** What the verdict on a run needs of its plan. Without a fault, a goal judges the run. */
type JudgedPlan = Pick<RunPlan, 'name' | 'trial' | 'label' | 'place' | 'faults'> & { fault?: Fault };

/** Judges a run. `again`: another run under the same fault, which confirms what the first one printed. */
export function judgeRun(plan: JudgedPlan, run: Run, judge: Judge, again?: Run): FaultRun {
  const { exitStatus, lastLines, tookMs, performed, requests } = run;
  const { fault, name, trial, label, place, faults } = plan;
  const touched = fault ? requests.filter((request) => isAffectedBy(fault.name, request)) : [];
  const mayWait = faults.some(({ times = 1 }) => times >= timesInARow) || touched.some(asksForPatience);
  const [first] = touched;
  // A program that was ended at its time limit did not give up its last request.
  const wasEnded = exitStatus === undefined && first && !requests.some((one) => beganAfter(one, first));
  const judgement = judge.judge(run, fault, again);
  const result = judgement.deviations.length === 0 ? 'equal' : 'different';
  const gaveUpAfterMs = wasEnded ? null : first && patienceOf(first);
  return {
    ...{ name, ...(trial !== undefined && { trial }), label, place, faults, performed },
    mayWaitLong: fault?.isSilent === true || fault?.mayWaitLong === true || mayWait,
    ...(fault && performed === 0
      ? { verdict: 'not-reached', deviations: [] }
      : verdictOn(run, judgement, mayWait || fault?.mayEnd === true)),
    ...(fault?.isSilent && first && { gaveUpAfterMs }),
    ...{ exitStatus, lastLines, tookMs, requests: shownRequests(requests) },
    checks: judge.checksOf(run, judgement.gaveUp ? undefined : result),
  };
}

const beganAfter = (one: RecordedRequest, before: RecordedRequest) =>
  Date.parse(one.at) >= Date.parse(before.at) + before.durationMs;

/** How long the client waited without data before it gave up; null if the service ended the request. */
const patienceOf = ({ left, durationMs, silenceMs }: RecordedRequest) =>
  silenceMs ?? (left ? durationMs : null);

/** Whether a deviation is the undone work of a program that hung. */
export const isUndoneByHung = ({ kind, isWarning }: Deviation) => kind === 'undone' && isWarning === true;

/** The longest wait for one request that a client must accept. */
const patienceMs = 5 * minuteMs;

/** Whether the response asks for a longer wait, so that a good client gives up. */
const asksForPatience = ({ answerHeaders, at, durationMs }: RecordedRequest) =>
  (retryAfterMs(answerHeaders['retry-after'], Date.parse(at) + durationMs) ?? 0) > patienceMs;

/**
 * The verdict on a run, and the deviations that count. The undone work of a hung program may only show where it hung, so it
 * becomes a warning. `mayGiveUp`: reporting a failure is correct.
 */
function verdictOn(
  { exitStatus }: Pick<FaultRun, 'exitStatus'>,
  { deviations: found, gaveUp, countsWhenGivenUp, facts, excused = [] }: Judgement,
  mayGiveUp: boolean,
): Pick<FaultRun, 'verdict' | 'deviations' | 'excused' | 'goalReached' | 'lastWords'> {
  const undone = exitStatus === undefined ? found.filter(({ kind }) => kind === 'undone') : [];
  const deviations = [
    ...found.filter(({ kind }) => !gaveUp || countsWhenGivenUp.includes(kind)),
    ...undone.map((one) => ({ ...one, isWarning: true as const })),
  ];
  const kinds = deviations.filter(({ isWarning }) => !isWarning).map(({ kind }) => kindVerdicts[kind]);
  const end = exitStatus === undefined ? 'hung' : !gaveUp || mayGiveUp ? 'survived' : 'failed';
  return {
    verdict: worst([...kinds, end]),
    deviations,
    ...(!gaveUp && excused.length > 0 && { excused }),
    ...facts,
  };
}

/** The facts that decide whether a run fails the program. */
export type Judged = Pick<FaultGrade, 'required'> & Pick<FaultRun, 'verdict' | 'mayWaitLong'>;

/** Whether a run ended differently than without faults, hung although the service responded, or did not survive a required fault. */
export const isFailing = ({ required, verdict, mayWaitLong }: Judged) =>
  (verdict !== kindVerdicts.reported && Object.values<Verdict>(kindVerdicts).includes(verdict)) ||
  (verdict === 'hung' && !mayWaitLong) ||
  (required && (verdict === 'failed' || verdict === 'hung'));

export type Rank = (typeof ranks)[number];

/** The rank of a run under a fault. */
export function rankOf(run: Judged): Rank {
  if (run.verdict === 'survived' || run.verdict === 'not-reached') return run.verdict;
  return isFailing(run) ? 'must-fix' : 'should-fix';
}

/** The runs without faults that a goal judges, in the form of a fault's runs. Empty without a goal. */
export function gradesOfTrials({ trials }: Baseline): FaultGrade[] {
  if (!trials) return [];
  const verdict = worst(trials.map((run) => run.verdict));
  return [{ fault: withoutFaults, required: true, verdict, runs: trials }];
}

/** `incomplete`: no fault was reached. `failed`: the baseline has a problem, or a run or a required check failed. */
export function programVerdict(baseline: Baseline, grades: readonly FaultGrade[]): Grade['verdict'] {
  const { checks, problem } = baseline;
  const all = [...gradesOfTrials(baseline), ...grades];
  const results = [checks, ...all.flatMap((grade) => grade.runs).map((run) => run.checks)];
  if (
    problem !== undefined ||
    all.some(({ required, runs }) => runs.some((run) => isFailing({ ...run, required }))) ||
    results.some(hasFailed)
  )
    return 'failed';
  return grades.some(({ verdict }) => verdict !== 'not-reached') ? 'passed' : 'incomplete';
}

const hasFailed = (checks: readonly CheckResult[]) =>
  checks.some(({ level, result }) => level === 'required' && result === 'failed');
