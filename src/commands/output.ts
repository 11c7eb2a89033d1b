import { styleText } from 'node:util';
import { printable, unprintable } from '../printable.ts';

const [usualWidth, minTextWidth] = [100, 30];

type Cell = string | number | undefined;

/** Prints rows as JSON, or as a table with the names of their fields as its head. */
export function printRows(rows: Record<string, Cell>[], asJson: boolean | undefined): void {
  console.log(asJson ? toJson(rows) : toTable(rows));
}

/** Prints one thing as JSON, or as lines of name and value. */
export function printFields(fields: Record<string, Cell>, asJson: boolean | undefined): void {
  console.log(asJson ? toJson(fields) : toLines(fields));
}

export const toJson = (value: unknown) => JSON.stringify(value, null, 2);

/** Rows as a table with the names of their fields as its head. */
export function toTable(rows: Record<string, Cell>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [
    names,
    ...rows.map((row) => names.map((name) => String(row[name] ?? '').replace(unprintable, '?'))),
  ];
  const widths = names.map((_, i) => Math.max(...lines.map((line) => (line[i] as string).length)));
  const texts = lines.map((line) =>
    line
      .map((cell, i) => cell.padEnd(widths[i] as number))
      .join('  ')
      .trimEnd(),
  );
  return rows.length > 0 ? [styleText('bold', texts[0] as string), ...texts.slice(1)].join('\n') : 'None.';
}

function toLines(fields: Record<string, Cell>): string {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  const width = Math.max(...present.map(([name]) => name.length));
  return present
    .map(([name, value]) => `${name.padEnd(width)}  ${String(value).replace(unprintable, '?')}`)
    .join('\n');
}

/** Prints lines that a service wrote. */
export const printLines = (text: string) => console.log(text.split('\n').map(printable).join('\n'));

/** Lines of columns, of which the last is wrapped to the width of the terminal. */
export function toColumns(rows: string[][]): string {
  const shown = rows.map((row) => row.map((cell) => cell.replace(unprintable, '?')));
  const count = Math.max(...shown.map((row) => row.length)) - 1;
  const widths = Array.from({ length: count }, (_, i) =>
    Math.max(...shown.map((row) => (row[i] ?? '').length)),
  );
  const indent = widths.reduce((sum, width) => sum + width + 2, 0);
  const room = Math.max(minTextWidth, (process.stdout.columns ?? usualWidth) - indent);
  const lines = shown.flatMap((row) => {
    const begin = widths.map((width, i) => `${(row[i] ?? '').padEnd(width)}  `).join('');
    return wrapped(row[count] ?? '', room).map((text, i) =>
      `${i === 0 ? begin : ' '.repeat(indent)}${text}`.trimEnd(),
    );
  });
  return lines.join('\n');
}

/** A text in lines of a width; a longer word has a line of its own. */
function wrapped(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) as string;
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Milliseconds since 1970 as an ISO 8601 time. */
export const isoTime = (ms: number) => new Date(ms).toISOString();
