import { fstatSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Service } from '../service.ts';
import { clockOf, turns } from './clock.ts';
import type { Duration } from './duration.ts';
import type { Store } from './store.ts';

/** What the process that started the service may ask of it, a line of JSON each. */
type Command = { advance: Duration } | { set: string } | { reset: true };

interface Options {
  /** Whether lines are obeyed; each is answered by a line of JSON on standard output. */
  tellsPrograms: boolean;
  /** Is called when standard input has ended. */
  ended(): void;
}

/**
 * Obeys standard input until it ends, if it is a pipe: one that another process holds, and that the system closes when that process
 * ends, however it ends.
 */
export function obeyInput(
  { clock, startOver }: Store,
  service: Service,
  { tellsPrograms, ended }: Options,
): void {
  if (!isPipe(process.stdin.fd)) return;
  const inTurn = turns();
  const moved = clockOf(clock, service, inTurn);
  const obey = async (command: Command): Promise<void> => {
    if ('advance' in command) await moved.advance(command.advance);
    else if ('set' in command) await moved.set(new Date(command.set));
    else if ('reset' in command) await inTurn(() => startOver(() => service.startOver()));
    else
      throw new TypeError(
        'A command is {"advance": "1 minute"}, {"set": "2026-06-01T12:00:00Z"} or {"reset": true}.',
      );
  };
  const answer = (told: object) => process.stdout.write(`${JSON.stringify(told)}\n`);
  const lines = createInterface({ input: process.stdin });
  // It keeps nothing running that is stopped otherwise.
  process.stdin.unref();
  lines.on('close', ended);
  if (!tellsPrograms) return;
  lines.on('line', (line) => {
    new Promise<void>((resolve) => resolve(obey(JSON.parse(line)))).then(
      () => answer({ ok: true, now: new Date(clock.now()).toISOString() }),
      (error: Error) => answer({ ok: false, message: error.message }),
    );
  });
}

/** Node.js and others make sockets of what they call pipes. */
function isPipe(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    // It is closed.
    return false;
  }
}
