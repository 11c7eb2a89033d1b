import { minuteMs } from '../../foundation/time.ts';
import { nth } from '../../foundation/words.ts';
import type { Operation } from '../../http/operation.ts';
import type { Levels } from '../../lab/checks/report.ts';
import { faults as catalogue, faultNames } from '../../lab/faults/list.ts';
import { internalError } from '../../lab/faults/server-errors.ts';
import type { Fault } from '../../lab/faults/shared/fault.ts';
import { maxDelayMs, maxUses } from '../../lab/lab-bounds.ts';
import { parametersOf } from '../../lab/rehearsals/compiled-rehearsal.ts';
import type { PlannedFault } from '../../lab/rehearsals/schema.ts';
import type { TargetApi } from '../../lab/target-api.ts';
import type { FaultPlace } from '../grade.ts';

/** Which faults to perform, and where. */
export interface Selection {
  /** Names of faults, or faults with parameters. With `operation` or `after`, a fault is performed only there. Default: all. */
  faults?: readonly (string | PlannedFault)[] | undefined;
  /** Whether faults affect every use of an operation. Default: the first, a middle and the last use. */
  isThorough?: boolean | undefined;
  /** Whether to perform only the faults that show the most mistakes, each at the first use of every operation. */
  isQuick?: boolean | undefined;
  /** Levels of faults and checks that replace the levels of the catalogues. */
  levels?: Levels | undefined;
}

/** A fault to perform, with the parameters from the caller. */
export interface SelectedFault {
  fault: Fault;
  required: boolean;
  given: PlannedFault[];
}

/** The faults to perform, in the order of the catalogue. Throws if there is no fault of a given name. */
export function selectFaults({
  faults = faultNames,
  levels = {},
  isQuick = false,
}: Selection): SelectedFault[] {
  const all = faults.map((one): PlannedFault => (typeof one === 'string' ? { fault: one } : one));
  const unknown = all.find(({ fault }) => !faultNames.includes(fault));
  if (unknown) throw new Error(`There is no fault ${unknown.fault}.`);
  return catalogue.flatMap((fault) => {
    const given = all.filter((one) => one.fault === fault.name);
    const level = levels[fault.name] ?? fault.level;
    const isLeftOut = level === 'off' || (isQuick && !fault.isQuick);
    return given.length > 0 && !isLeftOut ? [{ fault, required: level === 'required', given }] : [];
  });
}

/** A run under a fault. */
export interface RunPlan extends Pick<SelectedFault, 'fault' | 'required'> {
  /** The name of the run, unique for every program: `lost-answer, first use`. */
  name: string;
  /** The number of this run among the runs under the same fault at the same place. */
  trial?: number;
  /** The fault with its given parameters: `retry-after-odd zero`. */
  label: string;
  place: FaultPlace;
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
  api: TargetApi;
  /** In the order of their first use. */
  operations: readonly { operation: Operation; uses: number }[];
  requestCount: number;
  /** The longest response time, without streams. */
  longestMs: number;
}

/** Time for the client's own backoff, each time that the fault is performed. */
const backoffMs = 1_000;
/** At this rate a list of a dozen items takes a second. */
const [bytesPerSecond, slowWaitMs] = [1_000, 4_000];
const [minPerMinute, maxPerMinute] = [1, 1_000];

/** More failures in a row than a client should retry. A correct client may give up. */
export const timesInARow = 25;

/**
 * Plans the runs under a selected fault:
 * - A step affects the first use of every operation in one run, and a middle use and the last use in two others. With `isThorough` there is
 *   a run for each use.
 * - Each value of a parameter with named values is tried at the first use of every operation.
 * - A silent fault affects the first read in one run, and the first write in another.
 * - `internal-error` also affects both many times in a row.
 * - A condition is active during a whole run, with each value of a parameter with named values.
 * - If a given fault has `operation` or `after`, there is one run with exactly these.
 * - If the fault fits none of the program's operations, there are no runs.
 */
export const plansOf = (selected: SelectedFault, usage: Usage, isThorough = false): RunPlan[] =>
  selected.given.flatMap((given) => plansOfGiven(selected, given, usage, isThorough));

function plansOfGiven(
  { fault, required }: SelectedFault,
  given: PlannedFault,
  usage: Usage,
  isThorough: boolean,
): RunPlan[] {
  const { operation, after } = given;
  const uses = usage.operations.filter(
    (use) =>
      (operation === undefined || use.operation.id === operation) && fault.fits(use.operation, usage.api),
  );
  if (uses.length === 0) return [];
  const [first = given, ...others] = eachValueOf(fault, given);
  const derived = derivedParameters(fault, usage);
  const plan = (place: FaultPlace, where: string, targets: FaultTarget[], given = first): RunPlan => ({
    ...{ fault, required, place, label: labelOf(given), name: labelOf(given) + where },
    faults: targets.flatMap((target) => [
      ...(fault.follows ? [{ fault: fault.follows, ...operationOf({ ...given, ...target }) }] : []),
      { ...derived, ...given, ...target },
    ]),
    ...waitsOf(fault, { ...derived, ...given }, targets.length),
  });
  const whole = (target: FaultTarget) => plan('whole', '', [target]);
  if (operation !== undefined || after !== undefined) {
    if (fault.isCondition) return [plan('whole', ` of ${operation}`, [{}])];
    return [plan(after === undefined ? 'first' : after + 1, useInWords('', given), [{}])];
  }
  if (fault.perMinute) return usage.requestCount > minPerMinute ? [untilMinuteEnds(whole({}), usage)] : [];
  if (fault.isCondition) return [first, ...others].map((given) => plan('whole', '', [{}], given));
  // A ban affects the whole key, so there is one, in the middle of the run.
  if (fault.scope === 'key') return [whole({ after: Math.min(maxUses, Math.floor(usage.requestCount / 2)) })];
  const ofEachKind = (given: PlannedFault, among = uses) =>
    firstOfEachKind(among).map(([kind, target]) => plan('first', `, first ${kind}`, [target], given));
  if (fault.isSilent) return ofEachKind(first);
  const isRepeated = fault.name === internalError.name && given.times === undefined;
  return [
    ...targetsOf(fault, uses, isThorough).map(([place, targets]) =>
      plan(place, `, ${typeof place === 'number' ? nth(place) : place} use`, targets),
    ),
    ...others.map((given) =>
      plan('first', ', first use', uses.map(firstUse), {
        ...(fault.timesOfVariants && { times: fault.timesOfVariants }),
        ...given,
      }),
    ),
    // A client may reopen a stream forever.
    ...(isRepeated ? ofEachKind({ ...first, times: timesInARow }, uses.filter(isAnswered)) : []),
  ];
}

const operationOf = ({ operation }: Partial<PlannedFault>) => (operation === undefined ? {} : { operation });

/** A fault with its given parameters: `retry-after-odd zero`, `internal-error 25 times`. */
function labelOf({ fault, operation: _, after: __, times = 1, ...given }: PlannedFault): string {
  const words = Object.entries(given).map(([name, value]) =>
    typeof value === 'string' ? value : `${name}=${value}`,
  );
  return [fault, ...words, ...(times > 1 ? [`${times} times`] : [])].join(' ');
}

/** `lost-answer at the 4th createPet` */
export const useInWords = (label: string, { operation = 'request', after = 0 }: Partial<PlannedFault>) =>
  `${label} at the ${nth(after + 1)} ${operation}`;

type Use = Usage['operations'][number];

const isAnswered = ({ operation }: Use) => operation.success.kind !== 'stream';

/** The use of an operation that a fault affects. */
type FaultTarget = Pick<PlannedFault, 'operation' | 'after'>;

const firstUse = ({ operation }: Use): FaultTarget => ({ operation: operation.id, after: 0 });

/** The fault with each value of its parameters with named values, the default first. Leaves out parameters that are given. */
const eachValueOf = ({ parameters }: Fault, given: PlannedFault): PlannedFault[] =>
  Object.entries(parameters).flatMap(([name, schema]) => {
    const { enum: values = [] } = schema as { enum?: string[] };
    return name in given ? [] : values.map((value) => ({ ...given, [name]: value }));
  });

/** The places of a step, with the uses that it affects at each place. */
function targetsOf(fault: Fault, uses: readonly Use[], isThorough: boolean): [FaultPlace, FaultTarget[]][] {
  const most = Math.min(maxUses, Math.max(...uses.map(({ uses }) => uses)));
  const at = (
    place: FaultPlace,
    least: number,
    afterOf: (uses: number) => number,
  ): [FaultPlace, FaultTarget[]] => [
    place,
    uses
      .filter((use) => use.uses >= least)
      .map(({ operation, uses }) => ({ operation: operation.id, after: Math.min(maxUses, afterOf(uses)) })),
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

/** The index of a middle use. It differs from fault to fault, so that together the faults affect many uses. */
function middleUse(fault: Fault, uses: number): number {
  const spread = (catalogue.indexOf(fault) * goldenRatio) % 1;
  return 1 + Math.floor(spread * (uses - 2));
}

/** Its multiples, modulo 1, are spread evenly, for any number of them. */
const goldenRatio = 0.618_034;

/** The first use of an operation that reads, and of one that writes. */
function firstOfEachKind(uses: readonly Use[]): [kind: string, FaultTarget][] {
  const isRead = ({ operation }: Use) => operation.method === 'GET';
  const found = { read: uses.find(isRead), write: uses.find((use) => !isRead(use)) };
  return Object.entries(found).flatMap(([kind, use]) => (use ? [[kind, firstUse(use)]] : []));
}

/** Parameters that depend on the program: the delay is twice its longest response time without faults, and the data rate is low. */
function derivedParameters({ parameters }: Fault, { longestMs }: Usage): Partial<PlannedFault> {
  const { default: leastMs = 0 } = (parameters.delayMs ?? {}) as { default?: number };
  const delayMs = Math.min(maxDelayMs, Math.max(leastMs, Math.ceil(2 * longestMs)));
  return {
    ...('delayMs' in parameters && { delayMs }),
    ...('bytesPerSecond' in parameters && { bytesPerSecond }),
  };
}

/** How long a fault with these parameters makes the program wait if it affects this many uses. */
function waitsOf(fault: Fault, given: PlannedFault, count: number) {
  const all = parametersOf(fault, given);
  const waitMs = ([name, value]: [string, unknown]) =>
    name.endsWith('Ms') ? Number(value) : name.endsWith('Seconds') ? 1_000 * Number(value) : 0;
  const slowMs = 'bytesPerSecond' in fault.parameters ? slowWaitMs : 0;
  const eachMs = Object.entries(all).reduce((sum, one) => sum + waitMs(one), slowMs + backoffMs);
  return {
    waitsMs: fault.isCondition ? 0 : count * eachMs,
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

/** Whether the next minute began before the run used up its limit, as on a busy machine. Another try may reach the limit. */
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
