import { bodyProperty, invalidRequest, type Problem } from '../../foundation/errors.ts';
import { faultNamed } from '../faults/list.ts';
import type { Fault } from '../faults/shared/fault.ts';
import type { TargetApi } from '../target-api.ts';
import { parametersOf } from './compiled-rehearsal.ts';
import type { PlannedFault } from './schema.ts';

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

/** Problems of one fault. */
function problemsOf(
  plan: PlannedFault,
  { name, isCondition, takesNoOperation, parameters, fits }: Fault,
  index: number,
  api: TargetApi,
): Problem[] {
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

/** Conditions that would apply twice to an operation. */
function repeatedConditions(planned: readonly PlannedFault[]): string[] {
  const byName = Map.groupBy(planned, ({ fault }) => fault);
  return [...byName].flatMap(([name, same]) => {
    const only = new Set(same.map(({ operation }) => operation));
    const isTwice = only.size < same.length || (only.has(undefined) && same.length > 1);
    return faultNamed(name)?.isCondition && isTwice ? [name] : [];
  });
}
