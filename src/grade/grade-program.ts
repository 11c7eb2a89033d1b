import type { Fault } from '../lab/faults/shared/fault.ts';
import type { FaultGrade, FaultRun, Grade } from './grade.ts';
import { gradeByGoal } from './grade-by-goal.ts';
import type { GradeOptions } from './grade-options.ts';
import { Reference } from './reference.ts';
import { askedFaults, plannedRuns } from './run/asked-faults.ts';
import type { RunPlan } from './run/plan.ts';
import type { Run } from './run/run.ts';
import { Runner } from './run/runner.ts';
import { isUndoneByHung, toFaultRun, verdictOf, worst } from './verdict.ts';

const defaultTimeoutMs = 60_000;
/** The maximum of further runs without a fault. They show what varies from run to run. */
const maxLaterRuns = 3;

/**
 * Grades a program: runs it twice without faults, then under each fault, and compares the writes, the store and the output of each run.
 * If a run seems to deviate, the program runs without faults again, because something may vary from run to run. If there is a goal, the
 * goal judges each run instead.
 */
export async function gradeProgram(options: GradeOptions): Promise<Grade> {
  const { timeoutMs = defaultTimeoutMs, goal, onProgress = () => {} } = options;
  if (goal) return gradeByGoal({ ...options, goal, timeoutMs });
  const asked = askedFaults(options);
  const runner = await Runner.start({ ...options, timeoutMs });

  onProgress({ stage: 'baseline' });
  let reference = new Reference([await runner.calmly()], runner.initial, options);
  if (reference.problem(timeoutMs) === undefined) reference = reference.with(await runner.calmly());
  const baseline = reference.toBaseline(reference.problem(timeoutMs));
  const shared = { command: [...options.command], baseline };
  if (baseline.problem !== undefined)
    return { ...shared, notCompared: [], faults: [], runCount: runner.count, verdict: 'failed' };

  const planned = plannedRuns(asked, reference.usage, options.isThorough);
  onProgress({ stage: 'faults', runs: planned.map(({ plan }) => plan.name), baseline });
  // The longest waits begin first.
  const inTurn = planned.toSorted((a, b) => b.plan.waitsMs - a.plan.waitsMs);
  const met = await runner.all(
    inTurn.map(async (one) => {
      const run = await runner.under(one.plan, baseline.tookMs, () =>
        onProgress({ stage: 'begun', run: one.plan.name }),
      );
      const after = { ...one, run };
      const ended = compared(after, reference);
      if (!deviates(ended)) onProgress({ stage: 'ended', ...ended });
      return after;
    }),
  );

  let results = met.map((one) => compared(one, reference));
  const doubtful = results.map(deviates);
  // A value that changes slowly, or by chance, may have been equal in the first two runs.
  for (let count = 0; count < maxLaterRuns && results.some(deviates); count++) {
    const later = reference.with(await runner.calmly());
    if (later.problem(timeoutMs) === undefined) reference = later;
    results = met.map((one) => compared(one, reference));
  }
  for (const [i, ended] of results.entries()) if (doubtful[i]) onProgress({ stage: 'ended', ...ended });

  const faults = asked.map(({ fault: { name }, required }): FaultGrade => {
    const ofFault = planned.filter(({ fault }) => fault.name === name);
    const runs = ofFault.map((one) => (results[inTurn.indexOf(one)] as RunResult).run);
    return { fault: name, required, verdict: worst(runs.map(({ verdict }) => verdict)), runs };
  });
  const { notCompared } = reference;
  return { ...shared, notCompared, faults, runCount: runner.count, verdict: verdictOf(baseline, faults) };
}

/** A run under a fault, and how it compares. */
interface RunResult {
  fault: string;
  required: boolean;
  run: FaultRun;
}

function compared(
  { fault, required, plan, run }: { fault: Fault; required: boolean; plan: RunPlan; run: Run },
  reference: Reference,
): RunResult {
  return { fault: fault.name, required, run: toFaultRun(fault, plan, run, reference) };
}

/** Whether more runs without faults may change the verdict. What a hung run left undone does not. */
const deviates = ({ run }: RunResult) => run.deviations.some((one) => !isUndoneByHung(one));
