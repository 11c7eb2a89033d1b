import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';

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

/**
 * Collects the distinct lines that a program prints. `wanted`: the lines of earlier runs, so that a run that prints much more needs no more
 * memory.
 */
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
