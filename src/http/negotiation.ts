import { type ApiError, problemDetailsOf } from '../foundation/errors.ts';
import { jsonText } from './json.ts';

/** The codings in which a text is sent, the best first. */
export const codings = ['br', 'gzip', 'identity'] as const;
export type Coding = (typeof codings)[number];

/** Browsers send a few dozen characters in Accept-Encoding, and up to 200 in Accept. */
const maxLength = 1_000;

const weightForm = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** The members of a field such as `Accept` with their weights (RFC 9110, section 12.4.2), without malformed ones and unknown parameters. */
function weightsIn(field: string | undefined): Map<string, number> {
  const weights = new Map<string, number>();
  if (field === undefined || field.length > maxLength) return weights;
  for (const member of field.toLowerCase().split(',')) {
    const [name = '', ...parameters] = member.split(';').map((part) => part.trim());
    const others = parameters.filter((parameter) => !/^charset=(?:utf-8|"utf-8")$/.test(parameter));
    const [weight = 'q=1', ...more] = others;
    const [, value] = weightForm.exec(weight) ?? [];
    if (name !== '' && value !== undefined && more.length === 0) weights.set(name, Number(value));
  }
  return weights;
}

/** The coding that a client prefers (RFC 9110, section 12.5.3). If weights are equal, the first of `codings` wins. */
export function preferredCoding(field: string | undefined): Coding {
  // A client that says nothing may not be able to decompress.
  const weights = weightsIn(field);
  const any = weights.get('*');
  // `identity` without a weight of its own has a lower weight than the named codings.
  const weightOf = (coding: Coding) =>
    weights.get(coding) ??
    (coding === 'gzip' ? weights.get('x-gzip') : undefined) ??
    any ??
    (coding === 'identity' ? 0.0001 : 0);
  const best = codings.toSorted((a, b) => weightOf(b) - weightOf(a))[0] as Coding;
  return weightOf(best) > 0 ? best : 'identity';
}

export const jsonType = 'application/json; charset=utf-8';
const problemType = 'application/problem+json';

/** The text of an error and its media type, chosen by the `Accept` of the client. The page of the error is below `pages`. */
export const errorContent = (error: ApiError, accept: string | undefined, pages: string) =>
  prefersProblem(accept)
    ? { type: problemType, text: jsonText(problemDetailsOf(error, pages)) }
    : { type: jsonType, text: jsonText(error.body) };

/** Whether a client prefers a problem (RFC 9110, section 12.5.1). If the weights are equal, the more specific range wins, then the Error. */
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
