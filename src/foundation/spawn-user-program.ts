import type { ChildProcess, SpawnOptions } from 'node:child_process';
import spawn from 'cross-spawn';
import { userEnvironment, userFolder } from '#distribution';
import { withUserUmask } from './umask.ts';

/** Starts a program of the user, in its folder and environment. Without NODE_TEST_CONTEXT it joins no test run of ours. */
export function spawnUserProgram(
  [program = '', ...args]: readonly string[],
  { env: { NODE_TEST_CONTEXT: _, ...env } = process.env, ...options }: SpawnOptions,
): ChildProcess {
  return withUserUmask(() =>
    spawn(program, args, { ...options, cwd: userFolder(env), env: userEnvironment(env) }),
  );
}
