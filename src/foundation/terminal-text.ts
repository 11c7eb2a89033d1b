import { styleText } from 'node:util';

/** Characters that a terminal might execute, and invisible ones, such as those that change the direction of text. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Escapes unprintable characters as in JSON. */
export const escapeTerminal = (text: string) => text.replace(unprintable, escaped);

/** The same, except for line ends. */
export const escapeLines = (text: string) => text.split('\n').map(escapeTerminal).join('\n');

/** Escapes unprintable characters and white space. */
export const escapeWord = (text: string) => escapeTerminal(text).replace(/\s/g, escaped);

const escaped = (character: string) =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

const [usualWidth, minTextWidth] = [100, 30];
const gap = '  ';

type Style = Parameters<typeof styleText>[0];

/** A cell of a table, and how it looks where colours are shown. */
export type Cell = string | { text: string; style: Style };

interface Options {
  /** Characters in a line. Default: the width of the terminal. */
  width?: number;
  /** Text before each line. */
  indent?: string;
}

/** Formats rows as columns. Wraps the last column to the width, and omits empty columns. */
export function toColumns(rows: Cell[][], { width = columnsOf(process.stdout), indent = '' }: Options = {}) {
  const count = Math.max(...rows.map((row) => row.length)) - 1;
  const columns = Array.from({ length: count }, (_, i) => ({
    i,
    size: Math.max(...rows.map((row) => textOf(row[i]).length)),
  })).filter(({ size }) => size > 0);
  const begin = indent.length + columns.reduce((sum, { size }) => sum + size + gap.length, 0);
  const room = Math.max(minTextWidth, width - begin);
  const lines = rows.flatMap((row) => {
    const first = columns.map(({ i, size }) => styled(row[i], textOf(row[i]).padEnd(size)) + gap).join('');
    return wrapped(textOf(row[count]), room).map((text, i) => {
      const before = i === 0 ? indent + first : ' '.repeat(begin);
      return text === '' ? before.trimEnd() : before + styled(row[count], text);
    });
  });
  return lines.join('\n');
}

/** The width of a terminal, in characters. */
export const columnsOf = ({ columns = usualWidth }: { columns?: number }) => columns;

const textOf = (cell: Cell = '') => (typeof cell === 'string' ? cell : cell.text).replace(unprintable, '?');

/** A part of a cell's text in the style of the cell. */
const styled = (cell: Cell | undefined, text: string) =>
  typeof cell === 'object' && text !== '' ? styleText(cell.style, text) : text;

/** Wraps a text at words. A word longer than the width gets its own line. */
function wrapped(text: string, width: number): string[] {
  if (text.length <= width) return [text];
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) as string;
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
