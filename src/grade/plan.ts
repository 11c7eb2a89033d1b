import type { Fault } from '../lab/rehearsals/fault.ts';
import type { PlannedFault } from '../lab/rehearsals/schema.ts';
import { parametersOf } from '../lab/rehearsals/script.ts';
import { minuteMs } from '../limits/decision.ts';
import { operations } from '../operations.ts';

/** How a program is to meet a fault. */
export interface FaultPlan {
  faults: PlannedFault[];
  /** What it takes at most, besides what the program takes by itself. */
  waitsMs: number;
  /** What it holds back may still be done so long after the program has ended. */
  lingersMs: number;
  /** Whether a limit holds until the minute ends, so that the run had better begin late in one. */
  isUntilMinuteEnds?: true;
}

/** What a plan depends on: what the program did without faults. */
interface Seen {
  operations: readonly string[];
  /** How many requests it sent. */
  requestCount: number;
}

/** A time to wait for each performance, with room for what a client adds to it. */
const stepWaitMs = 2_000;
/** With it, a list of a dozen things takes a second. */
const slowly = { bytesPerSecond: 1_000 };
const slowWaitMs = 5_000;
const [minPerMinute, maxPerMinute] = [1, 1_000];
/** So many requests pass before a fault at most. */
const maxAfter = 10_000;

/**
 * The plan of a fault: at the first request of each operation that the program used, or, of a condition, for the whole run. Undefined
 * if it gave no occasion to the fault.
 */
export function planOf(fault: Fault, { operations: used, requestCount }: Seen): FaultPlan | undefined {
  const { name, isCondition, scope, fits } = fault;
  const touched = operations.filter((operation) => used.includes(operation.id) && fits(operation));
  if (touched.length === 0) return undefined;
  if (fault.perMinute) return requestCount > minPerMinute ? untilMinuteEnds(name, requestCount) : undefined;
  if (isCondition) return { faults: [{ fault: name }], waitsMs: 0, lingersMs: 0 };
  // A ban is of the whole key: it comes once, in the middle, where most is at stake.
  if (scope === 'key') {
    const after = Math.min(maxAfter, Math.floor(requestCount / 2));
    return { faults: [{ fault: name, after }], waitsMs: stepWaitMs, lingersMs: 0 };
  }
  const isSlow = Object.keys(slowly).every((parameter) => parameter in fault.parameters);
  return {
    faults: touched.map(({ id }) => ({ fault: name, operation: id, ...(isSlow && slowly) })),
    waitsMs: touched.length * (isSlow ? slowWaitMs : stepWaitMs),
    lingersMs: parametersOf(fault, {}).delayMs ?? 0,
  };
}

/** So many requests a minute that the program needs two minutes, if it may. */
function untilMinuteEnds(fault: string, requestCount: number): FaultPlan {
  const enough = Math.ceil(requestCount * 0.6);
  const remaining = Math.min(maxPerMinute, enough, requestCount - 1);
  const minutes = Math.ceil(requestCount / remaining);
  return {
    faults: [{ fault, remaining }],
    waitsMs: minutes * minuteMs,
    lingersMs: 0,
    isUntilMinuteEnds: true,
  };
}

/**
 * Whether a run has missed a limit that holds until the minute ends, and may meet it the next time: it took longer than was foreseen, as
 * on a busy machine, so the next minute began before nothing was left.
 */
export const hasMissedMinute = (
  { isUntilMinuteEnds }: FaultPlan,
  { performed, tookMs }: { performed: number; tookMs: number },
): boolean => isUntilMinuteEnds === true && performed === 0 && tookMs < minuteMs;

/** What begins in a minute should end so long before it ends. */
const sparedMs = 2_000;

/**
 * How long to wait with a run that takes so long, so that a limit that holds until the minute ends holds it up for a few seconds alone.
 * Others run beside it, so it may take twice as long.
 */
export function waitForMinuteMs(nowMs: number, tookMs: number): number {
  const neededMs = Math.min(minuteMs, 2 * tookMs + sparedMs);
  const leftMs = minuteMs - (nowMs % minuteMs);
  return leftMs >= neededMs ? leftMs - neededMs : leftMs + minuteMs - neededMs;
}
