import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { startUsersProgram } from '../users-program.ts';
import type { Ending } from './grade.ts';
import { Tail } from './tail.ts';

export interface ProgramOptions {
  /** The program and its arguments. */
  command: readonly string[];
  env: NodeJS.ProcessEnv;
  timeLimitMs: number;
  /** Ends it at once, and all that it started. */
  signal: AbortSignal;
  /** Gets what it writes, as it comes. */
  onOutput?: ((text: string) => void) | undefined;
}

/** How a program ended, and why it did not start, if it did not. */
export interface Ended extends Ending {
  problem?: string;
}

/** How a program is told to end, and how long it may take. What nobody has asked how it ended may seem to go on. */
const endings = [
  ['SIGTERM', 1_000],
  ['SIGKILL', 300],
] as const;
/** How long output may follow the end of a program: others that hold its streams open may never end. */
const lastOutputMs = 200;
const notFoundStatus = 127;

/**
 * Runs a program in a process group of its own, without input, until it ends or its time is over. Whatever else is left of its group
 * then is ended, too. Throws only if the signal says so.
 */
export async function runProgram(options: ProgramOptions): Promise<Ended> {
  const { command, env, timeLimitMs, signal, onOutput = () => {} } = options;
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
    child.stderr.on('data', tail.stream(onOutput));
    const closed = new Promise((resolve) => child.once('close', resolve));
    try {
      const end = await ended(child, timeLimitMs, signal);
      await Promise.race([closed, sleep(lastOutputMs, undefined, { ref: false })]);
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

/** What is left of them ends with this process, however soon that must be. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) send(child, 'SIGKILL');
});

/** Starts a program. Why it does not start is thrown, or told by `ended`: Node.js does now this, now that. */
function start(command: readonly string[], env: NodeJS.ProcessEnv) {
  const child = startUsersProgram(command, {
    ...{ env, detached: hasGroups },
    stdio: ['ignore', 'pipe', 'pipe'],
  }) as ChildProcessByStdio<null, Readable, Readable>;
  child.on('error', () => {});
  return child;
}

/** Its exit status, or 128 and the number of the signal that ended it; undefined if its time was over first. */
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

/** Windows has none; there the program alone is ended. */
const hasGroups = process.platform !== 'win32';

/** Ends all that is left of the group of a program: kindly first. */
async function endGroup(child: ChildProcess): Promise<void> {
  for (const [signal, withinMs] of endings) {
    if (!send(child, signal)) return;
    const untilMs = performance.now() + withinMs;
    while (send(child, 0) && performance.now() < untilMs) await sleep(20);
  }
}

/** Sends a signal to the group of a program; 0 only asks. Returns whether there is somebody to get it. */
function send(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (child.pid === undefined) return false;
  try {
    return hasGroups ? process.kill(-child.pid, signal) : child.exitCode === null && child.kill(signal);
  } catch {
    return false;
  }
}
