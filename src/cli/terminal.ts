import { writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { userFolder } from '#distribution';
import { escapeLines, escapeTerminal, toColumns } from '../foundation/terminal-text.ts';
import { withUserUmask } from '../foundation/umask.ts';

/** A list is shown with commas. */
type Cell = string | number | readonly string[] | undefined;

/** Prints rows as JSON, or as a table with a header of field names. */
export function printRows(rows: Record<string, Cell>[], asJson: boolean | undefined): void {
  console.log(asJson ? toJson(rows) : toTable(rows));
}

/** Prints an object as JSON, or as lines of name and value. */
export function printFields(fields: Record<string, Cell>, asJson: boolean | undefined): void {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  console.log(
    asJson
      ? toJson(fields)
      : toColumns(
          known.map(([name, value]) => [name, String(value)]),
          unwrapped(),
        ),
  );
}

/** In a pipe each row is one line, for `grep` and `awk`. */
const unwrapped = () => (process.stdout.isTTY ? {} : { width: Number.POSITIVE_INFINITY });

export const toJson = (value: unknown) => JSON.stringify(value, null, 2);

export function toTable(rows: Record<string, Cell>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const head = names.map((text) => ({ text, style: 'bold' as const }));
  const cells = rows.map((row) => names.map((name) => String(row[name] ?? '')));
  return rows.length > 0 ? toColumns([head, ...cells], unwrapped()) : 'None.';
}

/** Prints text of a service, with control characters escaped. */
export const printLines = (text: string) => console.log(escapeLines(text));

/** Prints to standard error, because standard output contains only the result of a command. */
export const note = (text: string) => console.error(escapeTerminal(text));

/** The path of a file that the user named, from the folder of the user. */
export const userPath = (file: string) => resolve(userFolder(), file);

/** Writes a file that the user named, with the permissions of the user's own files. */
export const writeUserFile = (file: string, text: string) =>
  withUserUmask(() => writeFileSync(userPath(file), text));

/** The columns of the terminal that shows a help, or 80. */
export const helpWidth = (command: Command) => command.configureOutput().getOutHelpWidth?.() ?? 80;

/** Text after the help of a command, wrapped to the terminal like the rest of it. Indented lines are commands, and stay as they are. */
export const helpNote =
  (text: string) =>
  ({ command }: { command: Command }): string => {
    const paragraphs: string[] = [];
    for (const line of text.split('\n')) {
      const last = paragraphs.at(-1) ?? '';
      const isContinued = !/^(?: |$)/.test(last) && !/^(?: |$)/.test(line);
      if (isContinued) paragraphs.splice(-1, 1, `${last} ${line}`);
      else paragraphs.push(line);
    }
    const help = command.createHelp();
    return paragraphs
      .map((one) => (one.startsWith(' ') ? one : help.boxWrap(one, helpWidth(command))))
      .join('\n');
  };

/** Milliseconds since 1970 as an ISO 8601 time. */
export const isoTime = (ms: number) => new Date(ms).toISOString();

/** Asks at a terminal, and throws unless the answer is yes or the user cannot see the question. Never asks a script. */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) return;
  const output = [process.stderr, process.stdout].find(({ isTTY }) => isTTY);
  if (!output)
    throw new Error(
      'Nothing was changed: no terminal can show the question. Use --yes to skip the question.',
    );
  const terminal = createInterface({ input: process.stdin, output });
  const answer = await new Promise<string | undefined>((resolve) => {
    terminal
      .once('close', () => resolve(undefined))
      .once('SIGINT', () => {
        terminal.close();
        output.write('\n');
        // Signals the whole group, as the terminal does, so that a loop in a shell ends, too.
        process.kill(0, 'SIGINT');
      })
      .question(`${question} [y/N] `, resolve);
  });
  terminal.close();
  if (answer === undefined) output.write('\n');
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) throw new Error('Nothing was changed.');
}

/** A line on standard error that changes, on a terminal only. */
export function progressLine(): { show(text: string): void; end(): void } {
  let isShown = false;
  return {
    show(text) {
      if (!process.stderr.isTTY) return;
      process.stderr.write(`\r${text}`);
      isShown = true;
    },
    end() {
      if (isShown) process.stderr.write('\n');
    },
  };
}

/** The signals that ask a command to end. */
export const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** One Ctrl-C may arrive several times within this time, since npm and `bin/petstore.js` pass it on. */
const sameSignalMs = 500;

/** The first termination signal aborts `signal`, so that the work can finish in order. A second one ends this process at once. */
export function watchSignals(): { signal: AbortSignal; received(): NodeJS.Signals | undefined } {
  const stop = new AbortController();
  let received: NodeJS.Signals | undefined;
  let receivedAtMs = 0;
  for (const signal of endSignals)
    process.on(signal, () => {
      if (received && performance.now() - receivedAtMs > sameSignalMs) process.exit(statusOf(received));
      if (received) return;
      [received, receivedAtMs] = [signal, performance.now()];
      stop.abort();
    });
  return { signal: stop.signal, received: () => received };
}

/** The exit status that shells report for a process that a signal ended. */
export const statusOf = (signal: NodeJS.Signals) => 128 + constants.signals[signal];
