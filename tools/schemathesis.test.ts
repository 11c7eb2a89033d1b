import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startDemonstration } from './support/demonstration.ts';
import { python } from './support/python.ts';
import { pinnedTool, testTool } from './support/tool.ts';

const fileAt = (path: string) => fileURLToPath(new URL(path, import.meta.url));

testTool(
  pinnedTool('Schemathesis', 'schemathesis/schemathesis', 'Sends requests', 'schemathesis'),
  {
    called: '`schemathesis run --phases examples`',
    asserts: 'It finds no failure in the responses to the examples, with all checks but `ignored_auth`.',
    runs: true,
    exemptions: [
      'It waits for the end of each response, so the stream of events is left out.',
      '`ignored_auth` sends every request without a key too, and most of these get 429.',
      'Its coverage phase sends `0` as an entity tag and expects the service to refuse an `X-Request-Id`.',
    ],
  },
  async (t) => {
    const { origin, description, freshKey } = await startDemonstration(t);
    const args = [
      ...['-m', 'schemathesis.cli', '--config-file', fileAt('schemathesis.toml'), 'run', description],
      ...['--url', `${origin}/v1`, '--header', `Authorization: Bearer ${await freshKey()}`],
      ...['--phases', 'examples', '--seed', '1', '--no-color'],
      ...['--exclude-operation-id', 'streamEvents'],
      ...['--exclude-checks', 'ignored_auth'],
    ];
    // It leaves files of its own where it runs.
    const output = python(args, { cwd: dirname(description) });
    const passed = /(\d+) generated, \1 passed/.exec(output);
    assert.ok(Number(passed?.[1]) >= 50, output);
    return passed?.[0];
  },
);
