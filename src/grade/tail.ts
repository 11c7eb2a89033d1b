import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { printable } from '../printable.ts';
import { withoutSecrets } from '../redact.ts';

const maxLines = 20;
const maxLineLength = 500;
/** Of a piece of output, what holds the last lines for sure, and what a line may take with its control characters. */
const [maxPiece, maxKept] = [32_768, 4_096];

interface Line {
  /** Its place among those of both streams. */
  order: number;
  text: string;
}

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
  #open: Line = { order: 0, text: '' };

  take(text: string, next: () => number): void {
    for (const [index, part] of text
      .slice(-maxPiece)
      .split(/\r?\n|\r/)
      .entries()) {
      if (index > 0) {
        this.#lines.push(...shown(this.#open));
        this.#open = { order: 0, text: '' };
      }
      if (part !== '') this.#open = { order: next(), text: (this.#open.text + part).slice(-maxKept) };
    }
    this.#lines = this.#lines.slice(-maxLines);
  }

  all = (): Line[] => [...this.#lines, ...shown(this.#open)].slice(-maxLines);
}

/** A line as it is shown, if there is something to show. */
function shown({ order, text }: Line): Line[] {
  const plain = withoutSecrets(stripVTControlCharacters(text)).replaceAll('\t', '  ').trimEnd();
  const line = printable(plain.length > maxLineLength ? `${plain.slice(0, maxLineLength)}…` : plain);
  return line === '' ? [] : [{ order, text: line }];
}
