import { counted } from '../../foundation/words.ts';
import { maxParameters } from '../../http/input.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import type { Check } from './check.ts';

/** Under `large-ids` all ids are odd and within these bounds, where doubles are only even numbers. */
const least = 10n ** 16n;
const bound = 2n ** 54n;

/** A number as programs write integers and doubles: `10000000000000003`, `1.0000000000000004e+16`. */
const number = /^\d+(?:\.\d+)?(?:e\+?\d+)?$/i;

/** Whether a large id is exact. False if a double rounded it; undefined if the text is no large id. */
function exactnessOf(text: string): boolean | undefined {
  const isPlain = /^\d{17}$/.test(text);
  if (!isPlain && !(/[.e]/i.test(text) && number.test(text))) return undefined;
  const value = isPlain ? BigInt(text) : Number(text);
  if (value < least || value >= bound) return undefined;
  return isPlain && BigInt(text) % 2n === 1n;
}

/** Numbers of a request that may be ids. How many parts are decoded is bounded: a hostile target can have thousands. */
function numbersOf({ target, largeNumbers = [] }: Recorded): string[] {
  const parts = target.split(/[/?&=,]|%2c/i).filter(mayHoldNumber);
  return [...parts.slice(0, maxParameters).map(decoded), ...largeNumbers];
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
  needs: 'large ids',
  asks: 'The client keeps ids above 2^53 exact.',
  judged:
    'Under `large-ids` all ids are odd and between 10^16 and 2^54, where a double can only be an even number. Looks at ids of that size in paths, queries and bodies. Fails: an id that was rounded, so it is even or has a decimal point or an exponent. Passes: only exact ids.',
  unseen: 'No request had an id of that size.',
  faults: ['large-ids'],
  advice:
    'Parse ids as 64-bit integers or as strings. In JavaScript `JSON.parse` rounds numbers: use `context.source` of its reviver.',
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
      failed: `${counted(rounded.length, 'request')} had a large id that was rounded.`,
      passed: `${counted(exact.length, 'request')} had large ids, all of them exact.`,
    };
  },
};
