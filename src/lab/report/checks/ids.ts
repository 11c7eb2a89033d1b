import type { Recorded } from '../../recordings/recorded.ts';
import { type Check, counted, failed, notObserved, passed } from './check.ts';
import { inTurns } from './in-turns.ts';

/** Under `large-ids` all ids are odd and within these bounds; there a double holds even numbers alone. */
const least = 10n ** 16n;
const bound = 2n ** 54n;

/** A number as programs write one, also from a double: `10000000000000003`, `1.0000000000000004e+16`. */
const number = /^\d+(?:\.\d+)?(?:e\+?\d+)?$/i;

/** Whether a number is such an id: exact, or rounded by a double; undefined if it is none. */
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

/** The numbers that a request holds where ids may stand: segments of the path, values of the query, numbers in the body. */
function numbersOf({ target, largeNumbers = [] }: Recorded): string[] {
  const [path = '', query = ''] = target.split('?');
  const values = [...new URLSearchParams(query).values()].flatMap((value) => value.split(','));
  // In a query, + stands for a space.
  return [
    ...path.split('/').map(decoded),
    ...values.map((value) => value.replace(' ', '+')),
    ...largeNumbers,
  ];
}

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
    'Under `large-ids` all ids are odd and lie between 10^16 and 2^54, where a double-precision number can only be even. Such an id in a path, a query or a body, even or written with a point or an exponent, was rounded, and fails it. It passes with at least one exact one.',
  unseen: 'No request held an id of that size.',
  faults: ['large-ids'],
  advice:
    'Read ids as 64-bit integers. In JavaScript `JSON.parse` rounds them: use its `context.source` or a library that keeps them, and hold them as BigInt or text.',
  guide: 'Generate a client',
  async judge(requests) {
    const exact: Recorded[] = [];
    const rounded: Recorded[] = [];
    for await (const request of inTurns(requests)) {
      const found = numbersOf(request).map(exactnessOf);
      if (found.includes(false)) rounded.push(request);
      else if (found.includes(true)) exact.push(request);
    }
    if (rounded.length > 0)
      return failed(rounded, `${counted(rounded.length, 'request')} held a large id that was rounded.`);
    return exact.length > 0
      ? passed(exact, `${counted(exact.length, 'request')} held large ids, all of them exact.`)
      : notObserved('No request held a large id.');
  },
};
