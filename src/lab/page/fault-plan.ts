import type { Fault, PlannedFault, RehearsedFault } from './types.ts';

export type { Fault, PlannedFault, RehearsedFault };

/** A number that may be chosen for a fault. */
export interface Setting {
  name: string;
  description: string;
  minimum: number;
  maximum?: number | undefined;
  default: number;
}

/** What is entered for a fault, by the name of the setting, and `operation`. */
export type Draft = Readonly<Record<string, string>>;

const counted: Setting[] = [
  { name: 'times', description: 'How often it is performed.', minimum: 1, default: 1 },
  { name: 'after', description: 'How many requests pass first.', minimum: 0, default: 0 },
];

/** Only steps are counted: a condition holds as long as it is on. */
export const settingsOf = ({ kind, parameters }: Fault): Setting[] =>
  kind === 'step' ? [...parameters, ...counted] : parameters;

/** What stands in the inputs of a fault that was planned so, or not yet. */
export function draftOf(fault: Fault, plan?: PlannedFault): Draft {
  const numbers = settingsOf(fault).map((setting) => [
    setting.name,
    String(plan?.[setting.name] ?? setting.default),
  ]);
  return { operation: plan?.operation ?? '', ...Object.fromEntries(numbers) };
}

/** The fault as it was entered. What is left empty is up to the service. */
export function planOf(fault: Fault, draft: Draft): PlannedFault {
  const plan: PlannedFault = { fault: fault.name };
  if (draft.operation) plan.operation = draft.operation;
  for (const { name } of settingsOf(fault)) if (draft[name]) plan[name] = Number(draft[name]);
  return plan;
}

/** The same fault for another rehearsal. `remaining` may be a parameter, or what was left. */
export function plannedAgain(rehearsed: RehearsedFault, catalogue: readonly Fault[]): PlannedFault {
  const fault = catalogue.find(({ name }) => name === rehearsed.fault);
  return fault ? planOf(fault, draftOf(fault, rehearsed)) : { fault: rehearsed.fault };
}

/** How often it will still be performed. Of a condition nobody knows. */
export const leftOf = (rehearsed: RehearsedFault, fault: Fault | undefined): number | undefined =>
  fault?.kind === 'step' ? rehearsed.remaining : undefined;

/** The first sentence of a text, and the others. */
export function firstSentence(text: string): [first: string, others: string] {
  const end = text.search(/(?<=\.)\s+(?=[A-Z`])/);
  return end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end).trim()];
}

/** Which of the planned faults a message of the service speaks of, if it says so. */
export function blamed(message: string, plan: readonly PlannedFault[]): string | undefined {
  const index = /\bfaults\[(\d+)\]/.exec(message)?.[1];
  return index === undefined ? undefined : plan[Number(index)]?.fault;
}
