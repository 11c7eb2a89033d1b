import type { ApiError } from '../foundation/errors.ts';
import { problemOf } from '../foundation/problem.ts';
import { jsonText } from './json.ts';
import { weightsIn } from './weights.ts';

export const jsonType = 'application/json; charset=utf-8';
const problemType = 'application/problem+json';

/** The text of an error and its media type, as a client that sends this `Accept` prefers it. Its page is below `pages`. */
export const errorContent = (error: ApiError, accept: string | undefined, pages: string) =>
  prefersProblem(accept)
    ? { type: problemType, text: jsonText(problemOf(error, pages)) }
    : { type: jsonType, text: jsonText(error.body) };

/**
 * Whether a client prefers a problem to an Error object (RFC 9110, section 12.5.1). Of equal weights the range that names its type more
 * exactly decides, then the Error object: clients made from the description name both types.
 */
function prefersProblem(accept: string | undefined): boolean {
  const weights = weightsIn(accept);
  const problem = matchOf(problemType, weights);
  const plain = matchOf('application/json', weights);
  if (problem.weight !== plain.weight) return problem.weight > plain.weight;
  return problem.weight > 0 && problem.index < plain.index;
}

/** The weight of the range that names a type most exactly; the smaller the index, the more exactly. */
function matchOf(type: string, weights: ReadonlyMap<string, number>): { weight: number; index: number } {
  const ranges = [type, 'application/*', '*/*'];
  const index = ranges.findIndex((range) => weights.has(range));
  return { weight: weights.get(ranges[index] ?? '') ?? 0, index };
}
