import type { Levels } from '../../lab/checks/report.ts';
import { faults as catalogue, faultNames } from '../../lab/faults/list.ts';
import type { Fault } from '../../lab/faults/shared/fault.ts';
import type { PlannedFault } from '../../lab/rehearsals/schema.ts';
import { plansOf, type RunPlan, type Usage } from './plan.ts';

/** Which faults a program shall meet, and where. */
export interface Selection {
  /** Names of faults, or faults with parameters. One with `operation` or `after` is performed exactly so. Default: all. */
  faults?: readonly (string | PlannedFault)[] | undefined;
  /** Whether faults affect every use of an operation. Default: the first, a middle and the last. */
  isThorough?: boolean | undefined;
  /** Levels of faults and checks, in place of those of the catalogues. */
  levels?: Levels | undefined;
}

/** A fault to perform, with what the caller gave. */
export interface AskedFault {
  fault: Fault;
  required: boolean;
  given: PlannedFault[];
}

/** The faults to perform, in the order of the catalogue. */
export function askedFaults({ faults = faultNames, levels = {} }: Selection): AskedFault[] {
  const asked = faults.map((one): PlannedFault => (typeof one === 'string' ? { fault: one } : one));
  const unknown = asked.find(({ fault }) => !faultNames.includes(fault));
  if (unknown) throw new Error(`There is no fault ${unknown.fault}.`);
  return catalogue.flatMap((fault) => {
    const given = asked.filter((one) => one.fault === fault.name);
    const level = levels[fault.name] ?? fault.level;
    return given.length > 0 && level !== 'off' ? [{ fault, required: level === 'required', given }] : [];
  });
}

/** A run under a fault that was asked for. */
export interface PlannedRun {
  fault: Fault;
  required: boolean;
  plan: RunPlan;
}

/** The runs under some faults, by what the program uses. */
export const plannedRuns = (asked: readonly AskedFault[], usage: Usage, isThorough?: boolean): PlannedRun[] =>
  asked.flatMap(({ fault, required, given }) =>
    given.flatMap((one) => plansOf(one, usage, isThorough)).map((plan) => ({ fault, required, plan })),
  );
