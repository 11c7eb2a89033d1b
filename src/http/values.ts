import { type TObject, type TProperties, type TSchema, Type } from 'typebox';
import type { ValueProblem, ValueSubject } from '../foundation/errors.ts';
import { quote } from '../foundation/redact.ts';
import {
  brokenRule,
  checkOf,
  expectation,
  expectationOfObjects,
  type ValueCheck,
} from './schema-messages.ts';

export type Values = Record<string, unknown>;

/** Says what is wrong with a value that does not fit its schema. `path` leads to it. */
type Explain = (value: unknown, path: Path) => ValueProblem[];

/** How values of a schema are read. */
interface Reading {
  mustBe: string;
  fits: ValueCheck;
  explain: Explain;
}

/** The names and indexes that lead to a value. */
type Path = (string | number)[];
type SubjectAt = (...path: Path) => ValueSubject;

/** Takes the declared properties out of an object and notes problems for each that does not fit its schema. */
type ObjectReader = (source: Values, problems: ValueProblem[], path?: Path) => Values;

/** A reader of objects with these properties. Throws, and names the property, if there are no words for a schema. */
export function objectReader(properties: TProperties, subjectAt: SubjectAt, at: Path = []): ObjectReader {
  const fields = Object.entries(properties)
    .filter(([, schema]) => !(schema as { readOnly?: boolean }).readOnly)
    .map(([name, schema]) => ({
      name,
      isRequired: !Type.IsOptional(schema),
      ...readingOf(schema, subjectAt, [...at, name]),
    }));
  return (source, problems, path = []) => {
    const values: Values = {};
    for (const { name, isRequired, mustBe, fits, explain } of fields) {
      const value = Object.hasOwn(source, name) ? source[name] : undefined;
      if (value === undefined) {
        if (isRequired)
          problems.push({ ...subjectAt(...path, name), detail: `must be ${mustBe}; it is missing` });
      } else if (fits(value)) values[name] = value;
      else problems.push(...explain(value, [...path, name]));
    }
    return values;
  };
}

function readingOf(schema: TSchema, subjectAt: SubjectAt, at: Path): Reading {
  const { items } = schema as { items?: TSchema };
  if (items && Type.IsObject(items)) return readingOfObjects(schema, items, subjectAt, at);
  const mustBe = prefixError(subjectAt(...at), () => expectation(schema));
  const explain: Explain = (value, path) => {
    const rule = brokenRule(schema, value);
    return [{ ...subjectAt(...path), detail: `must be ${mustBe}${rule === undefined ? '' : `; ${rule}`}` }];
  };
  return { mustBe, fits: checkOf(schema), explain };
}

/** Reads a list of objects, which take declared properties only. The message names the first wrong object, since a list may be long. */
function readingOfObjects(schema: TSchema, { properties }: TObject, subjectAt: SubjectAt, at: Path): Reading {
  const mustBe = prefixError(subjectAt(...at), () => expectationOfObjects(schema));
  const isList = checkOf({ ...schema, items: {} });
  const readObject = objectReader(properties, subjectAt, [...at, 0]);
  const names = Object.keys(properties);

  const problemsOf: Explain = (value, path) => {
    const problem = (detail: string) => ({ ...subjectAt(...path), detail });
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return [problem('must be an object')];
    const other = Object.keys(value).find((name) => !Object.hasOwn(properties, name));
    const problems =
      other === undefined ? [] : [problem(`must not have ${quote(other)}; it takes ${names.join(', ')}`)];
    readObject(value as Values, problems, path);
    return problems;
  };
  const fits: ValueCheck = (list) =>
    isList(list) && (list as unknown[]).every((value) => problemsOf(value, []).length === 0);
  const explain: Explain = (list, path) => {
    if (!isList(list)) return [{ ...subjectAt(...path), detail: `must be ${mustBe}` }];
    for (const [index, value] of (list as unknown[]).entries()) {
      const problems = problemsOf(value, [...path, index]);
      if (problems.length > 0) return problems;
    }
    throw new Error(`${subjectAt(...path).subject} fits`);
  };
  return { mustBe, fits, explain };
}

/** Returns the result of `words`, and puts the subject before the message of an error. */
function prefixError({ subject }: ValueSubject, words: () => string): string {
  try {
    return words();
  } catch (cause) {
    throw new Error(`${subject}: ${(cause as Error).message}.`, { cause });
  }
}
