import { type Item, type List, lists } from '../compare/state.ts';

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
export function partsOf(says: string, wanted: readonly { list: List; count: number }[]): Says | string {
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

/**
 * Whether a line contains the text of `says`, with any values in its placeholders. Ignores case. As with `contains`, "abandoned" does not
 * contain "done".
 */
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
