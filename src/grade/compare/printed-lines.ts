import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { kibibytes } from '../../foundation/words.ts';

/** The most characters of a program's output that are compared. */
export const maxCompared = 512 * 1024;

/** A sentence for a card whose program printed more than is compared. */
export const cutNote = `standard output after its first ${kibibytes(maxCompared)}`;

/** What a program printed on standard output. */
export interface Printed {
  /** Its lines as a terminal shows them, with one blank between words. Empty lines are left out. */
  lines: readonly string[];
  /** Whether it printed more than is compared. */
  isCut: boolean;
  /** The last line that is not empty. */
  last: string;
}

/** Collects the lines of an output. An endless output needs no more memory than `maxCompared`. */
export class PrintedLines implements Printed {
  readonly lines: string[] = [];
  isCut = false;
  last = '';
  readonly #decoder = new StringDecoder('utf8');
  #open = '';
  #left = maxCompared;
  readonly #original: (line: string) => string;

  /** `original`: returns a line as it would be without a fault. */
  constructor(original = (line: string) => line) {
    this.#original = original;
  }

  add(chunk: Buffer | string): void {
    const [first = '', ...more] = this.#decoder.write(chunk).split('\n');
    this.#open += first;
    for (const line of more) {
      this.end();
      this.#open = line;
    }
    if (this.#open.length > maxCompared) {
      this.#open = this.#open.slice(0, maxCompared);
      this.isCut = true;
    }
  }

  /** Adds the last line, which may have no line end. */
  end(text = ''): void {
    if (text !== '') this.add(text);
    const line = shownOf(this.#open);
    this.#open = '';
    if (line === '') return;
    this.last = line;
    this.#left -= line.length;
    if (this.#left >= 0) this.lines.push(this.#original(line));
    else this.isCut = true;
  }
}

/** A line without colours, without progress that was overwritten, and with one blank between words. */
function shownOf(line: string): string {
  const overwritten = line.replace(/\r+$/, '');
  const last = overwritten.slice(overwritten.lastIndexOf('\r') + 1);
  return stripVTControlCharacters(last).replaceAll(/\s+/g, ' ').trim();
}
