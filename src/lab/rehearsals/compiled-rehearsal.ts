import type { FastifyRequest } from 'fastify';
import { bodyProperty, invalidRequest, type ValueProblem } from '../../foundation/errors.ts';
import type { Operation } from '../../http/operation.ts';
import { faultNamed } from '../faults/list.ts';
import type { Fault, FaultServices, Parameters } from '../faults/shared/fault.ts';
import type { TargetApi } from '../target-api.ts';
import type { Step } from './progress.ts';
import type { PlannedFault } from './schema.ts';

/** A rehearsal, prepared for the requests of its key. It never changes. */
export interface CompiledRehearsal {
  id: string;
  workspaceId: number;
  expiresAtMs: number;
  faults: readonly CompiledFault[];
  steps: readonly Step[];
}

export interface CompiledFault {
  /** Undefined if another version of the service stored a fault that this one does not know. */
  fault: Fault | undefined;
  /** The only operation it applies to; undefined for all that it fits. */
  operation: string | undefined;
  parameters: Parameters;
}

/** The faults of a rehearsal that apply to a request, as indexes. */
export interface ApplicableFaults {
  /** The faults that can be performed on the request. */
  eligible: ReadonlySet<number>;
  /** The conditions among them, without `near-limit`. */
  conditions: readonly number[];
  /** Whether the response depends on the progress of the rehearsal. */
  isCounted: boolean;
}

export function compileRehearsal(
  { id, workspaceId, expiresAtMs }: Pick<CompiledRehearsal, 'id' | 'workspaceId' | 'expiresAtMs'>,
  planned: readonly PlannedFault[],
): CompiledRehearsal {
  const faults = planned.map((plan) => {
    const fault = faultNamed(plan.fault);
    return { fault, operation: plan.operation, parameters: fault ? parametersOf(fault, plan) : {} };
  });
  const steps = faults.map(({ fault, parameters }, index) => {
    const { after = 0, times = 1 } = planned[index] as PlannedFault;
    return {
      after,
      times: fault?.isCondition ? undefined : times,
      scope: fault?.scope ?? 'operation',
      holdMs: fault?.holdMs?.(parameters) ?? 0,
      ...(fault?.actsAfterValidation && { actsAfterValidation: true }),
      ...(fault?.perMinute && { perMinute: fault.perMinute(parameters) }),
    };
  });
  return { id, workspaceId, expiresAtMs, faults, steps };
}

/** All parameters of a fault, with defaults for those that are not given. */
export const parametersOf = ({ parameters }: Fault, given: Partial<PlannedFault>): Parameters =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, schema]) => [
      name,
      given[name] ?? (schema as { default: number | string }).default,
    ]),
  );

/** Finds the faults that apply to a request. Returns undefined if the rehearsal cannot affect it. */
export function applicableFaults(
  { faults, steps }: CompiledRehearsal,
  operation: Operation,
  request: FastifyRequest,
  services: FaultServices,
): ApplicableFaults | undefined {
  const fitting = [...faults.keys()].filter((index) => {
    const { fault, operation: only } = faults[index] as CompiledFault;
    return (only === undefined || only === operation.id) && fault?.fits(operation, services.api);
  });
  const mayBeHeld = steps.some(({ scope, holdMs }) => scope === 'key' && holdMs > 0);
  if (fitting.length === 0 && !mayBeHeld) return undefined;
  const faultAt = (index: number) => faults[index]?.fault as Fault;
  const isRefused = fitting.some((index) => faultAt(index).refusesAll);
  // A step never gets requests that a condition refuses.
  const eligible = fitting.filter(
    (index) => (faultAt(index).isCondition || !isRefused) && faultAt(index).canTouch(request, services),
  );
  return {
    eligible: new Set(eligible),
    conditions: eligible.filter((index) => faultAt(index).isCondition && !faultAt(index).perMinute),
    isCounted: mayBeHeld || fitting.some((index) => !faultAt(index).isCondition || faultAt(index).perMinute),
  };
}

/** Adds the defaults of all parameters. Throws `invalid_request`, which names every property that does not fit its fault. */
export function validateFaults(planned: readonly PlannedFault[], api: TargetApi): PlannedFault[] {
  const faults = planned.map(({ fault }) => faultNamed(fault) as Fault);
  const problems = [
    ...planned.flatMap((plan, index) => problemsOf(plan, faults[index] as Fault, index, api)),
    ...repeatedConditions(planned).map((name) => ({
      ...bodyProperty('faults'),
      detail: `must not have ${name} twice for an operation`,
    })),
  ];
  if (problems.length > 0) throw invalidRequest(problems);
  return planned.map((plan, index) => {
    const fault = faults[index] as Fault;
    const { operation, after, times = 1 } = plan;
    return {
      fault: fault.name,
      ...(operation !== undefined && { operation }),
      ...(after !== undefined && { after }),
      ...(!fault.isCondition && { times }),
      ...parametersOf(fault, plan),
    };
  });
}

function problemsOf(
  plan: PlannedFault,
  { name, isCondition, takesNoOperation, parameters, fits }: Fault,
  index: number,
  api: TargetApi,
): ValueProblem[] {
  const { fault: _, operation: operationId, after, times, ...given } = plan;
  const asked = api.operations.find(({ id }) => id === operationId);
  const taken = Object.keys(parameters);
  const problem = (property: string, detail: string) => ({
    ...bodyProperty('faults', index, property),
    detail,
  });
  return [
    ...(operationId !== undefined && takesNoOperation
      ? [problem('operation', `must be absent: ${name} applies to all operations`)]
      : []),
    ...(asked && !takesNoOperation && !fits(asked, api)
      ? [problem('operation', `must be one that ${name} can affect; GET /faults lists them`)]
      : []),
    ...Object.entries({ after, times })
      .filter(([, value]) => isCondition && value !== undefined)
      .map(([word]) =>
        problem(word, `must be absent: ${name} is a condition, and lasts as long as the rehearsal`),
      ),
    ...Object.keys(given)
      .filter((parameter) => !taken.includes(parameter))
      .map((parameter) =>
        problem(parameter, `is not a parameter of ${name}, which takes ${taken.join(', ') || 'none'}`),
      ),
  ];
}

function repeatedConditions(planned: readonly PlannedFault[]): string[] {
  const byName = Map.groupBy(planned, ({ fault }) => fault);
  return [...byName].flatMap(([name, same]) => {
    const only = new Set(same.map(({ operation }) => operation));
    const isTwice = only.size < same.length || (only.has(undefined) && same.length > 1);
    return faultNamed(name)?.isCondition && isTwice ? [name] : [];
  });
}
