import { type TProperties, type TSchema, Type } from 'typebox';
import { bodyProperty, type ValueProblem } from '../../foundation/errors.ts';
import { quote } from '../../foundation/redact.ts';
import { Name, Units } from '../../foundation/schema.ts';
import { escapeTerminal } from '../../foundation/terminal-text.ts';
import { firstOf } from '../../foundation/words.ts';
import { objectReader, type Values } from '../../http/values.ts';
import { type ApiList, type Item, lists } from '../compare/state.ts';

/** A predicate about the final store: how many rows match, and their values. */
export interface WantedRows {
  list: ApiList;
  /** The values by which rows are found. Null: the property is absent. */
  where: Item;
  /** The other values of these rows. */
  fields: Item;
  count: number;
}

export interface Goal {
  /** The task for the agent, and for people. */
  text: string;
  wanted: readonly WantedRows[];
  /** The text that the last line must contain when the goal is reached. */
  says?: Says;
}

const maxWanted = 100;
const maxProblems = 5;

const texts = {
  goal: Name(8_000, 'The task, which the program finds in `PETSTORE_GOAL`.', 'Order 2 of Nemo.'),
  says: Type.Optional(Name(500, 'What its last line contains.', 'done: order {orders.id}')),
};
const wantedFacts = {
  resource: Type.Enum(
    lists.map(({ name }) => name),
    { type: 'string', description: 'A list of the API.', examples: ['orders'] },
  ),
  count: Type.Optional(Units(0, 'How many rows there are. Default: 1.', 1)),
};

type Path = (string | number)[];

/** The JSON Pointer to a part of the file. */
const at = (...path: Path) => {
  const { place } = bodyProperty(...path);
  return { subject: (place as { pointer: string }).pointer, place };
};

const readTexts = objectReader(texts, at);
const readFacts = objectReader(wantedFacts, at);
const rowReaders = new Map(lists.map((list) => [list.name, objectReader(findable(list), at)]));

/** The properties by which a row can be found. Null means that an optional property is absent. */
function findable({ properties }: ApiList): TProperties {
  const plain = Object.entries(properties).flatMap(([name, property]) => {
    if (Type.IsObject(property)) return [];
    const { readOnly: _, ...schema } = property as TSchema & { readOnly?: true };
    const value = Type.IsOptional(property) ? Type.Union([schema as TSchema, Type.Null()]) : schema;
    return [[name, Type.Optional(value as TSchema)]];
  });
  return Object.fromEntries(plain);
}

/** Reads a goal file. Throws an error that lists the wrong values by JSON Pointer, and what is allowed. */
export function readGoal(text: string): Goal {
  const problems: ValueProblem[] = [];
  const source = objectAt(parsed(text), [], [...Object.keys(texts), 'wanted'], problems);
  const { goal, says } = readTexts(source, problems) as { goal: string; says?: string };
  const wanted = listAt(own(source, 'wanted'), ['wanted'], problems).map((one, i) =>
    readWanted(one, ['wanted', i], problems),
  );
  throwIfAny(problems);
  const parts = says === undefined ? undefined : partsOf(says, wanted as WantedRows[]);
  if (typeof parts === 'string') throwIfAny([{ ...at('says'), detail: parts }]);
  return { text: goal, wanted: wanted as WantedRows[], ...(says && { says: parts as Says }) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`is not JSON: ${escapeTerminal((error as Error).message)}`);
  }
}

function readWanted(given: unknown, path: Path, problems: ValueProblem[]): WantedRows | undefined {
  const known = [...Object.keys(wantedFacts), 'where', 'fields'];
  const source = objectAt(given, path, known, problems);
  const before = problems.length;
  const { resource, count = 1 } = readFacts(source, problems, path) as { resource: string; count?: number };
  const list = lists.find(({ name }) => name === resource);
  if (!list) return undefined;
  const [where, fields] = ['where', 'fields'].map((name) => {
    const names = Object.keys(findable(list));
    const isAbsent = name === 'fields' && !Object.hasOwn(source, name);
    const found = isAbsent ? {} : own(source, name);
    const values = objectAt(found, [...path, name], names, problems);
    return rowReaders.get(resource)?.(values, problems, [...path, name]) ?? {};
  }) as [Item, Item];
  return problems.length > before ? undefined : { list, where, fields, count };
}

const own = (source: Values, name: string) => (Object.hasOwn(source, name) ? source[name] : undefined);

/** The value, if it is an object that has only these properties. */
function objectAt(value: unknown, path: Path, names: string[], problems: ValueProblem[]): Values {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problems.push({ ...at(...path), detail: 'must be an object' });
    return {};
  }
  const others = Object.keys(value).filter((name) => !names.includes(name));
  for (const name of others)
    problems.push({ ...at(...path), detail: `must not have ${quote(name)}; it takes ${names.join(', ')}` });
  return value as Values;
}

function listAt(value: unknown, path: string[], problems: ValueProblem[]): unknown[] {
  if (Array.isArray(value) && value.length <= maxWanted) return value;
  problems.push({ ...at(...path), detail: `must be a list of at most ${maxWanted} objects` });
  return [];
}

function throwIfAny(problems: readonly ValueProblem[]): void {
  if (problems.length === 0) return;
  const all = firstOf(
    problems.map(({ subject, detail }) => `${subject} ${detail}`),
    maxProblems,
    'problem',
  );
  throw new Error(`is not a goal: ${escapeTerminal(all.join('. '))}`);
}

/** The required content of the last line: text, and values of the store. */
export type Says = readonly (string | Placeholder)[];

/** A property of the one row that a predicate finds. */
interface Placeholder {
  /** The index of the predicate. */
  wanted: number;
  property: string;
}

const placeholder = /\{(\w+)\.(\w+)\}/;

/** Parses a text with placeholders such as `{orders.id}`. Returns a sentence if the text is wrong. */
function partsOf(says: string, wanted: readonly { list: ApiList; count: number }[]): Says | string {
  // `split` returns each text, followed by the two names of a placeholder.
  const pieces = says.split(placeholder);
  const parts: (string | Placeholder)[] = [];
  for (let i = 0; i < pieces.length; i += 3) {
    parts.push(pieces[i] as string);
    const [resource, property] = pieces.slice(i + 1, i + 3);
    if (resource === undefined || property === undefined) continue;
    const found = wanted.flatMap(({ list, count }, index) =>
      list.name === resource ? [{ index, count }] : [],
    );
    if (found.length !== 1 || found[0]?.count !== 1)
      return `has {${resource}.${property}}, so "wanted" must name ${resource} exactly once, with the count 1`;
    const names = Object.keys(lists.find(({ name }) => name === resource)?.properties ?? {});
    if (!names.includes(property))
      return `has {${resource}.${property}}, but ${resource} have only ${names.join(', ')}`;
    parts.push({ wanted: found[0].index, property });
  }
  const isBlank = parts.every((part) => typeof part !== 'string' || part.trim() === '');
  return isBlank ? 'must have text besides its placeholders' : parts;
}

/** Whether a line contains `says`, with any values in its placeholders. Like `contains`: whole words, in any case. */
export function claims(words: string, says: Says): boolean {
  const line = words.toLowerCase();
  let from = 0;
  for (const [i, part] of says.entries()) {
    if (typeof part !== 'string') continue;
    const text = part.toLowerCase();
    const isWhole = (index: number) =>
      !(i === 0 && isInside(line, index)) && !(i === says.length - 1 && isInside(line, index + text.length));
    const found = placesOf(text, line, from).find(isWhole);
    if (found === undefined) return false;
    from = found + text.length;
  }
  return true;
}

/** Fills the placeholders with the values of the rows that were found. */
export const filled = (says: Says, rows: readonly (readonly Item[])[]): string =>
  says
    .map((part) =>
      typeof part === 'string' ? part : String(rows[part.wanted]?.[0]?.[part.property] ?? 'none'),
    )
    .join('');

/** Whether a line contains a text that is not a part of a longer word or number. Ignores case. */
export function contains(words: string, text: string): boolean {
  const [line, sought] = [words.toLowerCase(), text.toLowerCase()];
  return placesOf(sought, line).some((i) => !isInside(line, i) && !isInside(line, i + sought.length));
}

/** The places of a text in a line. */
function* placesOf(text: string, line: string, from = 0): Generator<number> {
  for (let i = line.indexOf(text, from); i !== -1; i = i < line.length ? line.indexOf(text, i + 1) : -1)
    yield i;
}

/** Whether a place in a line is inside a word or number. */
const isInside = (line: string, index: number) =>
  index > 0 && /^[\p{L}\p{N}]{2}$/u.test(line.slice(index - 1, index + 1));
