import { spawnSync } from 'node:child_process';

/** Why tests that need these programs are left out here; never where everything must be tested. */
export function whyNo(...programs: string[]): string | false {
  const missing = programs.filter((program) => spawnSync(program, ['--version']).error);
  return missing.length > 0 && !process.env.CI && `not installed: ${missing.join(', ')}`;
}
