import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { printable } from '../printable.ts';
import { withoutSecrets } from '../redact.ts';

const maxCharacters = 16_384;
const maxLines = 20;
const maxLineLength = 500;

/** The last of what a program writes. */
export class Tail {
  #text = '';

  /** Takes the output of one of its streams, and returns what takes the pieces. */
  stream(tell: (text: string) => void): (chunk: Buffer) => void {
    const decoder = new StringDecoder('utf8');
    return (chunk) => {
      const text = decoder.write(chunk);
      this.#text = (this.#text + text).slice(-maxCharacters);
      tell(text);
    };
  }

  /** Its last lines that are not empty, as a terminal may get them, without secrets. */
  lines(): string[] {
    return withoutSecrets(stripVTControlCharacters(this.#text))
      .split(/\r?\n|\r/)
      .map((line) => printable(line.replaceAll('\t', '  ').trimEnd()))
      .filter((line) => line !== '')
      .slice(-maxLines)
      .map((line) => (line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line));
  }
}
