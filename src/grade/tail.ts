import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { printable } from '../printable.ts';
import { withoutCutBeginning, withoutSecrets } from '../redact.ts';

const maxLines = 20;
const maxLineLength = 500;
/** Of a piece of output, what holds the last lines for sure, and what a line may take with its control characters. */
const [maxPiece, maxKept] = [32_768, 4_096];

interface Line {
  /** Its place among those of both streams. */
  order: number;
  text: string;
  /** Whether its beginning is gone. */
  isCut: boolean;
}

const emptyLine: Line = { order: 0, text: '', isCut: false };

/** The last of what a program writes to its two streams. What it says of an error is kept beside a flood of output. */
export class Tail {
  readonly #streams: LastLines[] = [];
  #last = 0;

  /** Takes the output of one of its streams: returns what takes the pieces, and passes them on. */
  stream(tell: (text: string) => void): (chunk: Buffer) => void {
    const decoder = new StringDecoder('utf8');
    const lines = new LastLines();
    this.#streams.push(lines);
    return (chunk) => {
      const text = decoder.write(chunk);
      lines.take(text, () => ++this.#last);
      tell(text);
    };
  }

  /** Its last lines that are not empty, in their order, as a terminal may get them, without secrets. */
  lines(): string[] {
    const all = this.#streams.map((lines) => lines.all());
    const total = all.reduce((sum, { length }) => sum + length, 0);
    return all
      .flatMap((lines) => lines.slice(-Math.max(maxLines / 2, maxLines - total + lines.length)))
      .sort((a, b) => a.order - b.order)
      .map(({ text }) => text);
  }
}

/** The last lines of one stream. */
class LastLines {
  #lines: Line[] = [];
  /** The line that has no end yet. */
  #open = emptyLine;

  take(text: string, next: () => number): void {
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
    this.#lines = this.#lines.slice(-maxLines);
  }

  all = (): Line[] => [...this.#lines, ...shown(this.#open)].slice(-maxLines);
}

/** A line as it is shown, if there is something to show. */
function shown({ order, text, isCut }: Line): Line[] {
  if (text === '') return [];
  const whole = stripVTControlCharacters(text);
  const plain = withoutSecrets(isCut ? withoutCutBeginning(whole) : whole)
    .replaceAll('\t', '  ')
    .trimEnd();
  const line = printable(plain.length > maxLineLength ? `${plain.slice(0, maxLineLength)}…` : plain);
  return line === '' ? [] : [{ order, text: line, isCut }];
}
