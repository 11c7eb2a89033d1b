import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startDemonstration } from './support/demonstration.ts';

const fileAt = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const timeout = 100_000;

test('Schemathesis finds no fault with what the examples get', async (t) => {
  const { origin, description, freshKey } = await startDemonstration(t);
  const args = [
    ...['-m', 'schemathesis.cli', '--config-file', fileAt('schemathesis.toml'), 'run', description],
    ...['--url', `${origin}/v1`, '--header', `Authorization: Bearer ${await freshKey()}`],
    ...['--phases', 'examples', '--seed', '1', '--no-color'],
    // It waits for the end of an answer, and a stream has none.
    ...['--exclude-operation-id', 'streamEvents'],
    // Each request is sent without a key too, and so many of them are refused with 429.
    ...['--exclude-checks', 'ignored_auth'],
  ];
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    PYTHONPATH: fileAt('node_modules/.cache/python'),
  };
  // It leaves files of its own where it runs.
  const cwd = dirname(description);
  const { status, stdout, stderr } = spawnSync('python3', args, { encoding: 'utf8', cwd, env, timeout });
  assert.equal(status, 0, stdout + stderr);
  const passed = /(\d+) generated, \1 passed/.exec(stdout);
  assert.ok(Number(passed?.[1]) >= 50, stdout);
  t.diagnostic(passed?.[0] as string);
});
