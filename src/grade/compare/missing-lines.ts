import { safeText } from '../../foundation/redact.ts';
import { counted } from '../../foundation/words.ts';
import type { Printed } from './printed-lines.ts';

/** The maximum number of sentences, and of characters of a line that they show. */
const [maxSentences, maxShown] = [10, 120];

/** A sentence for each line that all runs without faults printed and this run did not, with the line that it printed instead. */
export function missingLines(expected: ReadonlySet<string>, { lines, others }: Printed): string[] {
  const left = new Set(others);
  const missing = [...expected].filter((line) => !lines.has(line));
  const sentences = missing.slice(0, maxSentences).map((line) => {
    const instead = nearest(line, left);
    if (instead === undefined) return `did not print ${quoted(line)}`;
    left.delete(instead);
    return `printed ${quoted(instead)} instead of ${quoted(line)}`;
  });
  const rest = missing.length - sentences.length;
  return rest > 0 ? [...sentences, `did not print ${counted(rest, 'more line')}`] : sentences;
}

/** The line that shares the longest beginning and end with `line`, if they make up at least half of it. */
function nearest(line: string, others: ReadonlySet<string>): string | undefined {
  let [found, most]: [string | undefined, number] = [undefined, line.length / 2];
  for (const other of others) {
    const common = inCommon(line, other);
    if (common >= most) [found, most] = [other, common];
  }
  return found;
}

function inCommon(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  let [before, after] = [0, 0];
  while (before < shorter && one[before] === other[before]) before++;
  while (after < shorter - before && one.at(-1 - after) === other.at(-1 - after)) after++;
  return before + after;
}

const quoted = (line: string) => `"${safeText(line, maxShown)}"`;
