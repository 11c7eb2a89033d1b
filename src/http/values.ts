import Type, { type TObject, type TProperties, type TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { quote } from '../foundation/redact.ts';
import { isInt32, isInt64 } from '../foundation/schema.ts';
import { brokenRule, expectation, expectationOfObjects } from './expectation.ts';

export type Values = Record<string, unknown>;

type Check = (value: unknown) => boolean;

/** How values of a schema are read. */
interface Reading {
  mustBe: string;
  fits: Check;
  /** What is wrong with a value that does not fit. `subject` is what the message calls it. */
  problem(value: unknown, subject: string): string;
}

/** Takes the declared properties out of an object and notes a problem for each that does not fit its schema. */
type ObjectReader = (source: Values, problems: string[], start?: string) => Values;

/**
 * A reader of objects with these properties, which messages call by `start` and their names. Throws, and names the property, if there
 * are no words for a schema.
 */
export function objectReader(properties: TProperties, start: string): ObjectReader {
  const fields = Object.entries(properties)
    .filter(([, schema]) => !(schema as { readOnly?: boolean }).readOnly)
    .map(([name, schema]) => ({
      name,
      isRequired: !Type.IsOptional(schema),
      ...readingOf(schema, start + name),
    }));
  return (source, problems, at = start) => {
    const values: Values = {};
    for (const { name, isRequired, mustBe, fits, problem } of fields) {
      const value = Object.hasOwn(source, name) ? source[name] : undefined;
      if (value === undefined) {
        if (isRequired) problems.push(`${at}${name} must be ${mustBe}; it is missing`);
      } else if (fits(value)) values[name] = value;
      else problems.push(problem(value, at + name));
    }
    return values;
  };
}

function readingOf(schema: TSchema, subject: string): Reading {
  const { items } = schema as { items?: TSchema };
  if (items && Type.IsObject(items)) return readingOfObjects(schema, items, subject);
  const mustBe = prefixError(subject, () => expectation(schema));
  const problem = (value: unknown, at: string) => {
    const rule = brokenRule(schema, value);
    return `${at} must be ${mustBe}${rule === undefined ? '' : `; ${rule}`}`;
  };
  return { mustBe, fits: checker(schema), problem };
}

/** Reads a list of objects, which take declared properties only. The message names the first wrong object, since a list may be long. */
function readingOfObjects(schema: TSchema, { properties }: TObject, subject: string): Reading {
  const mustBe = prefixError(subject, () => expectationOfObjects(schema));
  const isList = checker({ ...schema, items: {} } as TSchema);
  const readObject = objectReader(properties, `${subject}[].`);
  const names = Object.keys(properties);

  const problemsOf = (value: unknown, at: string): string[] => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return [`${at} must be an object`];
    const other = Object.keys(value).find((name) => !Object.hasOwn(properties, name));
    const problems =
      other === undefined ? [] : [`${at} must not have ${quote(other)}; it takes ${names.join(', ')}`];
    readObject(value as Values, problems, `${at}.`);
    return problems;
  };
  const fits: Check = (list) =>
    isList(list) && (list as unknown[]).every((value) => problemsOf(value, '').length === 0);
  const problem = (list: unknown, at: string) => {
    if (!isList(list)) return `${at} must be ${mustBe}`;
    for (const [index, value] of (list as unknown[]).entries()) {
      const problems = problemsOf(value, `${at}[${index}]`);
      if (problems.length > 0) return problems.join('. ');
    }
    throw new Error(`${at} fits`);
  };
  return { mustBe, fits, problem };
}

/** Returns the result of `words`, and puts `subject` before the message of an error. */
function prefixError(subject: string, words: () => string): string {
  try {
    return words();
  } catch (cause) {
    throw new Error(`${subject}: ${(cause as Error).message}.`, { cause });
  }
}

function checker(schema: TSchema): Check {
  const compiled = Compile(schema);
  const isWithin = integerCheck(schema);
  if (!isWithin) return (value) => compiled.Check(value);
  return (value) => compiled.Check(value) && isWithin(value);
}

/** Checks the integer formats, which the schema compiler does not, in a value that is valid otherwise. */
function integerCheck(schema: TSchema): Check | undefined {
  const { format, anyOf, items } = schema as { format?: string; anyOf?: TSchema[]; items?: TSchema };
  if (format === 'int32') return (value) => isInt32(value as number);
  if (format === 'int64') return (value) => isInt64(value as number);
  const inner = anyOf ? integerCheck(anyOf[0] as TSchema) : items && integerCheck(items);
  if (!inner) return undefined;
  return anyOf
    ? (value) => value === null || inner(value)
    : (values) => (values as unknown[]).every((value) => inner(value));
}
