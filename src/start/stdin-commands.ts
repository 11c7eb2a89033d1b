import { fstatSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Static } from 'typebox';
import { Compile } from 'typebox/schema';
import { Type } from '../foundation/type.ts';
import type { Duration } from './from-code/clock.ts';
import type { Control } from './from-code/control.ts';

const alone = { additionalProperties: false };

/** The commands that the parent process may send, each as a line of JSON. */
const Command = Type.Union([
  Type.Object({ advance: Type.Union([Type.Number(), Type.String()]) }, alone),
  Type.Object({ set: Type.String() }, alone),
  Type.Object({ reset: Type.Literal(true) }, alone),
]);
const command = Compile(Command);

interface Options {
  /** Writes the answer to a command, a line of JSON. Without it commands are ignored. */
  answer: ((line: string) => void) | undefined;
  /** Is called at the end of standard input. */
  onEnd(): void;
}

/**
 * Runs the commands that come from standard input, if it is a pipe. The system closes a pipe when the process at its other end dies, so
 * its end also stops the service.
 */
export function runStdinCommands(control: Control, { answer, onEnd }: Options): void {
  if (!isPipe(process.stdin.fd)) return;
  const { clock } = control;
  const run = async (line: string): Promise<void> => {
    const asked = readCommand(line);
    if ('advance' in asked) await clock.advance(asked.advance as Duration);
    else if ('set' in asked) await clock.set(new Date(asked.set));
    else await control.reset();
  };
  const lines = createInterface({ input: process.stdin });
  // Standard input alone must not keep the process running.
  process.stdin.unref();
  lines.on('close', onEnd);
  if (!answer) return;
  let answered = Promise.resolve();
  lines.on('line', (line) => {
    const result = run(line).then(
      () => ({ ok: true, now: new Date(clock.now()).toISOString() }),
      (error: Error) => ({ ok: false, message: error.message }),
    );
    answered = answered.then(async () => answer(`${JSON.stringify(await result)}\n`));
  });
}

/** Parses a command. Throws TypeError if it is invalid. */
function readCommand(line: string): Static<typeof Command> {
  try {
    const asked: unknown = JSON.parse(line);
    if (command.Check(asked)) return asked;
  } catch {
    // It is not JSON.
  }
  throw new TypeError(
    'A command is {"advance": "1 minute"}, {"set": "2026-06-01T12:00:00Z"} or {"reset": true}.',
  );
}

/** Whether it is a pipe or a socket: Node.js connects child processes by sockets. */
function isPipe(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    // It is closed.
    return false;
  }
}
