import { ApiError } from '../../errors.ts';
import { operations } from '../../operations.ts';
import type { Fault } from './fault.ts';
import { faultNamed } from './faults.ts';
import type { PlannedFault } from './schema.ts';
import { parametersOf } from './script.ts';

/** Faults with all their parameters. Throws `invalid_request` that names what does not belong together. */
export function readFaults(planned: readonly PlannedFault[]): PlannedFault[] {
  const faults = planned.map(({ fault }) => faultNamed(fault) as Fault);
  const problems = [
    ...planned.flatMap((plan, index) =>
      problemsOf(plan, faults[index] as Fault).map((problem) => `Body property faults[${index}]${problem}`),
    ),
    ...repeatedConditions(planned).map(
      (name) => `Body property faults must not have ${name} twice for an operation`,
    ),
  ];
  if (problems.length > 0) throw new ApiError('invalid_request', `${problems.join('. ')}.`);
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

/** What does not belong together in one of them, to follow its place. */
function problemsOf(plan: PlannedFault, { name, isCondition, isForAll, parameters, fits }: Fault): string[] {
  const { fault: _, operation: operationId, after, times, ...given } = plan;
  const asked = operations.find(({ id }) => id === operationId);
  const taken = Object.keys(parameters);
  return [
    ...(operationId !== undefined && isForAll
      ? [`.operation must be absent: ${name} holds for all operations alike`]
      : []),
    ...(asked && !isForAll && !fits(asked)
      ? [`.operation must be one that ${name} can touch; GET /faults lists them`]
      : []),
    ...Object.entries({ after, times })
      .filter(([, value]) => isCondition && value !== undefined)
      .map(([word]) => `.${word} must be absent: ${name} is a condition, and lasts as long as the rehearsal`),
    ...Object.keys(given)
      .filter((parameter) => !taken.includes(parameter))
      .map(
        (parameter) =>
          `.${parameter} is not a parameter of ${name}, which takes ${taken.join(', ') || 'none'}`,
      ),
  ];
}

/** The conditions that would hold twice for an operation. */
function repeatedConditions(planned: readonly PlannedFault[]): string[] {
  const byName = Map.groupBy(planned, ({ fault }) => fault);
  return [...byName].flatMap(([name, same]) => {
    const only = new Set(same.map(({ operation }) => operation));
    const isTwice = only.size < same.length || (only.has(undefined) && same.length > 1);
    return faultNamed(name)?.isCondition && isTwice ? [name] : [];
  });
}
