import { operations } from '../../api/operations.ts';
import { minuteMs } from '../../foundation/time.ts';
import { nth } from '../../foundation/words.ts';
import { internalError } from '../../lab/faults/internal-error.ts';
import { faultNamed, faults } from '../../lab/faults/list.ts';
import type { Fault } from '../../lab/faults/shared/fault.ts';
import { maxDelayMs } from '../../lab/lab-bounds.ts';
import { petstoreApi } from '../../lab/petstore/petstore-api.ts';
import { parametersOf } from '../../lab/rehearsals/compiled-rehearsal.ts';
import type { PlannedFault } from '../../lab/rehearsals/schema.ts';
import type { Place } from '../grade.ts';
import { labelOf, useInWords } from '../run-name.ts';

/** A run under a fault. */
export interface RunPlan {
  /** The name of the run, unique for every program: `lost-answer, first use`. */
  name: string;
  /** The fault with its chosen parameters: `retry-after-odd zero`. */
  label: string;
  place: Place;
  faults: PlannedFault[];
  /** The longest time that the faults make the program wait. */
  waitsMs: number;
  /** How long a delayed request may still be processed after the program has ended. */
  lingersMs: number;
  /** Whether its limit lasts until the end of the minute. Then the run should start late in a minute. */
  isUntilMinuteEnds?: true;
  /** Whether the program waits nearly all the time, so that by default it runs in addition to the other concurrent runs. */
  isMostlyWaiting: boolean;
}

/** What the program does without faults. */
export interface Usage {
  /** In the order of their first use. */
  operations: readonly { operation: string; uses: number }[];
  requestCount: number;
  /** The longest response time, without streams. */
  longestMs: number;
}

/** Time for the client's own backoff, each time that the fault is performed. */
const backoffMs = 1_000;
/** At this rate a list of a dozen items takes a second. */
const [bytesPerSecond, slowWaitMs] = [1_000, 4_000];
const [minPerMinute, maxPerMinute] = [1, 1_000];
/** The largest `after` of a fault. */
const maxAfter = 10_000;

/** More failures in a row than a client should retry. A correct client may give up. */
export const timesInARow = 25;

/**
 * Plans the runs under a fault:
 * - A step affects the first use of every operation in one run, and a middle use and the last use in two others. With `isThorough` there is
 *   a run for each use.
 * - Each value of a parameter with named values is tried at the first use of every operation.
 * - A silent fault affects the first read in one run, and the first write in another.
 * - `internal-error` also affects both many times in a row.
 * - A condition is active during a whole run.
 * - If `planned` has `operation` or `after`, there is one run with exactly these.
 * - If the fault fits none of the program's operations, there are no runs.
 */
export function plansOf(planned: PlannedFault, usage: Usage, isThorough = false): RunPlan[] {
  const fault = faultNamed(planned.fault) as Fault;
  const { operation, after } = planned;
  const fitting = operations
    .filter(({ id }) => operation === undefined || id === operation)
    .filter((one) => fault.fits(one, petstoreApi));
  const uses = usage.operations.filter((use) => fitting.some(({ id }) => id === use.operation));
  if (uses.length === 0) return [];
  const [chosen = planned, ...choices] = choicesOf(fault, planned);
  const plan = (place: Place, where: string, targets: FaultTarget[], given = chosen) =>
    planFor(fault, { given, derived: parametersFor(fault, usage), place, where, targets });
  const whole = (target: FaultTarget) => plan('whole', '', [target]);
  if (operation !== undefined || after !== undefined) {
    if (fault.isCondition) return [plan('whole', ` of ${operation}`, [{}])];
    return [plan(after === undefined ? 'first' : after + 1, useInWords('', planned), [{}])];
  }
  if (fault.perMinute) return usage.requestCount > minPerMinute ? [untilMinuteEnds(whole({}), usage)] : [];
  if (fault.isCondition) return [whole({})];
  // A ban affects the whole key, so there is one, in the middle of the run.
  if (fault.scope === 'key')
    return [whole({ after: Math.min(maxAfter, Math.floor(usage.requestCount / 2)) })];
  const ofEachKind = (given: PlannedFault, among = uses) =>
    firstOfEachKind(among).map(([kind, target]) => plan('first', `, first ${kind}`, [target], given));
  if (fault.isSilent) return ofEachKind(chosen);
  const isRepeated = fault.name === internalError.name && planned.times === undefined;
  return [
    ...targetsOf(fault, uses, isThorough).map(([place, targets]) =>
      plan(place, `, ${typeof place === 'number' ? nth(place) : place} use`, targets),
    ),
    ...choices.map((given) => plan('first', ', first use', uses.map(firstUse), given)),
    // A client may reopen a stream forever.
    ...(isRepeated ? ofEachKind({ ...chosen, times: timesInARow }, uses.filter(isAnswered)) : []),
  ];
}

const isAnswered = (use: { operation: string }) =>
  operations.find(({ id }) => id === use.operation)?.success.kind !== 'stream';

/** The use of an operation that a fault affects. */
type FaultTarget = Pick<PlannedFault, 'operation' | 'after'>;

const firstUse = ({ operation }: { operation: string }): FaultTarget => ({ operation, after: 0 });

/** The fault with each value of its parameters with named values, the default first. Leaves out parameters that `planned` already has. */
function choicesOf({ parameters }: Fault, planned: PlannedFault): PlannedFault[] {
  return Object.entries(parameters).flatMap(([name, schema]) => {
    const { enum: values = [] } = schema as { enum?: string[] };
    return name in planned ? [] : values.map((value) => ({ ...planned, [name]: value }));
  });
}

/** The places of a step, with the uses that it affects at each place. */
function targetsOf(fault: Fault, uses: Usage['operations'], isThorough: boolean): [Place, FaultTarget[]][] {
  const most = Math.min(maxAfter, Math.max(...uses.map(({ uses }) => uses)));
  const at = (place: Place, least: number, afterOf: (uses: number) => number): [Place, FaultTarget[]] => [
    place,
    uses
      .filter((use) => use.uses >= least)
      .map(({ operation, uses }) => ({ operation, after: Math.min(maxAfter, afterOf(uses)) })),
  ];
  const places = isThorough
    ? Array.from({ length: most }, (_, index) => at(index + 1, index + 1, () => index))
    : [
        at('first', 1, () => 0),
        at('middle', 3, (uses) => middleUse(fault, uses)),
        at('last', 2, (uses) => uses - 1),
      ];
  return places.filter(([, targets]) => targets.length > 0);
}

/**
 * The index of a use that is neither the first nor the last. It differs from fault to fault, so that together the faults affect many uses.
 */
function middleUse(fault: Fault, uses: number): number {
  const spread = (faults.indexOf(fault) * goldenRatio) % 1;
  return 1 + Math.floor(spread * (uses - 2));
}

/** Its multiples, modulo 1, are spread evenly, for any number of them. */
const goldenRatio = 0.618_034;

/** The first use of an operation that reads, and of one that writes. */
function firstOfEachKind(uses: Usage['operations']): ['read' | 'write', FaultTarget][] {
  const isRead = ({ operation }: { operation: string }) =>
    operations.find(({ id }) => id === operation)?.method === 'GET';
  const [read, write] = [uses.find(isRead), uses.find((use) => !isRead(use))];
  return [
    ...(read ? [['read', firstUse(read)] as ['read', FaultTarget]] : []),
    ...(write ? [['write', firstUse(write)] as ['write', FaultTarget]] : []),
  ];
}

/** Parameters that depend on the program: the delay is twice its longest response time without faults, and the data rate is low. */
function parametersFor({ parameters }: Fault, { longestMs }: Usage): Partial<PlannedFault> {
  const { default: leastMs = 0 } = (parameters.delayMs ?? {}) as { default?: number };
  const delayMs = Math.min(maxDelayMs, Math.max(leastMs, Math.ceil(2 * longestMs)));
  return {
    ...('delayMs' in parameters && { delayMs }),
    ...('bytesPerSecond' in parameters && { bytesPerSecond }),
  };
}

interface Planned {
  /** The fault with the parameters chosen by the user or for this run. */
  given: PlannedFault;
  /** Parameters that are derived from the requests of the program. */
  derived: Partial<PlannedFault>;
  place: Place;
  /** The end of its name. */
  where: string;
  targets: FaultTarget[];
}

function planFor(fault: Fault, { given, derived, place, where, targets }: Planned): RunPlan {
  const faults = targets.map((target) => ({ ...derived, ...given, ...target }));
  const all = parametersOf(fault, { ...derived, ...given });
  const inMs = (unit: string, factor: number) =>
    Object.entries(all).reduce(
      (sum, [name, value]) => sum + (name.endsWith(unit) ? factor * Number(value) : 0),
      0,
    );
  const slowMs = 'bytesPerSecond' in fault.parameters ? slowWaitMs : 0;
  const label = labelOf(given);
  return {
    ...{ name: label + where, label, place, faults },
    waitsMs: fault.isCondition
      ? 0
      : faults.length * (inMs('Ms', 1) + inMs('Seconds', 1_000) + slowMs + backoffMs),
    lingersMs: Number(all.delayMs ?? 0),
    isMostlyWaiting: fault.isSilent === true || given.times === timesInARow,
  };
}

/** Sets the limit so that the program needs two minutes. */
function untilMinuteEnds(plan: RunPlan, { requestCount }: Usage): RunPlan {
  const enough = Math.ceil(requestCount * 0.6);
  const faults = plan.faults.map((fault) => ({
    ...fault,
    remaining: Number(fault.remaining ?? Math.min(maxPerMinute, enough, requestCount - 1)),
  }));
  const minutes = Math.ceil(requestCount / Number(faults[0]?.remaining));
  return { ...plan, faults, waitsMs: minutes * minuteMs, isUntilMinuteEnds: true };
}

/**
 * Whether a run did not reach a limit that lasts until the end of the minute, and another try may reach it. On a busy machine the next
 * minute may begin before the limit is used up.
 */
export const hasMissedMinute = (
  { isUntilMinuteEnds }: RunPlan,
  { performed, tookMs }: { performed: number; tookMs: number },
): boolean => isUntilMinuteEnds === true && performed === 0 && tookMs < minuteMs;

/** How long before the end of the minute a run should end. */
const marginMs = 2_000;

/**
 * How long to delay a run that takes `tookMs`, so that a limit until the end of the minute makes it wait for a few seconds only. When
 * other runs run at the same time, it may take twice as long.
 */
export function waitForMinuteMs(nowMs: number, tookMs: number): number {
  const neededMs = Math.min(minuteMs, 2 * tookMs + marginMs);
  const leftMs = minuteMs - (nowMs % minuteMs);
  return leftMs >= neededMs ? leftMs - neededMs : leftMs + minuteMs - neededMs;
}
