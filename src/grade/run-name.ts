import { nth } from '../foundation/words.ts';
import type { PlannedFault } from '../lab/rehearsals/schema.ts';

/** The name of the runs without faults. */
export const withoutFaults = 'without faults';

/** A fault with its chosen parameters: `retry-after-odd zero`, `internal-error 25 times`. */
export function labelOf({ fault, operation: _, after: __, times = 1, ...chosen }: PlannedFault): string {
  const words = Object.entries(chosen).map(([name, value]) =>
    typeof value === 'string' ? value : `${name}=${value}`,
  );
  return [fault, ...words, ...(times > 1 ? [`${times} times`] : [])].join(' ');
}

/** `lost-answer at the 4th createPet` */
export const useInWords = (label: string, { operation = 'request', after = 0 }: Partial<PlannedFault>) =>
  `${label} at the ${nth(after + 1)} ${operation}`;

/** The value of `--fault` for a fault. */
export function selectorOf({ fault, ...parameters }: PlannedFault): string {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  return pairs.length > 0 ? `${fault}:${pairs.join(',')}` : fault;
}
