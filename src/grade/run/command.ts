import type { Readable } from 'node:stream';
import { withoutSecrets } from '../../foundation/redact.ts';
import { spawnUserProgram } from '../../foundation/spawn-user-program.ts';

interface CommandOptions {
  signal: AbortSignal;
  /** Default: the environment of this process. */
  env?: NodeJS.ProcessEnv;
  /** Its time limit in milliseconds. */
  limitMs?: number | undefined;
}

export const defaultCommandMs = 60_000;
/** How many of its last lines an error shows. */
const shownLines = 5;

/** Runs a command of the user in a shell, and returns its standard output. Throws an error with its last lines if it fails. */
export async function outputOf(
  command: string,
  { signal, env, limitMs = defaultCommandMs }: CommandOptions,
): Promise<string> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
  const child = spawnUserProgram([command], {
    ...{ shell: true, signal: limit, killSignal: 'SIGKILL', ...(env && { env }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  ended.catch(() => {});
  const [output, errors] = await Promise.all(
    [child.stdout, child.stderr].map(async (stream) =>
      Buffer.concat(await Array.fromAsync(stream as Readable))
        .toString()
        .trim(),
    ),
  );
  const status = await ended.catch(() => null);
  signal.throwIfAborted();
  if (limit.aborted) throw new Error(`"${command}" does not end within ${limitMs / 1_000} s.`);
  if (status !== 0) {
    const last = `${output}\n${errors}`.trim().split('\n').slice(-shownLines).join('\n');
    throw new Error(
      `"${command}" exited with ${status ?? 'a signal'}, not with 0.\n${withoutSecrets(last)}`.trim(),
    );
  }
  return output ?? '';
}
