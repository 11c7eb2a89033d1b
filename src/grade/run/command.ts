import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import { userEnvironment, userFolder } from '#distribution';
import { withoutSecrets } from '../../foundation/redact.ts';
import { withUserUmask } from '../../foundation/umask.ts';

interface CommandOptions {
  signal: AbortSignal;
  /** Default: the environment of this process. */
  env?: NodeJS.ProcessEnv;
  /** Its time limit in milliseconds. Default: 60 s. */
  limitMs?: number | undefined;
}

/** How many of its last lines an error shows. */
const shownLines = 5;

/** Runs a command of the user in a shell, and returns its standard output. Throws an error with its last lines if it fails. */
export async function outputOf(
  command: string,
  { signal, env = process.env, limitMs = 60_000 }: CommandOptions,
): Promise<string> {
  const place = { cwd: userFolder(env), env: userEnvironment(env) };
  const limits = {
    signal,
    timeout: limitMs,
    killSignal: 'SIGKILL',
    maxBuffer: Number.POSITIVE_INFINITY,
  } as const;
  try {
    const running = withUserUmask(() => promisify(exec)(command, { ...place, ...limits }));
    running.child.stdin?.end();
    return (await running).stdout.trim();
  } catch (error) {
    signal.throwIfAborted();
    const { killed, code, stdout, stderr } = error as Record<string, unknown>;
    if (killed) throw new Error(`"${command}" does not end within ${limitMs / 1_000} s.`);
    const lines = withoutSecrets(`${stdout}\n${stderr}`)
      .split('\n')
      .filter((line) => line.trim() !== '');
    const printed = lines.slice(-shownLines).join(' | ');
    throw new Error(
      `"${command}" exited with ${code ?? 'a signal'}, not with 0.${printed && ` It printed: ${printed}`}`,
    );
  }
}
