/** The tests of limits and bans once more, with a server and with a cluster: `npm test -- valkey`. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { needsValkey, serverKinds } from '../../support/valkey.ts';

// One test is about saving accounts, which shared ones are not, and one takes a minute.
const except = ['--test-skip-pattern', 'cannot be saved|real minute'];
const files = ['limits', 'bans'].map((file) => new URL(`${file}.test.ts`, import.meta.url).pathname);

for (const [name, start] of serverKinds) {
  test(`with ${name}, the tests of limits and bans pass`, needsValkey, async (t) => {
    const url = (await start(t))[0]?.url;
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const run = spawn(process.execPath, ['--test', ...except, ...files], {
      env: { ...env, PETSTORE_TEST_VALKEY_URL: url },
    });
    let output = '';
    run.stdout.on('data', (chunk) => (output += chunk));
    const [code] = await once(run, 'exit');
    assert.equal(code, 0, output);
  });
}
