import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { defaults } from '../../src/client/options.ts';
import { blocksOf } from '../support/pasted.ts';
import { startPetstore } from '../support/petstore.ts';

const page = readFileSync(new URL('../../docs/client.md', import.meta.url), 'utf8');
const blocks = blocksOf(page);
const entry = new URL('../../src/client/index.ts', import.meta.url).href;

/** Runs the examples of the page as one program, like a reader who adds one after the other. */
async function run(t: TestContext) {
  const store = await startPetstore(t);
  const env = { PETSTORE_BASE_URL: `${await store.listen()}/v1`, PETSTORE_API_KEY: store.key };
  const code = blocks.filter(({ language }) => language === 'js').map(({ code }) => code);
  const program = code.join('\n').replaceAll("'petstore-lab/client'", `'${entry}'`);
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    env,
    timeout: 30_000,
  });
}

test('the examples of the page run unchanged, and print what it shows', async (t) => {
  const { stdout } = await run(t);
  const shown = blocks.filter(({ language }) => language === 'text').map(({ code }) => code);
  assert.equal(shown.length, 8);
  assert.equal(stdout, shown.join(''));
});

test('the page and the types state the defaults', () => {
  const options = readFileSync(new URL('../../src/client/options.ts', import.meta.url), 'utf8');
  for (const [name, value] of Object.entries(defaults)) {
    const written = value.toLocaleString('en');
    assert.match(page, new RegExp(`^\\| \`${name}\` \\| ${written} \\|`, 'm'));
    assert.match(options, new RegExp(`${written} by default[^?]*  ${name}\\?:`));
  }
});
