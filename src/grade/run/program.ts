import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { withoutCutBeginning, withoutSecrets } from '../../foundation/redact.ts';
import { spawnUserProgram } from '../../foundation/spawn-user-program.ts';
import { escapeTerminal } from '../../foundation/terminal-text.ts';
import { cut } from '../../foundation/words.ts';
import type { PrintedLines } from '../compare/printed-lines.ts';
import type { Ending } from '../grade.ts';

interface ProgramOptions {
  /** The program and its arguments, or a command for a shell. */
  command: readonly string[] | string;
  env: NodeJS.ProcessEnv;
  timeLimitMs: number;
  /** Ends the program at once, with all processes that it started. */
  signal: AbortSignal;
  /** Gets each piece of its output. */
  onOutput?: ((text: string) => void) | undefined;
  /** Gets its standard output. */
  printed?: Pick<PrintedLines, 'add' | 'end'>;
  /** Lets processes that it leaves behind go on if it exits with 0. */
  keepsProcesses?: boolean | undefined;
}

/** How a program ended. `problem`: why it did not start. */
export interface Ended extends Ending {
  problem?: string;
}

/** The signals that end a program, and the wait after each. A zombie process counts as running, so the wait after SIGKILL is short. */
const endSignals = [
  ['SIGTERM', 1_000],
  ['SIGKILL', 300],
] as const;
/** How long to read output after a program has ended. Its child processes may keep its streams open. */
const lastOutputMs = 1_000;
const notFoundStatus = 127;

/** Runs a program in its own process group, then ends the rest of the group. Throws only when the signal is aborted. */
export async function runProgram(options: ProgramOptions): Promise<Ended> {
  const { command, env, timeLimitMs, signal, onOutput = () => {}, printed, keepsProcesses } = options;
  signal.throwIfAborted();
  const beganMs = performance.now();
  const tail = new Tail();
  const ending = (exitStatus: number | undefined): Ended => ({
    ...{ exitStatus, lastLines: tail.lines(), tookMs: Math.round(performance.now() - beganMs) },
  });
  try {
    const mark = randomUUID();
    const child = start(command, { ...env, [markVariable]: mark });
    running.add(child);
    child.stdout.on('data', tail.stream(onOutput));
    child.stdout.on('data', (chunk: Buffer) => printed?.add(chunk));
    child.stderr.on('data', tail.stream(onOutput));
    const closed = new Promise((resolve) => child.once('close', resolve));
    let end: number | undefined;
    try {
      end = await ended(child, timeLimitMs, signal);
      await Promise.race([closed, sleep(lastOutputMs, undefined, { ref: false })]);
      printed?.end();
      return ending(end);
    } finally {
      if (end !== 0 || !keepsProcesses) {
        await endGroup(child);
        await endMarked(mark);
      }
      running.delete(child);
      child.stdout.destroy();
      child.stderr.destroy();
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const { code, message } = error as NodeJS.ErrnoException;
    const program = [command].flat()[0] || "''";
    return { ...ending(notFoundStatus), problem: `${program} does not start (${code ?? message}).` };
  }
}

/** Running programs. They are ended when this process exits. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) send(child, 'SIGKILL');
});

/** Starts a program. If it does not start, this or `ended` throws: Node.js may throw or emit the error. */
function start(command: readonly string[] | string, env: NodeJS.ProcessEnv) {
  const isText = typeof command === 'string';
  const child = spawnUserProgram(isText ? [command] : command, {
    ...{ env, detached: hasGroups, shell: isText },
    stdio: ['ignore', 'pipe', 'pipe'],
  }) as ChildProcessByStdio<null, Readable, Readable>;
  child.on('error', () => {});
  return child;
}

/** Its exit status, or 128 plus the number of the signal that ended it; undefined after the time limit. */
async function ended(child: ChildProcess, timeLimitMs: number, signal: AbortSignal) {
  const overMs = AbortSignal.timeout(timeLimitMs);
  try {
    const [code, by] = await once(child, 'exit', { signal: AbortSignal.any([signal, overMs]) });
    return (code as number | null) ?? 128 + constants.signals[by as NodeJS.Signals];
  } catch (error) {
    if (overMs.aborted && !signal.aborted) return undefined;
    throw error;
  }
}

/** Windows has no process groups, so only the program itself is ended there. */
const hasGroups = process.platform !== 'win32';

/** Ends the remaining processes of the group: first with SIGTERM, then with SIGKILL. */
async function endGroup(child: ChildProcess): Promise<void> {
  for (const [signal, withinMs] of endSignals) {
    if (!send(child, signal)) return;
    const untilMs = performance.now() + withinMs;
    while (send(child, 0) && performance.now() < untilMs) await sleep(20);
  }
}

/** Sends a signal to the group of a program; 0 only tests. Returns whether the group still exists. */
function send(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (child.pid === undefined) return false;
  try {
    return hasGroups ? process.kill(-child.pid, signal) : child.exitCode === null && child.kill(signal);
  } catch {
    return false;
  }
}

/** Marks the processes of a run in their environment. */
const markVariable = 'PETSTORE_GRADE_RUN';

/** Ends processes of a run that left its group, on Linux. Elsewhere they stay. */
async function endMarked(mark: string): Promise<void> {
  if (process.platform !== 'linux') return;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    try {
      const variables = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0');
      if (variables.includes(`${markVariable}=${mark}`)) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended, or belongs to another user.
    }
  }
}

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

/** Drops the oldest lines, indented ones first: after an error these are a stack trace, or an object with many lines. */
function lastOf(lines: Line[], most: number): Line[] {
  let surplus = lines.length - most;
  const isDropped = ({ text }: Line) => surplus > 0 && text.startsWith(' ') && surplus-- > 0;
  return (surplus > 0 ? lines.filter((line) => !isDropped(line)) : lines).slice(-most);
}

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
