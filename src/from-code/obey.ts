import { fstatSync } from 'node:fs';
import { createInterface } from 'node:readline';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/schema';
import type { Control } from './control.ts';
import type { Duration } from './duration.ts';

const alone = { additionalProperties: false };

/** What the process that started the service may ask of it, a line of JSON each. */
const Command = Type.Union([
  Type.Object({ advance: Type.Union([Type.Number(), Type.String()]) }, alone),
  Type.Object({ set: Type.String() }, alone),
  Type.Object({ reset: Type.Literal(true) }, alone),
]);
const command = Compile(Command);

interface Options {
  /** Lines are obeyed if they can be answered, each by a line of JSON. */
  answer: ((line: string) => void) | undefined;
  /** Is called when standard input has ended. */
  ended(): void;
}

/**
 * Obeys standard input until it ends, if it is a pipe: one that another process holds, and that the system closes when that process
 * ends, however it ends.
 */
export function obeyInput(control: Control, { answer, ended }: Options): void {
  if (!isPipe(process.stdin.fd)) return;
  const { clock } = control;
  const obey = async (line: string): Promise<void> => {
    const asked = readCommand(line);
    if ('advance' in asked) await clock.advance(asked.advance as Duration);
    else if ('set' in asked) await clock.set(new Date(asked.set));
    else await control.reset();
  };
  const lines = createInterface({ input: process.stdin });
  // It keeps nothing running that is stopped otherwise.
  process.stdin.unref();
  lines.on('close', ended);
  if (!answer) return;
  let answered = Promise.resolve();
  lines.on('line', (line) => {
    const told = obey(line).then(
      () => ({ ok: true, now: new Date(clock.now()).toISOString() }),
      (error: Error) => ({ ok: false, message: error.message }),
    );
    answered = answered.then(async () => answer(`${JSON.stringify(await told)}\n`));
  });
}

/** Throws TypeError if the line is none of the commands. */
function readCommand(line: string): Static<typeof Command> {
  try {
    const asked: unknown = JSON.parse(line);
    if (command.Check(asked)) return asked;
  } catch {
    // It is no JSON.
  }
  throw new TypeError(
    'A command is {"advance": "1 minute"}, {"set": "2026-06-01T12:00:00Z"} or {"reset": true}.',
  );
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
