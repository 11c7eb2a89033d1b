/** A printed line, and its tokens: words, numbers and punctuation marks. */
export interface Line {
  text: string;
  tokens: readonly string[];
  /** The tokens as one text. Equal lines have equal keys. */
  key: string;
}

/** Stands for a time, or for what varies from run to run. As a token of an expected line it fits every token. */
const blank = '…';

const clockTime = String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\b\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?\b`;
/** `1m3.2s`, `1h2m` */
const compound = String.raw`\b\d+(?:\.\d+)?[hm]\d[\d.hms]*\b`;
const duration = String.raw`\b\d[\d,]*(?:\.\d+)?\s?(?:[munµ]?s|secs?|seconds?|minutes?|milliseconds?|min)\b`;
const times = new RegExp(`${clockTime}|${compound}|${duration}(?: ${duration})*`, 'g');
const token = /\d+(?:[.,]\d+)*(?![\p{L}_\d])|[\p{L}\p{N}_]+|\S/gu;

const toLine = (text: string, tokens: readonly string[]): Line => ({ text, tokens, key: tokens.join(' ') });

/** Times and durations are blanked, because they may be equal in some runs by chance. */
export const linesOf = (texts: readonly string[]): Line[] =>
  texts.map((text) => toLine(text, text.replace(times, blank).match(token) ?? []));

/** A line whose tokens that differ from those of another are blanked. */
export const varies = ({ text, tokens }: Line, other: Line): Line =>
  toLine(
    text,
    tokens.map((token, i) => (token === other.tokens[i] ? token : blank)),
  );

/** The places of two lines that differ. Undefined if they do not have the same number of tokens. */
export function differingIn({ tokens }: Line, other: Line): number[] | undefined {
  if (tokens.length !== other.tokens.length) return undefined;
  return tokens.flatMap((token, i) => (token === blank || token === other.tokens[i] ? [] : i));
}

/** The most lines among which one that fits or the most similar one is searched. */
const maxCandidates = 500;

/** Pairs lines that fit, as often as each occurs, in any order. Returns the lines without a partner. */
export function match(
  expected: readonly Line[],
  printed: readonly Line[],
): { missing: Line[]; extra: Line[] } {
  const byKey = Map.groupBy([...printed].reverse(), ({ key }) => key);
  const unequal = expected.filter(({ key }) => byKey.get(key)?.pop() === undefined);
  const left = new Set([...byKey.values()].flat());
  const open = Map.groupBy(
    printed.filter((line) => left.has(line)),
    ({ tokens }) => tokens.length,
  );
  const missing = unequal.filter((line) => {
    if (!line.tokens.includes(blank)) return true;
    const some = open.get(line.tokens.length) ?? [];
    const index = some.slice(0, maxCandidates).findIndex((other) => differingIn(line, other)?.length === 0);
    const [found] = index === -1 ? [] : some.splice(index, 1);
    return !(found && left.delete(found));
  });
  return { missing, extra: printed.filter((line) => left.has(line)) };
}

/** The most similar line, if at least half of it is equal. `isSameShape`: it must have the same number of tokens. */
export function nearest(line: Line, others: Iterable<Line>, isSameShape = false): Line | undefined {
  let [found, most]: [Line | undefined, number] = [undefined, 0];
  for (const other of Iterator.from(others).take(maxCandidates)) {
    if (isSameShape && other.tokens.length !== line.tokens.length) continue;
    const likeness = likenessOf(line.tokens, other.tokens);
    if (likeness >= 0.5 && likeness > most) [found, most] = [other, likeness];
  }
  return found;
}

export const isNumber = (token: string | undefined): boolean => token !== undefined && /^\d/.test(token);

/** From 0 to 1. A number in the place of another counts half. */
function likenessOf(one: readonly string[], other: readonly string[]): number {
  const longer = Math.max(one.length, other.length);
  const shorter = Math.min(one.length, other.length);
  const likeness = (a: string | undefined, b: string | undefined) =>
    a === b || a === blank ? 1 : isNumber(a) && isNumber(b) ? 0.5 : 0;
  if (longer === shorter) return one.reduce((sum, token, i) => sum + likeness(token, other[i]), 0) / longer;
  let [before, after] = [0, 0];
  while (before < shorter && one[before] === other[before]) before++;
  while (after < shorter - before && one.at(-1 - after) === other.at(-1 - after)) after++;
  return (before + after) / longer;
}
