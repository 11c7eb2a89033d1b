import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startDemonstration } from './support/demonstration.ts';
import { endingOperations } from './support/examples.ts';
import { pinnedTool, testTool } from './support/tool.ts';

const fileAt = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** It takes 12 s, and more than 100 s beside other tests on a busy machine. The limit only ends a program that hangs. */
const timeout = 300_000;

testTool(
  pinnedTool('Dredd', 'apiaryio/dredd', 'Sends requests', 'dredd'),
  {
    called: '`dredd openapi.json URL --hookfiles`',
    asserts: 'Every operation gets its status, its headers and the fields of its example.',
    runs: true,
    exemptions: [
      'It expects every described error of the same request, so only successes are compared.',
      'It waits for the end of each response, so the stream of events is left out.',
      'It ignores `explode` of parameters and `required` of headers and fields, and compares media types with their parameters: a hook file corrects this.',
      'The bodies of events, pings and deliveries are not compared, nor are the optional headers `Link` and `Idempotency-Replayed`.',
    ],
  },
  async (t) => {
    const { origin, description, freshKey } = await startDemonstration(t);
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [
        ...[fileAt('node_modules/dredd/bin/dredd'), description, `${origin}/v1`, '--no-color'],
        ...['--header', `Authorization: Bearer ${await freshKey()}`],
        ...['--hookfiles', fileAt('dredd/hooks.cjs'), '--loglevel', 'error'],
      ],
      { encoding: 'utf8', cwd: dirname(description), timeout },
    );
    assert.equal(status, 0, stdout + stderr);
    const passed = [...stdout.matchAll(/^pass: (\w+) \((\d+)\)/gm)];
    const methods = endingOperations.map(({ method }) => method);
    for (const method of new Set(methods))
      assert.ok(
        passed.filter(([, sent]) => sent === method).length >= methods.filter((one) => one === method).length,
        `${method}: ${stdout}`,
      );
    return `${passed.length} requests`;
  },
);
