import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { withUsersUmask } from './umask.ts';

/** Starts a program of the user, as if the user had started it: with their umask, and not as a part of a test of Node.js that runs us. */
export function startUsersProgram(
  [program = '', ...args]: readonly string[],
  { env: { NODE_TEST_CONTEXT: _, ...env } = process.env, ...options }: SpawnOptions,
): ChildProcess {
  return withUsersUmask(() => spawn(program, args, { ...options, env }));
}
