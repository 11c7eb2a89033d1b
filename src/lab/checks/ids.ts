import { maxParameters } from '../../http/input.ts';
import type { Recorded } from '../recordings/recorded.ts';
import { type Check, counted } from './check.ts';

/** Under `large-ids` all ids are odd and within these bounds, where a double holds only even numbers. */
const least = 10n ** 16n;
const bound = 2n ** 54n;

/** A number as programs write integers and doubles: `10000000000000003`, `1.0000000000000004e+16`. */
const number = /^\d+(?:\.\d+)?(?:e\+?\d+)?$/i;

/** Whether a large id is exact. False if a double rounded it; undefined if the text is no large id. */
function exactnessOf(text: string): boolean | undefined {
  const isPlain = /^\d{17}$/.test(text);
  if (!isPlain && !(/[.e]/i.test(text) && number.test(text))) return undefined;
  const value = isPlain ? BigInt(text) : wholeOf(text);
  if (value === undefined || value < least || value >= bound) return undefined;
  return isPlain && value % 2n === 1n;
}

/** The value of a number with a point or an exponent. */
function wholeOf(text: string): bigint | undefined {
  const value = Number(text);
  return Number.isFinite(value) ? BigInt(Math.round(value)) : undefined;
}

/** More than a path of the API has, also in a target in absolute form. */
const maxSegments = 16;

/**
 * Numbers of a request that may be ids: in segments of the path, in values of the query, and in the body. Only as many parts are decoded
 * as a request of the API can have, since a hostile target has thousands.
 */
function numbersOf({ target, largeNumbers = [] }: Recorded): string[] {
  if (!mayHoldNumber(target)) return [...largeNumbers];
  const [path = '', query = ''] = target.split('?');
  const segments = path.split('/', maxSegments).filter(mayHoldNumber).map(decoded);
  const pairs = query.split('&').filter(mayHoldNumber).slice(0, maxParameters).join('&');
  const values = [...new URLSearchParams(pairs).values()].join(',').split(',', maxParameters);
  // In a query, + stands for a space.
  return [...segments, ...values.map((value) => value.replace(' ', '+')), ...largeNumbers];
}

/** Whether a part of a target may hold a large id. */
const mayHoldNumber = (part: string) => part.length > 4 && /\d{17}|\de\+?\d|%/i.test(part);

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export const idsExact: Check = {
  name: 'ids.exact',
  level: 'required',
  asks: 'The client keeps ids beyond 2^53 exact.',
  judged:
    'Under `large-ids` all ids are odd and between 10^16 and 2^54, where a double can only be even. An id of that size in a path, a query or a body fails if it is even, or has a point or an exponent: it was rounded. Exact ids pass.',
  unseen: 'No request held an id of that size.',
  faults: ['large-ids'],
  advice:
    'Read ids as 64-bit integers or as text; in JavaScript, by `context.source` of `JSON.parse`, which rounds numbers.',
  guide: 'Generate a client',
  judge({ requests }) {
    const exact: Recorded[] = [];
    const rounded: Recorded[] = [];
    for (const request of requests) {
      const found = numbersOf(request).map(exactnessOf);
      if (found.includes(false)) rounded.push(request);
      else if (found.includes(true)) exact.push(request);
    }
    return {
      bad: rounded,
      good: exact,
      failed: `${counted(rounded.length, 'request')} held a large id that was rounded.`,
      passed: `${counted(exact.length, 'request')} held large ids, all of them exact.`,
    };
  },
};
