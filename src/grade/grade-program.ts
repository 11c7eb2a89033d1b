import { goalVariable } from '../foundation/settings/config.ts';
import { BaselineRuns, unusedReason } from './baseline.ts';
import type { Goal } from './goal/goal-file.ts';
import { GoalJudge } from './goal/goal-judge.ts';
import {
  type Baseline,
  type FaultGrade,
  type FaultRun,
  type Grade,
  type GradeProgress,
  withoutFaults,
} from './grade.ts';
import type { GradingService } from './grading-service.ts';
import { plansOf, type RunPlan, type Selection, selectFaults } from './run/plan.ts';
import type { Run } from './run/run.ts';
import { Runner } from './run/runner.ts';
import { isUndoneByHung, type Judge, judgeRun, kindVerdicts, programVerdict, worst } from './verdict.ts';

export interface GradeOptions extends Selection {
  /** The program and its arguments. */
  command: readonly string[];
  store: GradingService;
  /** The goal of an agent. It judges each run, instead of a comparison with the runs without faults. */
  goal?: Goal | undefined;
  /** With a goal: how often the program runs without faults, and under each fault at each place. Default: once. */
  trials?: number | undefined;
  /** Whether to ignore what the program prints on standard output, or which lines of it. */
  ignoredOutput?: true | RegExp | undefined;
  /** A command that prints what the program left in files or a database. It runs after each run. */
  resultCommand?: string | undefined;
  /** The time limit of that command. Default: 60 s. */
  commandMs?: number | undefined;
  /** The time limit of a run, without the waits that faults cause. Default: 60 s. */
  timeoutMs?: number | undefined;
  /** The largest number of concurrent runs. Default: two for each processor, since runs mostly wait. */
  atOnce?: number | undefined;
  /** The environment of the program, to which the address and the key are added. */
  env?: NodeJS.ProcessEnv;
  /** Stops the grading: ends the program, deletes its workspaces, and throws the reason. */
  signal?: AbortSignal;
  onProgress?: (progress: GradeProgress) => void;
  /** Gets the output of the program, with the name of the run if it is under a fault. */
  onOutput?: (text: string, fault?: string) => void;
}

const defaultTimeoutMs = 60_000;
/** The maximum number of further runs without faults. They show what varies from run to run. */
const maxLaterRuns = 3;

/** What judges runs under faults. */
interface Reference {
  baselineRuns: BaselineRuns;
  judge: Judge;
  baseline: Baseline;
}

/**
 * Grades a program: runs it twice without faults, then under each fault, and compares the writes, the store and the output of each run.
 * If a run seems to deviate, the program runs without faults again, because something may vary from run to run.
 *
 * With a goal, grades an agent: runs it several times without faults, then the same number of times under each fault, and judges each run
 * by the goal. Faults affect operations that any run without faults used. If none of those runs reaches the goal, no fault is tried.
 */
export async function gradeProgram(options: GradeOptions): Promise<Grade> {
  const { goal, trials = 1, timeoutMs = defaultTimeoutMs, env = process.env } = options;
  const { onProgress = () => {} } = options;
  const selected = selectFaults(options);
  const programEnv = goal ? { ...env, [goalVariable]: goal.text } : env;
  const { resultCommand, commandMs } = options;
  const result = resultCommand === undefined ? undefined : { command: resultCommand, limitMs: commandMs };
  const runner = await Runner.start({ ...options, result, timeoutMs, env: programEnv });

  onProgress({ stage: 'baseline' });
  const reference = await (goal ? trialsOf(runner, goal, options) : twoRunsOf(runner, timeoutMs, options));
  const { baseline } = reference;
  const shared = {
    command: [...options.command],
    ...(goal && { goal: { text: goal.text, trials } }),
    ...(options.isQuick && { isQuick: true as const }),
    baseline,
  };
  if (baseline.problem !== undefined)
    return { ...shared, notCompared: [], faults: [], runCount: runner.count, verdict: 'failed' };

  const plans = selected
    .flatMap((one) => plansOf(one, reference.baselineRuns.usage, options.isThorough))
    .filter(({ place }) => !options.isQuick || place === 'first' || place === 'whole')
    .flatMap((plan) => numbered(plan.name, goal ? trials : 1).map((name) => ({ ...plan, ...name })));
  onProgress({ stage: 'faults', runs: plans.map(({ name }) => name), baseline });
  const report = ({ fault, required }: RunPlan, run: FaultRun) =>
    onProgress({ stage: 'ended', fault: fault.name, required, run });
  // Runs with the longest waits start first.
  const inTurn = plans.toSorted((a, b) => b.waitsMs - a.waitsMs);
  const runs = await runner.all(
    inTurn.map(async (plan) => {
      const run = await runner.runUnderFault(plan, baseline.tookMs, () =>
        onProgress({ stage: 'begun', run: plan.name }),
      );
      const judged = judgeRun(plan, run, reference.judge);
      const isDoubtful = !goal && deviates(judged);
      if (!isDoubtful) report(plan, judged);
      return { plan, run, judged, isDoubtful };
    }),
  );

  let { baselineRuns } = reference;
  const isDoubtful = () => runs.some((one) => one.isDoubtful && deviates(one.judged));
  // A value that changes slowly, or by chance, may have been equal in the first two runs.
  for (let count = 0; count < maxLaterRuns && isDoubtful(); count++) {
    const later = baselineRuns.with(await runner.runWithoutFaults());
    if (later.problem(timeoutMs) === undefined) baselineRuns = later;
    for (const one of runs) one.judged = judgeRun(one.plan, one.run, baselineRuns);
  }
  // What rests on output alone must show itself again, in the same lines.
  const ofOutput = goal ? [] : runs.filter(({ judged }) => judged.verdict === kindVerdicts.printed);
  await runner.all(
    ofOutput.map(async (one) => {
      const run = await runner.runUnderFault(one.plan, baseline.tookMs, () => {});
      const again = judgeRun(one.plan, run, baselineRuns);
      if (again.verdict === one.judged.verdict) one.judged = judgeRun(one.plan, one.run, baselineRuns, run);
      else if (again.verdict !== 'not-reached') one.judged = again;
    }),
  );
  for (const one of runs) if (one.isDoubtful) report(one.plan, one.judged);

  const judged = new Map(runs.map((one) => [one.plan, one.judged]));
  const faults = selected.map(({ fault, required }): FaultGrade => {
    const ofFault = plans.filter((plan) => plan.fault === fault).map((plan) => judged.get(plan) as FaultRun);
    const verdict = worst(ofFault.map((run) => run.verdict));
    return { fault: fault.name, required, verdict, runs: ofFault };
  });
  const notCompared = goal ? [] : baselineRuns.notCompared;
  const verdict = programVerdict(baseline, faults);
  return { ...shared, notCompared, faults, runCount: runner.count - ofOutput.length, verdict };
}

/** Whether more runs without faults may change the verdict. They cannot excuse the undone work of a hung run. */
const deviates = ({ deviations }: FaultRun) => deviations.some((one) => !isUndoneByHung(one));

/** The names of the trials of a run. A single trial has no number. */
const numbered = (name: string, trials: number): Pick<FaultRun, 'name' | 'trial'>[] =>
  trials === 1
    ? [{ name }]
    : Array.from({ length: trials }, (_, i) => ({ name: `${name}, trial ${i + 1}`, trial: i + 1 }));

/** Two runs without faults. Other runs are compared with them. */
async function twoRunsOf(runner: Runner, timeoutMs: number, options: GradeOptions): Promise<Reference> {
  const { levels, ignoredOutput, store } = options;
  const known = { levels, ignoredOutput, api: store.api };
  let runs = new BaselineRuns([await runner.runWithoutFaults()], runner.initial, known);
  if (runs.problem(timeoutMs) === undefined) runs = runs.with(await runner.runWithoutFaults());
  return { baselineRuns: runs, judge: runs, baseline: runs.toBaseline(runs.problem(timeoutMs)) };
}

/** The trials without faults of an agent. Other runs are compared with the first that reached the goal. */
async function trialsOf(runner: Runner, given: Goal, options: GradeOptions): Promise<Reference> {
  const { levels, ignoredOutput, store, trials = 1 } = options;
  const { says, ...silent } = given;
  const goal = ignoredOutput ? silent : given;
  const first = await runner.runWithoutFaults();
  const unused = first.problem ?? unusedReason(first);
  const later = Array.from({ length: unused === undefined ? trials - 1 : 0 }, runner.queueWithoutFaults);
  const runs = [first, ...(await runner.all(later))] as const;
  const judgeWith = (runs: readonly [Run, ...Run[]]) => {
    const known = { levels, varies: true, api: store.api };
    const baselineRuns = new BaselineRuns(runs, runner.initial, known);
    return { baselineRuns, judge: new GoalJudge(goal, runner.initial, baselineRuns) };
  };
  const draft = judgeWith(runs).judge;
  const names = numbered(withoutFaults, trials);
  const judged = runs.map((run, i) =>
    judgeRun({ name: '', ...names[i], label: withoutFaults, place: 'whole', faults: [] }, run, draft),
  );
  const best = judged.findIndex(({ verdict }) => verdict === 'survived');
  const bestFirst = best === -1 ? runs : ([runs[best] as Run, ...runs.toSpliced(best, 1)] as const);
  const { baselineRuns, judge } = judgeWith(bestFirst);
  const problem = unused ?? (best === -1 ? hopeless(trials) : undefined);
  const baseline = {
    ...baselineRuns.toBaseline(problem),
    nothingToCompare: false,
    ...(unused === undefined && { trials: judged }),
  };
  return { baselineRuns, judge, baseline };
}

const hopeless = (trials: number) =>
  trials === 1
    ? 'Without faults the program does not reach the goal.'
    : `Without faults the program reached the goal in none of ${trials} trials.`;
