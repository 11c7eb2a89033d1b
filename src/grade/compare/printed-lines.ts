import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { safeText } from '../../foundation/redact.ts';
import { counted } from '../../foundation/words.ts';

/** The maximum number of distinct lines, and of characters of a line, that are stored. */
const [maxLines, maxLineLength] = [1_000, 300];
/** The maximum number of characters stored of a line without an end. */
const maxOpen = 4_096;

/** What a program printed on standard output. */
export interface Printed {
  /** The expected lines that it printed. In the first run: all lines. */
  lines: ReadonlySet<string>;
  /** The first other lines. */
  others: ReadonlySet<string>;
  /** The last line that is not empty. */
  last: string;
}

/** Collects distinct printed lines. `wanted`: those of earlier runs. A run that prints much more needs no more memory. */
export class PrintedLines implements Printed {
  readonly lines = new Set<string>();
  readonly others = new Set<string>();
  last = '';
  readonly #wanted: ReadonlySet<string> | undefined;
  readonly #decoder = new StringDecoder('utf8');
  #open = '';

  constructor(wanted?: ReadonlySet<string>) {
    this.#wanted = wanted;
  }

  add(chunk: Buffer): void {
    const [first = '', ...more] = this.#decoder.write(chunk).split('\n');
    this.#open = (this.#open + first).slice(0, maxOpen);
    for (const line of more) {
      this.end();
      this.#open = line.slice(0, maxOpen);
    }
  }

  /** Adds the last line, which may have no line end. */
  end(): void {
    const shown = shownOf(this.#open);
    this.#open = '';
    if (shown === '') return;
    this.last = shown;
    const line = comparable(shown);
    const isWanted = this.#wanted?.has(line) ?? true;
    const lines = isWanted ? this.lines : this.others;
    if (lines.size < maxLines) lines.add(line);
  }
}

const timesInText =
  /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?\b|\b\d+(?:\.\d+)?\s?(?:[munµ]?s|secs?|seconds?|minutes?|milliseconds?|min)\b/gi;

/** A line as a terminal shows it: without colours, and without progress that was overwritten. */
function shownOf(line: string): string {
  const overwritten = line.replace(/\r+$/, '');
  const last = overwritten.slice(overwritten.lastIndexOf('\r') + 1);
  return stripVTControlCharacters(last).trimEnd();
}

/** The form of a line for comparisons: without times, because they may be equal in some runs by chance. */
const comparable = (line: string) => line.slice(0, maxLineLength).replace(timesInText, '…');

/** The maximum number of sentences, and of characters of a line that they show. */
const [maxSentences, maxShownLength] = [10, 120];

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

const quoted = (line: string) => `"${safeText(line, maxShownLength)}"`;
