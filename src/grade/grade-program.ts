import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../lab/rehearsals/fault.ts';
import { faults as catalogue, faultNames } from '../lab/rehearsals/faults.ts';
import type { Baseline, FaultGrade, Grade, Progress } from './grade.ts';
import { type FaultPlan, hasMissedMinute, planOf, waitForMinuteMs } from './plan.ts';
import { initialState, type Run, type RunOptions, runOnce } from './run.ts';
import { Slots } from './slots.ts';
import { differenceOf, inWords, variationOf } from './state/compare.ts';
import type { GradingStore } from './store.ts';
import { gradeOf, unreached, verdictOf } from './verdict.ts';

export interface GradeOptions {
  /** The program and its arguments. */
  command: readonly string[];
  store: GradingStore;
  /** The names of the faults to grade it under; all if absent. */
  faults?: readonly string[] | undefined;
  /** How long a run may take, besides what faults make it wait. By default it follows from the run without a fault. */
  timeoutMs?: number | undefined;
  /** How many runs there are at once at most; by default as many as the machine has processors. */
  atOnce?: number | undefined;
  /** The environment of the program, to which the address and the key are added. */
  env?: NodeJS.ProcessEnv;
  /** Stops it: the program is ended, what was made is removed, and the reason is thrown. */
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** Gets what the program writes: of a run under a fault, with the name of this. */
  onOutput?: (text: string, fault?: string) => void;
}

const [baselineLimitMs, leastLimitMs, limitFactor] = [600_000, 30_000, 10];
/** So many runs without a fault follow at most, while a difference may be none of a fault. */
const maxLaterRuns = 3;

/**
 * Grades a program: runs it without faults, then under each fault, side by side, and compares what it leaves in the store. Where that
 * differs, it runs without faults again, later.
 */
export async function gradeProgram(options: GradeOptions): Promise<Grade> {
  const { command, store, timeoutMs, onProgress = () => {}, onOutput = () => {} } = options;
  const faults = named(options.faults ?? faultNames);
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, ...(options.signal ? [options.signal] : [])]);
  const run = (fault?: string, rest?: Partial<RunOptions>): Promise<Run> =>
    runOnce({
      ...{ store, command, env: options.env ?? process.env, signal },
      timeLimitMs: timeoutMs ?? baselineLimitMs,
      onOutput: (text) => onOutput(text, fault),
      ...rest,
    });

  onProgress({ stage: 'baseline' });
  const initial = await initialState(store, signal);
  const first = await run();
  const again = problemOf(first) === undefined ? await run() : undefined;
  const baseline = toBaseline(first, again);
  const shared = { command: [...command], baseline };
  if (!again || baseline.problem !== undefined)
    return { ...shared, notCompared: [], faults: [], verdict: 'failed' };

  const tookMs = Math.max(first.tookMs, again.tookMs);
  const limitMs = timeoutMs ?? Math.max(leastLimitMs, limitFactor * tookMs);
  const slots = new Slots(options.atOnce ?? availableParallelism());
  const onceUnder = async (fault: Fault, plan: FaultPlan, likelyMs: number) => {
    if (plan.isUntilMinuteEnds) await sleep(waitForMinuteMs(Date.now(), likelyMs), undefined, { signal });
    return slots.run(() => {
      onProgress({ stage: 'begun', fault: fault.name });
      return run(fault.name, { plan, timeLimitMs: limitMs + plan.waitsMs });
    }, plan.isUntilMinuteEnds);
  };
  const underPlan = async (fault: Fault, plan: FaultPlan) => {
    const met = await onceUnder(fault, plan, tookMs);
    return hasMissedMinute(plan, met) ? onceUnder(fault, plan, met.tookMs) : met;
  };

  const others = [again.state];
  let variation = variationOf(first.state, others, initial);
  const gradeAfter = ({ fault, after }: Met): FaultGrade => {
    if (!after) return unreached(fault);
    const rest = { initial, variation, others: after.others };
    return gradeOf(fault, after, differenceOf(first.state, after.state, rest));
  };
  const meet = async (fault: Fault): Promise<Met> => {
    const plan = planOf(fault, { operations: baseline.operations, requestCount: first.requestCount });
    const met = { fault, after: plan && (await underPlan(fault, plan)) };
    const grade = gradeAfter(met);
    if (!hasChanged(grade)) onProgress({ stage: 'ended', grade });
    return met;
  };

  onProgress({ stage: 'faults', faults: faults.map(({ name }) => name), baseline });
  const met = await allOrStop(faults.map(meet), stop, signal);
  let grades = met.map(gradeAfter);
  const doubtful = grades.filter(hasChanged).map(({ fault }) => fault);
  // What changes slowly, or by chance, may have been the same in both runs without a fault.
  for (let count = 0; count < maxLaterRuns && grades.some(hasChanged); count++) {
    const later = await run(undefined, { timeLimitMs: limitMs });
    if (problemOf(later) !== undefined) continue;
    others.push(later.state);
    variation = variationOf(first.state, others, initial);
    grades = met.map(gradeAfter);
  }
  for (const grade of grades) if (doubtful.includes(grade.fault)) onProgress({ stage: 'ended', grade });
  const notCompared = inWords(variation, first.state);
  return { ...shared, notCompared, faults: grades, verdict: verdictOf(baseline, grades) };
}

/** A fault, and the run under it, if the program can meet it. */
interface Met {
  fault: Fault;
  after: Run | undefined;
}

const hasChanged = ({ verdict }: FaultGrade) => verdict === 'changed-the-store';

/** The faults of these names, in the order of the catalogue. */
function named(names: readonly string[]): Fault[] {
  const unknown = names.find((name) => !faultNames.includes(name));
  if (unknown !== undefined) throw new Error(`There is no fault ${unknown}.`);
  return catalogue.filter(({ name }) => names.includes(name));
}

/** Two runs without a fault, as one. There is no second one if the first failed. */
function toBaseline(first: Run, again: Run | undefined): Baseline {
  const { exitStatus, lastLines, tookMs, checks } = again ?? first;
  const problem = again ? problemOf(again) : problemOf(first);
  return {
    ...{ exitStatus, lastLines, tookMs, checks },
    operations: [...new Set([...first.operations, ...(again?.operations ?? [])])],
    ...(problem !== undefined && {
      problem: `${again ? 'It ran well once, but not again. ' : ''}${problem}`,
    }),
  };
}

/** Why a run without a fault is none to compare others with. */
function problemOf({ problem, exitStatus, requestCount, operations }: Run): string | undefined {
  if (problem !== undefined) return problem;
  if (exitStatus === undefined) return 'Without a fault it does not end in time.';
  if (exitStatus !== 0) return `Without a fault it ends with ${exitStatus}, not with 0.`;
  if (requestCount === 0)
    return 'It sends no request with PETSTORE_API_KEY to PETSTORE_BASE_URL, which it finds in its environment.';
  if (operations.length === 0)
    return 'None of its requests is for an operation of the API: PETSTORE_BASE_URL ends in /v1, and paths follow.';
  return undefined;
}

/** Waits for all. If one fails, the others are stopped before this throws why. */
async function allOrStop<T>(tasks: Promise<T>[], stop: AbortController, told: AbortSignal): Promise<T[]> {
  try {
    return await Promise.all(tasks);
  } catch (error) {
    stop.abort(error);
    await Promise.allSettled(tasks);
    // What was stopped may say no more than that.
    throw told.reason;
  }
}
