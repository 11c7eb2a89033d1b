import { spawnSync } from 'node:child_process';

/** Why tests that need these programs are skipped here; never if `CI` is set. */
export function whyNo(...programs: string[]): string | false {
  const missing = programs.filter((program) => spawnSync(program, ['--version']).error);
  return missing.length > 0 && !process.env.CI && `not installed: ${missing.join(', ')}`;
}

/** The command, if it succeeds here with these arguments. */
export const working = (command: string, args: string[]): string | undefined =>
  spawnSync(command, args).status === 0 ? command : undefined;

/** A Python with requests: the first that is found, or that of the system. */
export const pythonWithRequests =
  working('python3', ['-c', 'import requests']) ?? working('/usr/bin/python3', ['-c', 'import requests']);
