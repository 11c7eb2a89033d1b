import type { FastifyRequest } from 'fastify';
import type { Operation } from '../../operation.ts';
import type { Fault, Parameters, Tools } from './fault.ts';
import { faultNamed } from './faults.ts';
import type { Step } from './progress.ts';
import type { PlannedFault } from './schema.ts';

/** A rehearsal as requests of its key meet it. It does not change. */
export interface Script {
  id: string;
  workspaceId: number;
  expiresAtMs: number;
  faults: readonly ScriptedFault[];
  steps: readonly Step[];
}

export interface ScriptedFault {
  /** Undefined if another version of the service planned it, and this one does not know it. */
  fault: Fault | undefined;
  /** The only operation that it is for. */
  operation: string | undefined;
  parameters: Parameters;
}

/** What a script has for a request: numbers of its faults. */
export interface Plan {
  /** Those that can be performed on the request. */
  eligible: ReadonlySet<number>;
  /** The conditions among them, but for that on limits. */
  conditions: readonly number[];
  /** Whether its progress has to be looked at. */
  isCounted: boolean;
}

/** The script of a rehearsal with these faults. */
export function toScript(
  { id, workspaceId, expiresAtMs }: Pick<Script, 'id' | 'workspaceId' | 'expiresAtMs'>,
  planned: readonly PlannedFault[],
): Script {
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
      ...(fault?.isLate && { isLate: true }),
      ...(fault?.perMinute && { perMinute: fault.perMinute(parameters) }),
    };
  });
  return { id, workspaceId, expiresAtMs, faults, steps };
}

/** All parameters of a fault, with defaults for those that were not given. */
export const parametersOf = ({ parameters }: Fault, given: Partial<PlannedFault>): Parameters =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, schema]) => [
      name,
      Number(given[name] ?? (schema as { default?: number }).default),
    ]),
  );

/** What a script has for a request. Undefined if nothing in it can concern the request. */
export function planFor(
  { faults, steps }: Script,
  operation: Operation,
  request: FastifyRequest,
  tools: Tools,
): Plan | undefined {
  const concerning = [...faults.keys()].filter((index) => {
    const { fault, operation: only } = faults[index] as ScriptedFault;
    return (only === undefined || only === operation.id) && fault?.fits(operation);
  });
  const mayBeHeld = steps.some(({ scope, holdMs }) => scope === 'key' && holdMs > 0);
  if (concerning.length === 0 && !mayBeHeld) return undefined;
  const named = (index: number) => faults[index]?.fault as Fault;
  const isRefused = concerning.some((index) => named(index).refusesAll);
  // What is refused by a condition comes to no step.
  const eligible = concerning.filter(
    (index) => (named(index).isCondition || !isRefused) && (named(index).canTouch?.(request, tools) ?? true),
  );
  return {
    eligible: new Set(eligible),
    conditions: eligible.filter((index) => named(index).isCondition && !named(index).perMinute),
    isCounted: mayBeHeld || concerning.some((index) => !named(index).isCondition || named(index).perMinute),
  };
}
