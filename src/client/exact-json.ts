import { randomId } from './platform.ts';

/**
 * A 64-bit integer, such as an id. Calls return a `number` where that is exact, so nearly always, and a `bigint` beyond 2^53. The same
 * integer always has the same type, so `===` and `Map` work. Calls accept both.
 */
export type Int64 = number | bigint;

/** Finds integers that a double may not hold. */
const manyDigits = /\d{16}/;
/** The quotes of strings in a JSON text, escapes, and numbers. Each match takes linear time. */
const tokens = /"|\\.|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** A bigint of millions of digits would take seconds. */
const isRounded = (token: string) => /^-?\d{16,99}$/.test(token) && !Number.isSafeInteger(Number(token));

/**
 * Reads JSON as `JSON.parse` does, but integers beyond 2^53, of up to 99 digits, become `bigint`. Before parsing they are turned into strings
 * that begin with a random mark, because not every engine passes the source of a number to a reviver.
 *
 * @throws SyntaxError if it is not JSON.
 */
export function parseExactly(text: string): unknown {
  if (!manyDigits.test(text)) return JSON.parse(text);
  const mark = randomId();
  let isInText = false;
  const marked = text.replace(tokens, (token) => {
    if (token === '"') isInText = !isInText;
    return !isInText && isRounded(token) ? `"${mark}${token}"` : token;
  });
  return withIntegers(JSON.parse(marked), mark);
}

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a text is truncated JSON. */
export function endsEarly(text: string): boolean {
  let isInText = false;
  let depth = 0;
  for (const [token] of text.matchAll(/\\.|["[\]{}]/g)) {
    if (token === '"') isInText = !isInText;
    else if (!isInText) depth += '[{'.includes(token) ? 1 : ']}'.includes(token) ? -1 : 0;
  }
  return /^\s*(?:$|[[{])/.test(text) && (depth > 0 || !text.trim());
}

/** Turns marked strings into integers. Unlike a reviver it needs no recursion, so deep values do not overflow the stack. */
function withIntegers(whole: unknown, mark: string): unknown {
  const root = { whole };
  const holders: object[] = [root];
  for (const holder of holders)
    for (const [name, value] of Object.entries(holder)) {
      if (typeof value === 'object' && value !== null) holders.push(value);
      if (typeof value === 'string' && value.startsWith(mark))
        // An assignment to `__proto__` would not define a property.
        Object.defineProperty(holder, name, { value: BigInt(value.slice(mark.length)) });
    }
  return root.whole;
}

/**
 * Writes JSON as `JSON.stringify` does, and `bigint` as an integer.
 *
 * @throws RangeError for an integral number beyond 2^53: it may have been rounded.
 */
export function writeExactly(value: unknown): string {
  let mark: string | undefined;
  const text = JSON.stringify(value, function (this: Record<string, unknown>, name, shown) {
    const own = this[name];
    if (typeof own === 'number' && Number.isInteger(own)) exactText(own);
    if (typeof own !== 'bigint') return shown;
    mark ??= randomId();
    return `${mark}${own}`;
  });
  return mark ? text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1') : text;
}

/**
 * An integer as text.
 *
 * @throws RangeError for a number beyond 2^53.
 */
export function exactText(value: Int64): string {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError(`${value} is beyond 2^53, where a number is not exact. Use a bigint.`);
  return String(value);
}

/**
 * Checks an id for a path.
 *
 * @throws TypeError if it is no integer: `undefined` or `..` would lead to another path.
 * @throws RangeError for a number beyond 2^53.
 */
export function idOf(value: Int64): bigint {
  const text = exactText(value);
  if (!/^-?\d{1,99}$/.test(text)) throw new TypeError(`An id is an integer, not ${JSON.stringify(text)}.`);
  return BigInt(text);
}
