import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import { clientKeyVariable, settings } from '../config.ts';
import type { Client } from '../lab-service.ts';
import { startUsersProgram } from '../users-program.ts';

/** The signals by which a program is told to end. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a client, which gets the address and the key, and returns its exit status. A signal to end is for the client; what it did is
 * told afterwards. With `isData` standard output is kept for the report.
 */
export async function runClient(command: string[], client: Client, isData: boolean): Promise<number> {
  const child = start(command, client, isData);
  for (const signal of endings) process.on(signal, () => passOn(signal, child));
  try {
    const [code, signal] = await once(child, 'exit');
    return code ?? 128 + constants.signals[signal as NodeJS.Signals];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${command[0]} does not start (${code}).`, { cause: error });
  }
}

function start(command: string[], { baseUrl, key }: Client, isData: boolean): ChildProcess {
  const env = { ...process.env, [settings.baseUrl.variable]: baseUrl, [clientKeyVariable]: key };
  return startUsersProgram(command, { env, stdio: ['inherit', isData ? 2 : 'inherit', 'inherit'] });
}

/** A terminal tells its whole group of Ctrl-C, and many programs take a second one for an order to end at once. */
function passOn(signal: NodeJS.Signals, child: ChildProcess): void {
  const isTold = signal === 'SIGINT' && [0, 1, 2].some((fd) => isatty(fd));
  if (!isTold) child.kill(signal);
}

/** Waits for a signal to end. An older Node.js that handed over passes the signal on once more, so it may come twice. */
export async function untilTold(): Promise<void> {
  // A promise alone would not keep the process.
  const timer = setInterval(() => {}, 60_000);
  await new Promise((resolve) => {
    for (const signal of endings) process.on(signal, resolve);
  });
  clearInterval(timer);
}
