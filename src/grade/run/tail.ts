import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { escapeTerminal } from '../../foundation/escape-terminal.ts';
import { withoutCutBeginning, withoutSecrets } from '../../foundation/redact.ts';
import { isFrame } from './telling-line.ts';

/** The number of lines that are shown, and that each stream keeps. */
const [maxLines, maxKeptLines] = [20, 100];
const maxLineLength = 500;
/** The part of a piece of output that is read, and the part of a line that is kept, both from the end. In characters. */
const [maxPiece, maxKept] = [32_768, 4_096];

interface Line {
  /** Its position among the lines of both streams. */
  order: number;
  text: string;
  /** Whether its beginning was dropped. */
  isCut: boolean;
}

const emptyLine: Line = { order: 0, text: '', isCut: false };

/** Keeps the last lines of a program's two streams. Each stream keeps some lines, however much the other one gets. */
export class Tail {
  readonly #streams: LastLines[] = [];
  #last = 0;

  /** Adds a stream. Returns a function that takes its pieces and passes them on. */
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

  /**
   * The last lines that are not empty, in their order, safe for a terminal and without secrets. If there are too many, those of stacks are
   * left out, which may be longer than all the rest.
   */
  lines(): string[] {
    const kept = this.#streams.map((lines) => lines.all());
    const isTooMuch = countOf(kept) > maxLines;
    const all = kept.map((lines) => lines.filter(({ text }) => !isTooMuch || !isFrame(text)));
    return all
      .flatMap((lines) => lines.slice(-Math.max(maxLines / 2, maxLines - countOf(all) + lines.length)))
      .sort((a, b) => a.order - b.order)
      .map(({ text }) => text);
  }
}

const countOf = (streams: readonly Line[][]) => streams.reduce((sum, { length }) => sum + length, 0);

/** The last lines of one stream. */
class LastLines {
  #lines: Line[] = [];
  /** The last line, which has no end yet. */
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
    this.#lines = this.#lines.slice(-maxKeptLines);
  }

  all = (): Line[] => [...this.#lines, ...shown(this.#open)].slice(-maxKeptLines);
}

/** A line as it is shown; none if it is empty. */
function shown({ order, text, isCut }: Line): Line[] {
  if (text === '') return [];
  const whole = stripVTControlCharacters(text);
  const plain = withoutSecrets(isCut ? withoutCutBeginning(whole) : whole)
    .replaceAll('\t', '  ')
    .trimEnd();
  const line = escapeTerminal(plain.length > maxLineLength ? `${plain.slice(0, maxLineLength)}…` : plain);
  return line === '' ? [] : [{ order, text: line, isCut }];
}
