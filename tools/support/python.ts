import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const fileAt = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const timeout = 300_000;
/** It has the packages of requirements.txt. */
const PYTHONPATH = fileAt('../node_modules/.cache/python');
const env = { PATH: process.env.PATH, HOME: process.env.HOME, PYTHONPATH, PYTHONDONTWRITEBYTECODE: '1' };

/** Runs Python with the packages of the tools. It must succeed. Returns its standard output. */
export function python(args: readonly string[], options: { cwd?: string; input?: string } = {}): string {
  const { status, stdout, stderr } = spawnSync('python3', args, {
    encoding: 'utf8',
    timeout,
    env,
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

/** Runs a program of `tools/python`, which reads JSON and prints JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests read what programs print
export const runPython = (name: string, given: object): any =>
  JSON.parse(python([fileAt(`../python/${name}.py`)], { input: JSON.stringify(given) }));
