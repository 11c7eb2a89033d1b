import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { userEnvironment } from '#distribution';
import { withUserUmask } from './umask.ts';

/** Starts a program of the user, with the umask and the PATH of the user. Without NODE_TEST_CONTEXT it joins no test run of ours. */
export function spawnUserProgram(
  [program = '', ...args]: readonly string[],
  { env: { NODE_TEST_CONTEXT: _, ...env } = process.env, ...options }: SpawnOptions,
): ChildProcess {
  return withUserUmask(() => spawn(program, args, { ...options, env: userEnvironment(env) }));
}
