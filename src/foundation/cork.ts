import type { Writable } from 'node:stream';

/**
 * Sends everything that is written to a socket in this turn of the event loop by one system call, because a call costs as much as making a
 * small message, and wakes the receiver.
 */
export function corkForTurn(socket: Writable): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  process.nextTick(() => socket.uncork());
}
