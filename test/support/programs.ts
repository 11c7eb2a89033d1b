import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { until } from './until.ts';

/** Debian keeps some programs outside everybody's PATH. */
export const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };

/** For the options of tests that need something: why they are skipped. If `CI` is set, none is. */
export const needs = (isThere: boolean, what: string): { skip: string | false } => ({
  skip: isThere || process.env.CI ? false : `there is no ${what}`,
});

/** Why tests that need these programs are skipped here; never if `CI` is set. */
export function whyNo(...programs: string[]): string | false {
  const missing = programs.filter((program) => spawnSync(program, ['--version']).error);
  return missing.length > 0 && !process.env.CI && `not installed: ${missing.join(', ')}`;
}

/** The command, if it succeeds here with these arguments. */
export const working = (command: string, args: string[]): string | undefined =>
  spawnSync(command, args, { env }).status === 0 ? command : undefined;

/** A Python with requests: the first that is found, or that of the system. */
export const pythonWithRequests =
  working('python3', ['-c', 'import requests']) ?? working('/usr/bin/python3', ['-c', 'import requests']);

export type Running = Awaited<ReturnType<typeof startProgram>>;

/** Starts a program, and waits until it is ready, by its output so far. */
export async function startProgram(
  command: string,
  args: string[],
  isReady: (output: string) => boolean | Promise<boolean>,
) {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  const ended = once(child, 'exit');
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${command} did not start: ${output}`);
    return isReady(output);
  });
  /** Kills it, and waits for its end. */
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return { child, ended, kill };
}

/** Whether a process runs. An ended process may still wait for its parent to read its status. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
