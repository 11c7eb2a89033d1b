import { writeFileSync } from 'node:fs';
import { styleText } from 'node:util';
import { printable, unprintable } from '../printable.ts';
import { withUsersUmask } from '../umask.ts';

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

/** Writes a file that the user has named, for whom they let read theirs. */
export const writeUsersFile = (file: string, text: string) => withUsersUmask(() => writeFileSync(file, text));

/** Milliseconds since 1970 as an ISO 8601 time. */
export const isoTime = (ms: number) => new Date(ms).toISOString();
