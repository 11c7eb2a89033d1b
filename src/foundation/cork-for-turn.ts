import type { Writable } from 'node:stream';

/** Sends all that is written to a socket in this turn by one system call, which costs as much as making a small message. */
export function corkForTurn(socket: Writable): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  process.nextTick(() => socket.uncork());
}
