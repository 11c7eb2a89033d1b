import { operations } from '../../api/operations.ts';
import { minuteMs } from '../../foundation/time.ts';
import { faultNamed } from '../../lab/faults/list.ts';
import type { Fault } from '../../lab/faults/shared/fault.ts';
import { maxDelayMs } from '../../lab/lab-bounds.ts';
import { parametersOf } from '../../lab/rehearsals/compiled-rehearsal.ts';
import type { PlannedFault } from '../../lab/rehearsals/schema.ts';
import type { Place } from '../grade.ts';

/** A run under a fault. */
export interface RunPlan {
  place: Place;
  faults: PlannedFault[];
  /** How long the faults make the program wait at most. */
  waitsMs: number;
  /** How long after the end of the program a delayed request may still be processed. */
  lingersMs: number;
  /** Whether its limit lasts until the end of the minute: the run should start late in a minute. */
  isUntilMinuteEnds?: true;
}

/** What the program does without faults. */
export interface Usage {
  /** In the order of their first use. */
  operations: readonly { operation: string; uses: number }[];
  requestCount: number;
  /** The longest time that an answer took. */
  longestMs: number;
}

/** Room for the client's own backoff, at each performance. */
const backoffMs = 1_000;
/** At this rate a list of a dozen items takes a second. */
const [bytesPerSecond, slowWaitMs] = [1_000, 4_000];
const [minPerMinute, maxPerMinute] = [1, 1_000];
/** The largest `after` of a fault. */
const maxAfter = 10_000;

/**
 * The runs under a fault. A step strikes the first use of every operation in one run, a middle use and the last use in others, or each use
 * if `isThorough`. A silent fault strikes the first read and the first write, a condition holds for a whole run. If `planned` names an
 * operation or `after`, there is one run with exactly that. None if the fault fits none of the program's operations.
 */
export function plansOf(planned: PlannedFault, usage: Usage, isThorough = false): RunPlan[] {
  const fault = faultNamed(planned.fault) as Fault;
  const { operation, after } = planned;
  const fitting = operations
    .filter(({ id }) => operation === undefined || id === operation)
    .filter(fault.fits);
  const uses = usage.operations.filter((use) => fitting.some(({ id }) => id === use.operation));
  if (uses.length === 0) return [];
  const given = { ...parametersFor(fault, usage), ...planned };
  const plan = (place: Place, strikes: Strike[]) => planFor(fault, given, place, strikes);
  const isWhole = fault.isCondition || fault.scope === 'key';
  if (operation !== undefined || after !== undefined)
    return [plan(isWhole ? 'whole' : after === undefined ? 'first' : after + 1, [{}])];
  if (fault.perMinute) return usage.requestCount > minPerMinute ? [untilMinuteEnds(given, usage)] : [];
  if (fault.isCondition) return [plan('whole', [{}])];
  // A ban is for the whole key: it comes once, in the middle of the run.
  if (isWhole) return [plan('whole', [{ after: Math.min(maxAfter, Math.floor(usage.requestCount / 2)) }])];
  if (fault.isSilent) return firstOfEachKind(uses).map((use) => plan('first', [use]));
  return strikesOf(uses, isThorough).map(([place, strikes]) => plan(place, strikes));
}

/** What a fault of a run strikes. */
type Strike = Pick<PlannedFault, 'operation' | 'after'>;

/** The places where a step strikes, and its strikes there. */
function strikesOf(uses: Usage['operations'], isThorough: boolean): [Place, Strike[]][] {
  const most = Math.min(maxAfter, Math.max(...uses.map(({ uses }) => uses)));
  const at = (place: Place, least: number, afterOf: (uses: number) => number): [Place, Strike[]] => [
    place,
    uses
      .filter((use) => use.uses >= least)
      .map(({ operation, uses }) => ({ operation, after: Math.min(maxAfter, afterOf(uses)) })),
  ];
  const places = isThorough
    ? Array.from({ length: most }, (_, index) => at(index + 1, index + 1, () => index))
    : [
        at('first', 1, () => 0),
        at('middle', 3, (uses) => Math.floor(uses / 2)),
        at('last', 2, (uses) => uses - 1),
      ];
  return places.filter(([, strikes]) => strikes.length > 0);
}

/** The first use of an operation that reads, and of one that writes. */
function firstOfEachKind(uses: Usage['operations']): Strike[] {
  const reads = ({ operation }: { operation: string }) =>
    operations.find(({ id }) => id === operation)?.method === 'GET';
  const firsts = [uses.find(reads), uses.find((use) => !reads(use))];
  return firsts.flatMap((use) => (use ? [{ operation: use.operation }] : []));
}

/** Parameters that depend on the program: answers come later than it ever had to wait, and slowly. */
function parametersFor({ parameters }: Fault, { longestMs }: Usage): Partial<PlannedFault> {
  const { default: leastMs = 0 } = (parameters.delayMs ?? {}) as { default?: number };
  const delayMs = Math.min(maxDelayMs, Math.max(leastMs, Math.ceil(2 * longestMs)));
  return {
    ...('delayMs' in parameters && { delayMs }),
    ...('bytesPerSecond' in parameters && { bytesPerSecond }),
  };
}

function planFor(fault: Fault, given: PlannedFault, place: Place, strikes: Strike[]): RunPlan {
  const faults = strikes.map((strike) => ({ ...given, ...strike }));
  const parameters = Object.entries(parametersOf(fault, given));
  const inMs = (unit: string, factor: number) =>
    parameters.reduce((sum, [name, value]) => sum + (name.endsWith(unit) ? factor * Number(value) : 0), 0);
  const slowMs = 'bytesPerSecond' in fault.parameters ? slowWaitMs : 0;
  return {
    ...{ place, faults },
    waitsMs: fault.isCondition
      ? 0
      : faults.length * (inMs('Ms', 1) + inMs('Seconds', 1_000) + slowMs + backoffMs),
    lingersMs: Number(parametersOf(fault, given).delayMs ?? 0),
  };
}

/** Leaves so many requests that the program needs two minutes. */
function untilMinuteEnds(given: PlannedFault, { requestCount }: Usage): RunPlan {
  const enough = Math.ceil(requestCount * 0.6);
  const remaining = Number(given.remaining ?? Math.min(maxPerMinute, enough, requestCount - 1));
  const minutes = Math.ceil(requestCount / remaining);
  return {
    place: 'whole',
    faults: [{ ...given, remaining }],
    waitsMs: minutes * minuteMs,
    lingersMs: 0,
    isUntilMinuteEnds: true,
  };
}

/**
 * Whether a run missed a limit until the end of the minute, and may meet it the next time: on a busy machine the next minute may have begun
 * before the limit was used up.
 */
export const hasMissedMinute = (
  { isUntilMinuteEnds }: RunPlan,
  { performed, tookMs }: { performed: number; tookMs: number },
): boolean => isUntilMinuteEnds === true && performed === 0 && tookMs < minuteMs;

/** How long before the end of the minute a run should end. */
const marginMs = 2_000;

/**
 * How long to delay a run that takes `tookMs`, so that a limit until the end of the minute makes it wait for a few seconds only. Beside
 * other runs it may take twice as long.
 */
export function waitForMinuteMs(nowMs: number, tookMs: number): number {
  const neededMs = Math.min(minuteMs, 2 * tookMs + marginMs);
  const leftMs = minuteMs - (nowMs % minuteMs);
  return leftMs >= neededMs ? leftMs - neededMs : leftMs + minuteMs - neededMs;
}
