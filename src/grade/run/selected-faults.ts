import type { Levels } from '../../lab/checks/report.ts';
import { faults as catalogue, faultNames } from '../../lab/faults/list.ts';
import type { Fault } from '../../lab/faults/shared/fault.ts';
import type { PlannedFault } from '../../lab/rehearsals/schema.ts';
import { plansOf, type RunPlan, type Usage } from './plan.ts';

/** Which faults to perform, and where. */
export interface Selection {
  /** Names of faults, or faults with parameters. With `operation` or `after`, a fault is performed only there. Default: all. */
  faults?: readonly (string | PlannedFault)[] | undefined;
  /** Whether faults affect every use of an operation. Default: the first, a middle and the last use. */
  isThorough?: boolean | undefined;
  /** Levels of faults and checks that replace the levels of the catalogues. */
  levels?: Levels | undefined;
}

/** A fault to perform, with the parameters from the caller. */
export interface SelectedFault {
  fault: Fault;
  required: boolean;
  given: PlannedFault[];
}

/** The faults to perform, in the order of the catalogue. */
export function selectFaults({ faults = faultNames, levels = {} }: Selection): SelectedFault[] {
  const selected = faults.map((one): PlannedFault => (typeof one === 'string' ? { fault: one } : one));
  const unknown = selected.find(({ fault }) => !faultNames.includes(fault));
  if (unknown) throw new Error(`There is no fault ${unknown.fault}.`);
  return catalogue.flatMap((fault) => {
    const given = selected.filter((one) => one.fault === fault.name);
    const level = levels[fault.name] ?? fault.level;
    return given.length > 0 && level !== 'off' ? [{ fault, required: level === 'required', given }] : [];
  });
}

/** A run under a selected fault. */
export interface PlannedRun {
  fault: Fault;
  required: boolean;
  plan: RunPlan;
}

/** The runs under the selected faults, for the operations that the program uses. */
export const plannedRuns = (
  selected: readonly SelectedFault[],
  usage: Usage,
  isThorough?: boolean,
): PlannedRun[] =>
  selected.flatMap(({ fault, required, given }) =>
    given.flatMap((one) => plansOf(one, usage, isThorough)).map((plan) => ({ fault, required, plan })),
  );
