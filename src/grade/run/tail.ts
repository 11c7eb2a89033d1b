import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { withoutCutBeginning, withoutSecrets } from '../../foundation/redact.ts';
import { escapeTerminal } from '../../foundation/terminal-text.ts';
import { cut } from '../../foundation/words.ts';

/** The maximum number of lines that are shown, and that are stored of each stream. */
const [maxLines, maxKeptLines] = [20, 100];
const maxLineLength = 500;
/** In characters, counted from the end: the part of a piece of output that is read, and the part of a line that is stored. */
const [maxPiece, maxKept] = [65_536, 4_096];

interface Line {
  /** Its position among the lines of both streams. */
  order: number;
  text: string;
  /** Whether its beginning was dropped. */
  isCut: boolean;
}

const emptyLine: Line = { order: 0, text: '', isCut: false };

/** Keeps the last lines of a program's two streams. Much output on one stream does not displace the lines of the other. */
export class Tail {
  readonly #streams: LastLines[] = [];
  #last = 0;

  /** Adds a stream. Returns a function that stores each piece and passes it to `onText`. */
  stream(onText: (text: string) => void): (chunk: Buffer) => void {
    const decoder = new StringDecoder('utf8');
    const lines = new LastLines();
    this.#streams.push(lines);
    return (chunk) => {
      const text = decoder.write(chunk);
      lines.add(text, () => ++this.#last);
      onText(text);
    };
  }

  /** The last lines that are not empty, in their order, safe for a terminal and without secrets. */
  lines(): string[] {
    const all = this.#streams.map((lines) => lines.all());
    const total = all.reduce((sum, { length }) => sum + length, 0);
    return all
      .flatMap((lines) => lastOf(lines, Math.max(maxLines / 2, maxLines - total + lines.length)))
      .sort((a, b) => a.order - b.order)
      .map(({ text }) => text);
  }
}

/**
 * Drops lines until the rest is short enough: indented lines first, oldest first. After an error, indented lines are a stack trace, or an
 * object with hundreds of lines.
 */
function lastOf(lines: Line[], most: number): Line[] {
  let surplus = lines.length - most;
  const isDropped = ({ text }: Line) => surplus > 0 && text.startsWith(' ') && surplus-- > 0;
  return (surplus > 0 ? lines.filter((line) => !isDropped(line)) : lines).slice(-most);
}

/** The last lines of one stream. */
class LastLines {
  #lines: Line[] = [];
  /** The last line, which has no line end yet. */
  #open = emptyLine;

  add(text: string, next: () => number): void {
    const piece = text.slice(-maxPiece);
    if (piece !== text) this.#open = { ...emptyLine, isCut: true };
    for (const [index, part] of piece.split(/\r?\n|\r/).entries()) {
      if (index > 0) {
        this.#lines.push(...shown(this.#open));
        this.#open = emptyLine;
      }
      if (part === '') continue;
      const whole = this.#open.text + part;
      const kept = whole.slice(-maxKept);
      this.#open = { order: next(), text: kept, isCut: this.#open.isCut || kept !== whole };
    }
    this.#lines = lastOf(this.#lines, maxKeptLines);
  }

  all = (): Line[] => lastOf([...this.#lines, ...shown(this.#open)], maxKeptLines);
}

/** The displayed form of a line. Empty lines are left out. */
function shown({ order, text, isCut }: Line): Line[] {
  if (text === '') return [];
  const whole = stripVTControlCharacters(text);
  const plain = withoutSecrets(isCut ? withoutCutBeginning(whole) : whole)
    .replaceAll('\t', '  ')
    .trimEnd();
  const line = escapeTerminal(cut(plain, maxLineLength));
  return line === '' ? [] : [{ order, text: line, isCut }];
}
