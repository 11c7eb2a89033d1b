import { ApiError } from '../errors.ts';
import { toInt64 } from '../schema.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** What JSON.parse may take without complaint but not keep as written: long numbers, exponents, escaped surrogates. */
const needsExactness = /[\d.]{16}|\d[eE]|\\u[dD]/;

/** JSON.parse takes more, but how much more depends on the stack. */
const maxDepth = 500;

/**
 * Parses a JSON text strictly (RFC 8259, and RFC 7493 for what it leaves open): UTF-8, no property twice, no unpaired
 * surrogate, no number rounded to an integer, at most 500 levels. Throws `invalid_json` saying what is wrong.
 */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw invalidJson('it is not UTF-8');
  }
  const { colons, depth } = measure(text);
  if (depth > maxDepth) throw invalidJson(`it is nested deeper than ${maxDepth} levels`);
  let value: unknown;
  try {
    value = needsExactness.test(text) ? JSON.parse(text, keepExact as Reviver) : JSON.parse(text);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw invalidJson((error as Error).message);
  }
  if (countProperties(value) < colons) {
    throw invalidJson(`the property ${JSON.stringify(duplicateProperty(text))} stands twice in one object`);
  }
  return value;
}

const invalidJson = (reason: string) =>
  new ApiError('invalid_json', `The body is not valid JSON: ${reason}.`);

/** TypeScript does not know the third argument yet: https://tc39.es/proposal-json-parse-with-source */
type Reviver = Parameters<typeof JSON.parse>[1];

/**
 * A reviver that refuses unpaired surrogates, keeps 64-bit integers from being rounded out of their range, and keeps
 * fractions from being rounded to integers: NaN fits no schema.
 */
function keepExact(key: string, value: unknown, context: { source?: string }): unknown {
  if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) {
    throw invalidJson('a string has an unpaired surrogate');
  }
  if (typeof value !== 'number' || !Number.isFinite(value)) return value;
  const integer = integerOf(context.source as string);
  if (integer === undefined) return Number.isInteger(value) ? Number.NaN : value;
  return toInt64(integer) ?? value;
}

/** The digits of a JSON number that is an integer, as 1500 of `1.5e3`; undefined for a fraction. */
function integerOf(source: string): string | undefined {
  const parts = /^(-?)(\d+)\.?(\d*)[eE]?(.*)$/.exec(source) as string[];
  const [, sign, whole, fraction, exponent] = parts as [string, string, string, string, string];
  const digits = `${whole}${fraction}`;
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

/** The colons of a JSON text outside its strings, one for each property as it is written, and its deepest level. */
function measure(json: string): { colons: number; depth: number } {
  let colons = 0;
  let level = 0;
  let depth = 0;
  let isInString = false;
  for (let i = 0; i < json.length; i++) {
    const character = json[i];
    if (character === '"') isInString = !isInString;
    else if (character === '\\') i++;
    else if (isInString) continue;
    else if (character === ':') colons++;
    else if (character === '{' || character === '[') depth = Math.max(depth, ++level);
    else if (character === '}' || character === ']') level--;
  }
  return { colons, depth };
}

/** The first property that stands twice in one object of a valid JSON text. */
function duplicateProperty(json: string): string | undefined {
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
  return undefined;
}
