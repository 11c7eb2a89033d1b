import type { Fault } from '../lab/faults/shared/fault.ts';
import { BaselineRuns } from './baseline.ts';
import type { FaultGrade, FaultRun, Grade } from './grade.ts';
import { gradeByGoal } from './grade-by-goal.ts';
import type { GradeOptions } from './grade-options.ts';
import type { RunPlan } from './run/plan.ts';
import type { Run } from './run/run.ts';
import { Runner } from './run/runner.ts';
import { plannedRuns, selectFaults } from './run/selected-faults.ts';
import { isUndoneByHung, toFaultRun, verdictOf, worst } from './verdict.ts';

const defaultTimeoutMs = 60_000;
/** The maximum number of further runs without faults. They show what varies from run to run. */
const maxLaterRuns = 3;

/**
 * Grades a program: runs it twice without faults, then under each fault, and compares the writes, the store and the output of each run.
 * If a run seems to deviate, the program runs without faults again, because something may vary from run to run. If there is a goal, the
 * goal judges each run instead.
 */
export async function gradeProgram(options: GradeOptions): Promise<Grade> {
  const { timeoutMs = defaultTimeoutMs, goal, onProgress = () => {} } = options;
  if (goal) return gradeByGoal({ ...options, goal, timeoutMs });
  const selected = selectFaults(options);
  const runner = await Runner.start({ ...options, timeoutMs });

  onProgress({ stage: 'baseline' });
  let baselineRuns = new BaselineRuns([await runner.runWithoutFaults()], runner.initial, options);
  if (baselineRuns.problem(timeoutMs) === undefined)
    baselineRuns = baselineRuns.with(await runner.runWithoutFaults());
  const baseline = baselineRuns.toBaseline(baselineRuns.problem(timeoutMs));
  const shared = { command: [...options.command], baseline };
  if (baseline.problem !== undefined)
    return { ...shared, notCompared: [], faults: [], runCount: runner.count, verdict: 'failed' };

  const planned = plannedRuns(selected, baselineRuns.usage, options.isThorough);
  onProgress({ stage: 'faults', runs: planned.map(({ plan }) => plan.name), baseline });
  // Runs with the longest waits start first.
  const inTurn = planned.toSorted((a, b) => b.plan.waitsMs - a.plan.waitsMs);
  const met = await runner.all(
    inTurn.map(async (one) => {
      const run = await runner.runUnderFault(one.plan, baseline.tookMs, () =>
        onProgress({ stage: 'begun', run: one.plan.name }),
      );
      const after = { ...one, run };
      const ended = compared(after, baselineRuns);
      if (!deviates(ended)) onProgress({ stage: 'ended', ...ended });
      return after;
    }),
  );

  let results = met.map((one) => compared(one, baselineRuns));
  const doubtful = results.map(deviates);
  // A value that changes slowly, or by chance, may have been equal in the first two runs.
  for (let count = 0; count < maxLaterRuns && results.some(deviates); count++) {
    const later = baselineRuns.with(await runner.runWithoutFaults());
    if (later.problem(timeoutMs) === undefined) baselineRuns = later;
    results = met.map((one) => compared(one, baselineRuns));
  }
  for (const [i, ended] of results.entries()) if (doubtful[i]) onProgress({ stage: 'ended', ...ended });

  const faults = selected.map(({ fault: { name }, required }): FaultGrade => {
    const ofFault = planned.filter(({ fault }) => fault.name === name);
    const runs = ofFault.map((one) => (results[inTurn.indexOf(one)] as ComparedRun).run);
    return { fault: name, required, verdict: worst(runs.map(({ verdict }) => verdict)), runs };
  });
  const { notCompared } = baselineRuns;
  return { ...shared, notCompared, faults, runCount: runner.count, verdict: verdictOf(baseline, faults) };
}

/** A run under a fault, and how it compares. */
interface ComparedRun {
  fault: string;
  required: boolean;
  run: FaultRun;
}

function compared(
  { fault, required, plan, run }: { fault: Fault; required: boolean; plan: RunPlan; run: Run },
  baselineRuns: BaselineRuns,
): ComparedRun {
  return { fault: fault.name, required, run: toFaultRun(fault, plan, run, baselineRuns) };
}

/** Whether more runs without faults may change the verdict. They cannot excuse the undone work of a hung run. */
const deviates = ({ run }: ComparedRun) => run.deviations.some((one) => !isUndoneByHung(one));
