import { maxDepth, maxValues as usualMaxValues } from '../foundation/bounds.ts';
import { ApiError } from '../foundation/errors.ts';
import { quote } from '../foundation/redact.ts';
import { toInt64 } from '../foundation/schema.ts';
import { grouped } from '../foundation/words.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a JSON text strictly (RFC 8259, and RFC 7493 for what it leaves open): UTF-8, no property twice, no unpaired
 * surrogate, no number rounded to an integer, at most `maxDepth` levels. Throws `invalid_json` that says what is wrong,
 * and `payload_too_large` for more than `maxValues`, before they are created.
 */
export function parseJson(bytes: Uint8Array, maxValues = usualMaxValues): unknown {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (error) {
    throw invalidJson('it is not UTF-8', error);
  }
  const { properties, isExact } = survey(text, maxValues);
  let value: unknown;
  try {
    value = isExact ? JSON.parse(text) : JSON.parse(text, keepExact as Reviver);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // The message may quote a few characters, and cut a surrogate pair in half.
    throw invalidJson((error as Error).message.toWellFormed(), error);
  }
  if (countProperties(value) < properties) {
    throw invalidJson(`the property ${quote(duplicateProperty(text))} occurs twice in one object`);
  }
  return value;
}

const tooManyValues = (maxValues: number) =>
  new ApiError(
    'payload_too_large',
    `The body must not have more than ${grouped(maxValues)} values. Every list, object and value counts.`,
  );

const invalidJson = (reason: string, cause?: unknown) =>
  new ApiError('invalid_json', `The body is not valid JSON: ${reason}.`, {}, { cause });

/** TypeScript does not know the third argument yet: https://tc39.es/proposal-json-parse-with-source */
type Reviver = Parameters<typeof JSON.parse>[1];

/** A reviver that refuses unpaired surrogates, keeps 64-bit integers in their range, and makes a fraction rounded to an integer NaN. */
function keepExact(key: string, value: unknown, context: { source?: string }): unknown {
  if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) {
    throw invalidJson('a string has an unpaired surrogate');
  }
  // The double nearest to an integer is an integer, too. Integers of more than 64 bits fit no schema.
  if (!Number.isInteger(value) || Math.abs(value as number) > 2 ** 63) return value;
  const integer = integerOf(context.source as string);
  return integer === undefined ? Number.NaN : (toInt64(integer) ?? value);
}

/** The digits of a JSON number that is an integer, as 1500 of `1.5e3`; undefined for a fraction. It must not be far beyond 64 bits. */
export function integerOf(source: string): string | undefined {
  const parts = /^(-?)(\d+)\.?(\d*)[eE]?(.*)$/.exec(source) as string[];
  const [, sign, whole, fraction, exponent] = parts as [string, string, string, string, string];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  if (end === 0) return `${sign}0`;
  const zeros = Number(exponent) + digits.length - end - fraction.length;
  return zeros < 0 ? undefined : sign + digits.slice(0, end) + '0'.repeat(zeros);
}

/** How many properties the objects of a JSON value have, at any depth. */
function countProperties(value: unknown): number {
  let count = 0;
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    const parts = Object.values(next);
    if (!Array.isArray(next)) count += parts.length;
    for (const part of parts) if (typeof part === 'object') open.push(part);
  }
  return count;
}

const numberOrLiteral = /[^ \n\r\t,:"[\]{}]+/y;
/** A number that JSON.parse reads exactly. */
const exactOne = /(?:-?\d{1,15}|true|false|null)(?=[ \n\r\t,\]}]|$)/y;
const escapedSurrogate = /\\u[dD]/;

/**
 * Scans a JSON text before it is parsed: how many properties it has, and whether JSON.parse reads all of it exactly. Refuses too many
 * values and levels. In a text that is not JSON, values that are not counted come after the first mistake, so they are never created.
 */
function survey(json: string, maxValues: number): { properties: number; isExact: boolean } {
  let values = 0;
  let properties = 0;
  let level = 0;
  let isExact = !escapedSurrogate.test(json);
  for (let i = 0; i < json.length; i++) {
    switch (json[i]) {
      case ' ':
      case '\n':
      case '\r':
      case '\t':
      case ',':
        continue;
      case ']':
      case '}':
        level--;
        continue;
      case ':':
        // The string before it was a name, not a value.
        values--;
        properties++;
        continue;
      case '[':
      case '{':
        if (++level > maxDepth) throw invalidJson(`it is nested deeper than ${maxDepth} levels`);
        break;
      case '"':
        i = endOfString(json, i);
        break;
      default: {
        let end = endOf(exactOne, json, i);
        if (end === 0) {
          isExact = false;
          end = endOf(numberOrLiteral, json, i);
        }
        i = end - 1;
      }
    }
    if (++values > maxValues) throw tooManyValues(maxValues);
  }
  return { properties, isExact };
}

/** The end of the match of a sticky pattern at `start`; 0 if there is none. */
function endOf(pattern: RegExp, json: string, start: number): number {
  pattern.lastIndex = start;
  pattern.test(json);
  return pattern.lastIndex;
}

/** The end of the string that begins at `start`. */
function endOfString(json: string, start: number): number {
  for (let i = start + 1; i < json.length; i++) {
    if (json[i] === '"') return i;
    if (json[i] === '\\') i++;
  }
  return json.length;
}

/** The first property that occurs twice in one object of a valid JSON text. */
function duplicateProperty(json: string): string {
  const open: Set<string>[] = [];
  for (const [token, , colon] of json.matchAll(/("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}]/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon) {
      const name: string = JSON.parse(token.slice(0, -colon.length));
      const names = open.at(-1) as Set<string>;
      if (names.has(name)) return name;
      names.add(name);
    }
  }
  throw new Error('No property occurs twice.');
}

/** The JSON text as it is sent and hashed. It ends with a newline, so that the prompt of a terminal is on the next line. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value)}\n`;
