import type { TSchema } from 'typebox';
import { Format } from 'typebox/format';
import { Compile } from 'typebox/schema';
import { integerBounds, patternWords } from '../foundation/schema.ts';
import { instantProblem, toUtc } from '../foundation/time.ts';

/** Whether a value fits. */
export type ValueCheck = (value: unknown) => boolean;

/** The keywords that have words. */
interface Keywords {
  anyOf: readonly TSchema[];
  type?: string;
  const: unknown;
  enum: readonly unknown[];
  items: TSchema;
  additionalProperties?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
}

/** A kind of schema: the keywords that it covers, and what they allow in words. */
interface Kind {
  covers: readonly (keyof Keywords)[];
  words(keywords: Keywords): string;
}

/** Keywords that never refuse a value. */
const annotations = ['title', 'description', 'examples', 'default', 'readOnly'];

/** The kinds, by the keyword that marks them, or by the type. */
const kinds: Readonly<Record<string, Kind>> = {
  anyOf: { covers: ['anyOf'], words: ({ anyOf }) => nullable(anyOf) },
  const: { covers: ['const', 'type'], words: (keywords) => String(keywords.const) },
  enum: { covers: ['enum', 'type'], words: oneOf },
  boolean: { covers: ['type'], words: () => 'true or false' },
  integer: { covers: ['type', 'format', 'minimum', 'maximum'], words: integer },
  number: { covers: ['type', 'format', 'minimum', 'maximum'], words: number },
  string: { covers: ['type', 'format', 'minLength', 'maxLength', 'pattern'], words: string },
  array: { covers: ['type', 'items', 'minItems', 'maxItems', 'uniqueItems'], words: array },
};

interface TextFormat {
  /** With an example. */
  words: string;
  fits(text: string): boolean;
}

/** The formats of text that are checked. */
const textFormats: Readonly<Record<string, TextFormat>> = {
  date: {
    words: 'a date such as 2026-01-31',
    fits: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && toUtc(`${text}T00:00:00Z`) !== undefined,
  },
  'date-time': {
    words: 'an RFC 3339 date-time such as 2026-01-31T12:00:00Z',
    fits: (text) => toUtc(text) !== undefined,
  },
  uri: {
    words: 'a URI such as https://example.com/pets',
    fits: (text) => /^[!-~]+$/.test(text) && URL.canParse(text),
  },
  uuid: {
    words: 'a UUID such as 0f5d1a4e-6a0b-4f0e-9d57-6f3f9e6f5c11',
    fits: (text) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text),
  },
};

for (const [name, { fits }] of Object.entries(textFormats)) Format.Set(name, fits);

/** For formats with several rules: functions that return the rule that a text breaks. */
const rulesOf: Readonly<Record<string, (text: string) => string | undefined>> = {
  'date-time': instantProblem,
};

/** The rule that a value breaks, for the end of an error message. Undefined if the rest of the message is enough. */
export function brokenRule(schema: TSchema, value: unknown): string | undefined {
  const { anyOf, format = '' } = schema as Partial<Keywords>;
  if (anyOf) return brokenRule(anyOf[0] as TSchema, value);
  return typeof value === 'string' ? rulesOf[format]?.(value) : undefined;
}

/** What a value must be, to follow "must be" in a message. Throws for a keyword without words, so such a schema stops the start. */
export function expectation(schema: TSchema): string {
  const name = kindOf(schema);
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (!kind) throw noWords(`the type ${name}`);
  assertCovered(schema, kind.covers, name);
  return kind.words(schema as unknown as Keywords);
}

/** The check of a schema. It is compiled when it is first used, because a start compiles hundreds. */
export function checkOf(schema: TSchema): ValueCheck {
  let validator: { Check: ValueCheck } | undefined;
  return (value) => {
    validator ??= Compile(withIntegerBounds(schema));
    return validator.Check(value);
  };
}

/** TypeBox checks the formats of text only. */
const withIntegerBounds = (schema: TSchema): TSchema =>
  JSON.parse(JSON.stringify(schema), (_, value) =>
    value?.format in integerBounds
      ? { ...integerBounds[value.format as keyof typeof integerBounds], ...value }
      : value,
  );

function kindOf(schema: TSchema): string {
  const marks = ['anyOf', 'const', 'enum'];
  return marks.find((keyword) => keyword in schema) ?? String((schema as Partial<Keywords>).type);
}

/** What a list of objects must be, in the same way. What is wrong with one of its objects has messages of its own. */
export function expectationOfObjects(schema: TSchema): string {
  const { items, minItems, maxItems } = schema as unknown as Keywords;
  assertCovered(schema, ['type', 'items', 'minItems', 'maxItems'], 'a list of objects');
  assertCovered(items, ['type', 'properties', 'required', 'additionalProperties'], 'an object');
  if ((items as Partial<Keywords>).additionalProperties !== false)
    throw new Error('objects of a list take declared properties only; say so by additionalProperties');
  return amount(minItems, maxItems, 'object') || 'a list of objects';
}

/** Throws for the first keyword that refuses values and that messages do not cover. */
function assertCovered(schema: TSchema, covered: readonly string[], what: string): void {
  const other = Object.keys(schema).find((keyword) => ![...annotations, ...covered].includes(keyword));
  if (other !== undefined) throw noWords(`${other} of ${what}`);
}

const noWords = (what: string, where = 'src/http/schema-messages.ts') =>
  new Error(`messages have no words for ${what}; add them in ${where}`);

function nullable([schema, ...others]: readonly TSchema[]): string {
  const isNullable = others.length === 1 && (others[0] as { type?: string }).type === 'null';
  if (!schema || !isNullable) throw noWords('anyOf other than with null');
  return `${expectation(schema)} or null`;
}

function oneOf({ type, enum: values }: Keywords): string {
  // It decides how text of a query is read, and the description needs it.
  if (!type) throw new Error('an enum needs a type beside it');
  return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`;
}

function integer({ format, minimum, maximum }: Keywords): string {
  if (format === 'int64') return `a 64-bit integer${range(minimum, maximum)}`;
  const { int32 } = integerBounds;
  if (format === 'int32') return `an integer${range(minimum ?? int32.minimum, maximum ?? int32.maximum)}`;
  if (format !== undefined) throw noWords(`the format ${format} of integer`);
  return `an integer${range(minimum, maximum)}`;
}

function number({ format, minimum, maximum }: Keywords): string {
  if (format !== undefined && format !== 'double') throw noWords(`the format ${format} of number`);
  return `a number${range(minimum, maximum)}`;
}

function string({ format, minLength, maxLength, pattern }: Keywords): string {
  const form = format === undefined ? 'a string' : textFormats[format]?.words;
  if (form === undefined) throw noWords(`the format ${format} of string`);
  const length = amount(minLength, maxLength, 'character');
  const condition = pattern === undefined ? undefined : patternWords[pattern];
  if (pattern !== undefined && !condition)
    throw noWords(`the pattern ${pattern}`, 'patternWords in src/foundation/schema.ts');
  return `${form}${length && ` of ${length}`}${condition ? `, ${condition}` : ''}`;
}

function array({ items, minItems, maxItems, uniqueItems }: Keywords): string {
  // Lists would differ, also with the same items.
  if (uniqueItems && kindOf(items) === 'array') throw noWords('uniqueItems of a list of lists');
  const values = amount(minItems, maxItems, uniqueItems ? 'different value' : 'value') || 'a list of values';
  return `${values}, each ${expectation(items)}`;
}

/** Bounds of a number, to follow its kind in a message. */
function range(minimum?: number, maximum?: number): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? '' : ` of at most ${maximum}`;
}

/** How many are allowed, such as `1 to 200 characters`; empty without bounds. */
function amount(minimum: number | undefined, maximum: number | undefined, unit: string): string {
  const units = (count: number) => `${count} ${unit}${count === 1 ? '' : 's'}`;
  if (minimum && minimum === maximum) return units(minimum);
  if (minimum && maximum !== undefined) return `${minimum} to ${units(maximum)}`;
  if (minimum) return `at least ${units(minimum)}`;
  return maximum === undefined ? '' : `at most ${units(maximum)}`;
}
