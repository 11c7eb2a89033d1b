import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { defaults } from '../../src/client/options.ts';
import { newInvite } from '../support/accounts.ts';
import { blocksOf } from '../support/pasted.ts';
import { startPetstore } from '../support/petstore.ts';
import { textOf } from '../support/tree.ts';

const page = textOf('docs/client.md');
const blocks = blocksOf(page);
const entry = new URL('../../src/client/index.ts', import.meta.url).href;

test('the examples of the page run unchanged as one program, and print what it shows', async (t) => {
  const store = await startPetstore(t);
  const { code: invite } = await newInvite(store, { upgrades: ['free', 'pro'] });
  const baseUrl = `${await store.listen()}/v1`;
  const env = { PETSTORE_BASE_URL: baseUrl, PETSTORE_API_KEY: store.key, INVITE: invite };
  const [code, shown] = ['js', 'text'].map((wanted) =>
    blocks.filter(({ language }) => language === wanted).map(({ code }) => code),
  ) as [string[], string[]];
  const program = code.join('\n').replaceAll("'petstore-lab/client'", `'${entry}'`);
  const args = ['--input-type=module', '-e', program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, timeout: 30_000 });
  assert.equal(shown.length, 9);
  assert.equal(stdout, shown.join(''));
});

test('the page and the types state the defaults', () => {
  const options = textOf('src/client/options.ts');
  for (const [name, value] of Object.entries(defaults)) {
    const written = value.toLocaleString('en');
    assert.match(page, new RegExp(`^\\| \`${name}\` \\| ${written} \\|`, 'm'));
    assert.match(options, new RegExp(`${written} by default[^?]*  ${name}\\?:`));
  }
});
