import { goalVariable } from '../settings/config.ts';
import type { Goal } from './goal/goal-file.ts';
import { GoalJudge } from './goal/goal-judge.ts';
import type { FaultGrade, Grade } from './grade.ts';
import type { GradeOptions } from './grade-options.ts';
import { idleness, Reference } from './reference.ts';
import { askedFaults, plannedRuns } from './run/asked-faults.ts';
import type { Run } from './run/run.ts';
import { Runner } from './run/runner.ts';
import { withoutFaults } from './run-name.ts';
import { toCalmRun, toFaultRun, verdictOf, worst } from './verdict.ts';

/**
 * Grades an agent: runs it several times without faults, then as many times under each fault. A goal judges the store and the output
 * after each run. Faults affect operations that any run without faults used. If none of those runs reaches the goal, no fault is tried.
 */
export async function gradeByGoal(options: GradeOptions & { goal: Goal; timeoutMs: number }): Promise<Grade> {
  const { levels, onProgress = () => {}, trials = 1, env = process.env } = options;
  const { says, ...silent } = options.goal;
  const goal = options.ignoresOutput ? silent : options.goal;
  const asked = askedFaults(options);
  const runner = await Runner.start({ ...options, env: { ...env, [goalVariable]: goal.text } });
  const each = Array.from({ length: trials }, (_, index) => index + 1);
  const nameOf = (name: string, trial: number) => (trials > 1 ? `${name}, trial ${trial}` : name);
  const numbered = (trial: number) => trials > 1 && { trial };

  onProgress({ stage: 'baseline' });
  const first = await runner.calmly();
  const idle = first.problem ?? idleness(first);
  const later = idle === undefined ? each.slice(1).map(() => runner.calmlyInTurn()) : [];
  const runs: readonly [Run, ...Run[]] = [first, ...(await runner.all(later))];
  const referenceTo = (runs: readonly [Run, ...Run[]]) =>
    new Reference(runs, runner.initial, { levels, varies: true });
  const draft = new GoalJudge(goal, runner.initial, referenceTo(runs));
  const calm = runs.map((run, i) => ({
    ...toCalmRun(nameOf(withoutFaults, i + 1), run, draft),
    ...numbered(i + 1),
  }));
  const best = Math.max(
    0,
    calm.findIndex(({ verdict }) => verdict === 'survived'),
  );
  const reference = referenceTo([runs[best] as Run, ...runs.toSpliced(best, 1)]);
  const judge = new GoalJudge(goal, runner.initial, reference);
  const isHopeless = calm.every(({ verdict }) => verdict !== 'survived');
  const problem = idle ?? (isHopeless ? hopeless(trials) : undefined);
  const baseline = {
    ...reference.toBaseline(problem),
    nothingToCompare: false,
    ...(idle === undefined && { trials: calm }),
  };
  const shared = {
    command: [...options.command],
    goal: { text: goal.text, trials },
    baseline,
    notCompared: [],
  };
  if (problem !== undefined) return { ...shared, faults: [], runCount: runner.count, verdict: 'failed' };

  const planned = plannedRuns(asked, reference.usage, options.isThorough).flatMap((one) =>
    each.map((trial) => ({ ...one, trial, name: nameOf(one.plan.name, trial) })),
  );
  onProgress({ stage: 'faults', runs: planned.map(({ name }) => name), baseline });
  // The longest waits begin first.
  const inTurn = planned.toSorted((a, b) => b.plan.waitsMs - a.plan.waitsMs);
  const results = await runner.all(
    inTurn.map(async ({ fault, required, plan, trial, name }) => {
      const begun = () => onProgress({ stage: 'begun', run: name });
      const ended = await runner.under(plan, baseline.tookMs, begun, name);
      const run = { ...toFaultRun(fault, { ...plan, name }, ended, judge), ...numbered(trial) };
      onProgress({ stage: 'ended', fault: fault.name, required, run });
      return run;
    }),
  );
  const faults = asked.map(({ fault: { name }, required }): FaultGrade => {
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
