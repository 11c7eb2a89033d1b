import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnUserProgram } from '../../foundation/spawn-user-program.ts';
import type { PrintedLines } from '../compare/printed-lines.ts';
import type { Ending } from '../grade.ts';
import { Tail } from './tail.ts';

interface ProgramOptions {
  /** The program and its arguments. */
  command: readonly string[];
  env: NodeJS.ProcessEnv;
  timeLimitMs: number;
  /** Ends the program at once, with all processes that it started. */
  signal: AbortSignal;
  /** Gets each piece of its output. */
  onOutput?: ((text: string) => void) | undefined;
  /** Gets the lines of its standard output. */
  printed?: PrintedLines;
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

/**
 * Runs a program in a process group of its own, without input, until it ends or its time is over. Then ends the rest of the group, too.
 * Throws only when the signal is aborted.
 */
export async function runProgram(options: ProgramOptions): Promise<Ended> {
  const { command, env, timeLimitMs, signal, onOutput = () => {}, printed } = options;
  signal.throwIfAborted();
  const beganMs = performance.now();
  const tail = new Tail();
  const ending = (exitStatus: number | undefined): Ended => ({
    ...{ exitStatus, lastLines: tail.lines(), tookMs: Math.round(performance.now() - beganMs) },
  });
  try {
    const child = start(command, env);
    running.add(child);
    child.stdout.on('data', tail.stream(onOutput));
    child.stdout.on('data', (chunk: Buffer) => printed?.add(chunk));
    child.stderr.on('data', tail.stream(onOutput));
    const closed = new Promise((resolve) => child.once('close', resolve));
    try {
      const end = await ended(child, timeLimitMs, signal);
      await Promise.race([closed, sleep(lastOutputMs, undefined, { ref: false })]);
      printed?.end();
      return ending(end);
    } finally {
      await endGroup(child);
      running.delete(child);
      child.stdout.destroy();
      child.stderr.destroy();
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const { code, message } = error as NodeJS.ErrnoException;
    const program = command[0] || "''";
    return { ...ending(notFoundStatus), problem: `${program} does not start (${code ?? message}).` };
  }
}

/** Running programs. They are ended when this process exits. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) send(child, 'SIGKILL');
});

/** Starts a program. If it does not start, this or `ended` throws: Node.js may throw or emit the error. */
function start(command: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawnUserProgram(command, {
    ...{ env, detached: hasGroups },
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
