import type { CardData } from '../card-schema.ts';
import type { FaultRun, Grade } from '../grade.ts';
import { gradesOfTrials } from '../verdict.ts';

/** How often an agent passed under a fault. `passHat` has the unbiased estimates C(passed, k) / C(reached, k). */
export type Passed = NonNullable<CardData['goal']>['passed'][number];

/** The name of all runs under faults together. */
export const allFaults = 'all faults';

/** How often an agent passed: without faults, under each fault that it reached, and under all faults together. Empty without a goal. */
export function passedOf({ goal, baseline, faults }: Grade): Passed[] {
  if (!goal) return [];
  const all = { fault: allFaults, runs: faults.flatMap(({ runs }) => runs) };
  return [...gradesOfTrials(baseline), ...faults, ...(faults.length > 1 ? [all] : [])]
    .map(({ fault, runs }) => passed(fault, runs, goal.trials))
    .filter(({ reached }) => reached > 0);
}

/** The name without the number of the trial, so it is the same for all trials of a plan. */
export const planNameOf = ({ name, trial }: Pick<FaultRun, 'name' | 'trial'>) =>
  trial === undefined ? name : name.slice(0, name.lastIndexOf(','));

function passed(name: string, runs: readonly FaultRun[], trials: number): Passed {
  const reached = runs.filter(({ verdict }) => verdict !== 'not-reached');
  const hasPassed = ({ verdict }: FaultRun) => verdict === 'survived';
  const places = [...Map.groupBy(reached, planNameOf).values()].map((runs) => ({
    n: runs.length,
    c: runs.filter(hasPassed).length,
  }));
  const passHat = Array.from({ length: trials }, (_, i) => {
    const chances = places.flatMap(({ n, c }) => (n > i ? chance(n, c, i + 1) : []));
    return chances.length > 0 ? [chances.reduce((sum, one) => sum + one, 0) / chances.length] : [];
  });
  return {
    ...{ name, reached: reached.length, passed: reached.filter(hasPassed).length },
    passHat: passHat.flat(),
  };
}

/** The probability that k random trials out of n, of which c passed, all passed. */
function chance(n: number, c: number, k: number): number {
  let product = 1;
  for (let i = 0; i < k; i++) product *= Math.max(0, c - i) / (n - i);
  return product;
}
