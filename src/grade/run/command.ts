import { runProgram } from './program.ts';

interface CommandOptions {
  signal: AbortSignal;
  /** Default: the environment of this process. */
  env?: NodeJS.ProcessEnv;
  /** Its time limit in milliseconds. Default: 60 s. */
  limitMs?: number | undefined;
  /** Lets processes that it starts in the background go on. */
  keepsProcesses?: boolean;
}

/** How many of its last lines an error shows. */
const shownLines = 5;
const maxPrintedMiB = 64;

/** Runs a command of the user in a shell, and returns its standard output. Throws an error with its last lines if it fails. */
export async function outputOf(
  command: string,
  { env = process.env, limitMs = 60_000, ...options }: CommandOptions,
): Promise<string> {
  const excess = new AbortController();
  const signal = AbortSignal.any([options.signal, excess.signal]);
  const printed: Buffer[] = [];
  let leftBytes = maxPrintedMiB * 1024 ** 2;
  const add = (chunk: Buffer | string) => {
    leftBytes -= chunk.length;
    if (leftBytes >= 0) printed.push(Buffer.from(chunk));
    else excess.abort(new Error(`"${command}" prints more than ${maxPrintedMiB} MiB.`));
  };
  const { exitStatus, lastLines, problem } = await runProgram({
    ...{ ...options, command, env, signal, timeLimitMs: limitMs, printed: { add, end() {} } },
  });
  signal.throwIfAborted();
  if (exitStatus === 0) return Buffer.concat(printed).toString().trim();
  if (exitStatus === undefined) throw new Error(`"${command}" does not end within ${limitMs / 1_000} s.`);
  const shown = lastLines.slice(-shownLines).join(' | ');
  const failure = problem ?? `"${command}" exited with ${exitStatus}, not with 0.`;
  throw new Error(`${failure}${shown && ` It printed: ${shown}`}`);
}
