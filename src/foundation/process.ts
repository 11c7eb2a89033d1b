import { extname } from 'node:path';
import type { Writable } from 'node:stream';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** The umask of the user, saved when this process makes its own umask private. */
let userUmask: number | undefined;

/** Makes new files of this process readable only by their owner. */
export function setPrivateUmask(): void {
  userUmask ??= process.umask(0o077);
}

/** Runs `work` with the umask of the user: for files of the user, such as reports. */
export function withUserUmask<T>(work: () => T): T {
  if (userUmask === undefined) return work();
  const ours = process.umask(userUmask);
  try {
    return work();
  } finally {
    process.umask(ours);
  }
}

/** Starts a thread of a module, named by its TypeScript file, without options of Node.js: some keep a module from running. */
export const startThread = ({ href }: URL, options: WorkerOptions = {}): Worker =>
  new Worker(new URL(href.replace(/\.ts$/, extname(import.meta.url))), { execArgv: [], ...options });

/** Sends all that is written to a socket in this turn by one system call, which costs as much as making a small message. */
export function corkForTurn(socket: Writable): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  process.nextTick(() => socket.uncork());
}
