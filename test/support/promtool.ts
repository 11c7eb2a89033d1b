import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { Tool } from '../../tools/support/tool.ts';

const spawned = (args: readonly string[], input = '') =>
  spawnSync('promtool', args, { encoding: 'utf8', input });

/** The promtool of this machine, if there is one. */
export const promtool: Tool = {
  name: 'promtool',
  url: 'https://github.com/prometheus/prometheus',
  version: /version ([\d.]+)/.exec(spawned(['--version']).stdout ?? '')?.[1] ?? '',
  kind: 'Operates',
};

/** Runs promtool. It must succeed. */
export function runPromtool(args: readonly string[], input?: string): void {
  const { status, stdout, stderr } = spawned(args, input);
  assert.equal(status, 0, stdout + stderr);
}
