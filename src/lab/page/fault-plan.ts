import type { LabTypes } from '../../client/index.ts';

export type CatalogueFault = LabTypes.FaultList[number];

/** A planned fault. The catalogue has the names of faults, operations and parameters. */
export interface FaultInPlan {
  fault: string;
  operation?: string;
  [parameter: string]: number | string | undefined;
}

/** A planned fault with its counts. */
export interface FaultWithCounts extends FaultInPlan {
  performed: number;
  remaining?: number;
  repeated?: number;
}

/** A rehearsal, as the lab returns it. */
export type RehearsalRun = Omit<LabTypes.Rehearsal, 'faults'> & { faults: FaultWithCounts[] };

/** A number that the user may choose for a fault, or one of some values, of which the first is the default. */
export type FaultSetting = CatalogueFault['parameters'][number];

/** The inputs of a fault: `operation`, and the settings by their names. */
export type Draft = Readonly<Record<string, string>>;

const counted: FaultSetting[] = [
  { name: 'times', description: 'How often it is performed.', minimum: 1, default: 1 },
  { name: 'after', description: 'How many requests pass before the fault.', minimum: 0, default: 0 },
];

/** Steps are counted. A condition lasts as long as it is on. */
export const settingsOf = ({ kind, parameters }: CatalogueFault): FaultSetting[] =>
  kind === 'step' ? [...parameters, ...counted] : parameters;

/** The inputs of a fault, planned or not. */
export function draftOf(fault: CatalogueFault, plan?: FaultInPlan): Draft {
  const values = settingsOf(fault).map((setting) => [
    setting.name,
    String(plan?.[setting.name] ?? setting.values?.[0] ?? setting.default),
  ]);
  return { operation: plan?.operation ?? '', ...Object.fromEntries(values) };
}

/** The fault that the inputs describe. The service has a default for each empty input. */
export function planOf(fault: CatalogueFault, draft: Draft): FaultInPlan {
  const plan: FaultInPlan = { fault: fault.name };
  if (draft.operation) plan.operation = draft.operation;
  for (const { name, values } of settingsOf(fault))
    if (draft[name]) plan[name] = values ? draft[name] : Number(draft[name]);
  return plan;
}

/** The same fault for another rehearsal. `remaining` is a parameter of some faults, and a count of others. */
export function plannedAgain(rehearsed: FaultWithCounts, catalogue: readonly CatalogueFault[]): FaultInPlan {
  const fault = catalogue.find(({ name }) => name === rehearsed.fault);
  return fault ? planOf(fault, draftOf(fault, rehearsed)) : { fault: rehearsed.fault };
}

/** How often a step will still be performed; undefined for a condition. */
export const leftOf = (rehearsed: FaultWithCounts, fault: CatalogueFault | undefined): number | undefined =>
  fault?.kind === 'step' ? rehearsed.remaining : undefined;

/** The planned fault that an error message names as `faults[n]`. */
export function blamed(message: string, plan: readonly FaultInPlan[]): string | undefined {
  const index = /\bfaults\[(\d+)\]/.exec(message)?.[1];
  return index === undefined ? undefined : plan[Number(index)]?.fault;
}
