import { fstatSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Config } from '../../foundation/settings/config.ts';
import { ConfigError } from '../../foundation/settings/setting.ts';
import type { Service } from '../service.ts';
import type { WorkspaceOptions } from './from-code/access.ts';
import type { Duration } from './from-code/clock.ts';
import { Control } from './from-code/control.ts';
import { openStore } from './from-code/store.ts';

/** Opens a store in memory. Throws ConfigError if a setting asks for storage elsewhere, or forbids the demo key. */
export async function openEphemeral(
  { databaseUrl, valkeyUrls, demo }: Pick<Config, 'databaseUrl' | 'valkeyUrls' | 'demo'>,
  options: WorkspaceOptions,
) {
  const kept = databaseUrl !== undefined ? 'DATABASE_URL' : valkeyUrls.length > 0 ? 'VALKEY_URL' : undefined;
  if (kept) throw new ConfigError(`${kept} must be absent with --ephemeral, which stores nothing.`);
  if (!demo)
    throw new ConfigError('PETSTORE_DEMO must be on with --ephemeral, because there is no other key.');
  const store = await openStore(options);
  return {
    parts: store.parts,
    key: store.access.key,
    controlOf: (service: Service) => new Control(store, service),
    runStdinCommands,
  };
}

/** A command that the parent process may send, as a line of JSON. */
type Command = { advance: Duration } | { set: string } | { reset: true };

/** Whether a value is valid for each command. */
const takes: Readonly<Record<string, (value: unknown) => boolean>> = {
  advance: (value) => typeof value === 'number' || typeof value === 'string',
  set: (value) => typeof value === 'string',
  reset: (value) => value === true,
};

interface StdinOptions {
  /** Writes the result of a command, a line of JSON. If undefined, commands are ignored. */
  answer: ((line: string) => void) | undefined;
  onEnd(): void;
}

/** Runs commands from standard input, if it is a pipe. Its end, also by the death of the other process, stops the service. */
export function runStdinCommands(control: Control, { answer, onEnd }: StdinOptions): void {
  if (!isPipe(process.stdin.fd)) return;
  const { clock } = control;
  const run = async (line: string): Promise<void> => {
    const asked = readCommand(line);
    if ('advance' in asked) await clock.advance(asked.advance);
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
function readCommand(line: string): Command {
  try {
    const asked = JSON.parse(line);
    const [[name, value] = ['', undefined], ...more] = Object.entries(asked);
    if (more.length === 0 && Object.hasOwn(takes, name) && takes[name]?.(value)) return asked;
  } catch {
    // It is not JSON.
  }
  throw new TypeError(
    'A command is {"advance": "1 minute"}, {"set": "2026-06-01T12:00:00Z"} or {"reset": true}.',
  );
}

/** Whether it is a pipe or a socket. Node.js connects child processes by sockets. */
function isPipe(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    // It is closed.
    return false;
  }
}
