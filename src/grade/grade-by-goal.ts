import { goalVariable } from '../foundation/settings/config.ts';
import { BaselineRuns, unusedReason } from './baseline.ts';
import type { Goal } from './goal/goal-file.ts';
import { GoalJudge } from './goal/goal-judge.ts';
import type { FaultGrade, Grade } from './grade.ts';
import type { GradeOptions } from './grade-options.ts';
import type { Run } from './run/run.ts';
import { Runner } from './run/runner.ts';
import { plannedRuns, selectFaults } from './run/selected-faults.ts';
import { withoutFaults } from './run-name.ts';
import { toBaselineTrial, toFaultRun, verdictOf, worst } from './verdict.ts';

/**
 * Grades an agent: runs it several times without faults, then the same number of times under each fault. A goal judges the store and the
 * output after each run. Faults affect operations that any run without faults used. If none of those runs reaches the goal, no fault is
 * tried.
 */
export async function gradeByGoal(options: GradeOptions & { goal: Goal; timeoutMs: number }): Promise<Grade> {
  const { levels, onProgress = () => {}, trials = 1, env = process.env } = options;
  const { says, ...silent } = options.goal;
  const goal = options.ignoresOutput ? silent : options.goal;
  const selected = selectFaults(options);
  const runner = await Runner.start({ ...options, env: { ...env, [goalVariable]: goal.text } });
  const each = Array.from({ length: trials }, (_, index) => index + 1);
  const nameOf = (name: string, trial: number) => (trials > 1 ? `${name}, trial ${trial}` : name);
  const numbered = (trial: number) => trials > 1 && { trial };

  onProgress({ stage: 'baseline' });
  const first = await runner.runWithoutFaults();
  const unused = first.problem ?? unusedReason(first);
  const later = unused === undefined ? each.slice(1).map(() => runner.queueWithoutFaults()) : [];
  const runs: readonly [Run, ...Run[]] = [first, ...(await runner.all(later))];
  const comparedTo = (runs: readonly [Run, ...Run[]]) =>
    new BaselineRuns(runs, runner.initial, { levels, varies: true });
  const draft = new GoalJudge(goal, runner.initial, comparedTo(runs));
  const baselineTrials = runs.map((run, i) => ({
    ...toBaselineTrial(nameOf(withoutFaults, i + 1), run, draft),
    ...numbered(i + 1),
  }));
  const best = Math.max(
    0,
    baselineTrials.findIndex(({ verdict }) => verdict === 'survived'),
  );
  const baselineRuns = comparedTo([runs[best] as Run, ...runs.toSpliced(best, 1)]);
  const judge = new GoalJudge(goal, runner.initial, baselineRuns);
  const isHopeless = baselineTrials.every(({ verdict }) => verdict !== 'survived');
  const problem = unused ?? (isHopeless ? hopeless(trials) : undefined);
  const baseline = {
    ...baselineRuns.toBaseline(problem),
    nothingToCompare: false,
    ...(unused === undefined && { trials: baselineTrials }),
  };
  const shared = {
    command: [...options.command],
    goal: { text: goal.text, trials },
    baseline,
    notCompared: [],
  };
  if (problem !== undefined) return { ...shared, faults: [], runCount: runner.count, verdict: 'failed' };

  const planned = plannedRuns(selected, baselineRuns.usage, options.isThorough).flatMap((one) =>
    each.map((trial) => ({ ...one, trial, name: nameOf(one.plan.name, trial) })),
  );
  onProgress({ stage: 'faults', runs: planned.map(({ name }) => name), baseline });
  // Runs with the longest waits start first.
  const inTurn = planned.toSorted((a, b) => b.plan.waitsMs - a.plan.waitsMs);
  const results = await runner.all(
    inTurn.map(async ({ fault, required, plan, trial, name }) => {
      const begun = () => onProgress({ stage: 'begun', run: name });
      const ended = await runner.runUnderFault(plan, baseline.tookMs, begun, name);
      const run = { ...toFaultRun(fault, { ...plan, name }, ended, judge), ...numbered(trial) };
      onProgress({ stage: 'ended', fault: fault.name, required, run });
      return run;
    }),
  );
  const faults = selected.map(({ fault: { name }, required }): FaultGrade => {
    const runs = planned.flatMap((one) =>
      one.fault.name === name ? (results[inTurn.indexOf(one)] ?? []) : [],
    );
    return { fault: name, required, verdict: worst(runs.map(({ verdict }) => verdict)), runs };
  });
  return { ...shared, faults, runCount: runner.count, verdict: verdictOf(baseline, faults) };
}

const hopeless = (trials: number) =>
  trials === 1
    ? 'Without faults the program does not reach the goal.'
    : `Without faults the program reached the goal in none of ${trials} trials.`;
