import type { ApiError } from '../foundation/errors.ts';
import { problemOf } from '../foundation/problem.ts';
import { jsonText } from './json.ts';
import { weightsIn } from './weights.ts';

export const jsonType = 'application/json; charset=utf-8';
const problemType = 'application/problem+json';

/** The text of an error and its media type, chosen by the `Accept` of the client. The page of the error is below `pages`. */
export const errorContent = (error: ApiError, accept: string | undefined, pages: string) =>
  prefersProblem(accept)
    ? { type: problemType, text: jsonText(problemOf(error, pages)) }
    : { type: jsonType, text: jsonText(error.body) };

/**
 * Whether a client prefers a problem to an Error object (RFC 9110, section 12.5.1). If the weights are equal, the more specific range wins.
 * If both are equally specific, the client gets the Error object: clients that were generated from the description accept both types.
 */
function prefersProblem(accept: string | undefined): boolean {
  const weights = weightsIn(accept);
  const problem = matchOf(problemType, weights);
  const plain = matchOf('application/json', weights);
  if (problem.weight !== plain.weight) return problem.weight > plain.weight;
  return problem.weight > 0 && problem.index < plain.index;
}

/** The weight of the most specific range for a type, and the index of that range: 0 is the most specific. */
function matchOf(type: string, weights: ReadonlyMap<string, number>): { weight: number; index: number } {
  const ranges = [type, 'application/*', '*/*'];
  const index = ranges.findIndex((range) => weights.has(range));
  return { weight: weights.get(ranges[index] ?? '') ?? 0, index };
}
