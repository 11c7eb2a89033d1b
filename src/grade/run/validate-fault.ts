import type { TSchema } from 'typebox';
import { faultNamed } from '../../lab/faults/list.ts';
import type { Fault } from '../../lab/faults/shared/fault.ts';
import { petstoreApi } from '../../lab/petstore/petstore-api.ts';
import { type PlannedFault, stepCounts } from '../../lab/rehearsals/schema.ts';

/** What is wrong with a fault from the user, and what is allowed, in a sentence. Undefined if it is valid. */
export function problemOf({ fault: name, ...given }: PlannedFault): string | undefined {
  const fault = faultNamed(name);
  if (!fault) return `there is no fault ${name}`;
  const taken = takenBy(fault);
  for (const [parameter, value] of Object.entries(given)) {
    const schema = taken[parameter];
    if (!schema)
      return `${name} takes no ${parameter}: it takes ${Object.keys(taken).join(', ') || 'no parameters'}`;
    const rule = ruleOf(schema);
    if (parameter === 'operation' && !rule.fits(value))
      return `${name} cannot affect ${value}, only ${(schema as Bounds).enum?.join(', ')}`;
    if (!rule.fits(value)) return `${parameter} of ${name} must be ${rule.words}, not ${value}`;
  }
  return undefined;
}

/** The schemas of the parameters that a fault takes. */
function takenBy(fault: Fault): Record<string, TSchema> {
  const { isCondition, takesNoOperation, fits, parameters } = fault;
  return {
    ...(!takesNoOperation && {
      operation: { enum: petstoreApi.operations.filter((one) => fits(one, petstoreApi)).map(({ id }) => id) },
    }),
    ...(!isCondition && stepCounts),
    ...parameters,
  };
}

interface Bounds {
  enum?: readonly unknown[];
  minimum?: number;
  maximum?: number;
}

function ruleOf(schema: TSchema): { words: string; fits(value: unknown): boolean } {
  const { enum: names, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema as Bounds;
  if (names) return { words: `one of ${names.join(', ')}`, fits: (value) => names.includes(value) };
  return {
    words: `an integer from ${minimum} to ${maximum}`,
    fits: (value) => Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum,
  };
}
