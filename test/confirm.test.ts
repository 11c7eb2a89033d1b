import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { petstore, petstoreInTurn } from './support/service.ts';
import { temporaryStorage } from './support/storage.ts';
import { atTerminal, needsTerminal } from './support/terminal.ts';
import { until } from './support/until.ts';

/** A storage with a seeded workspace `shop` that has a further pet, and what it holds. */
async function prepare(t: TestContext) {
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t) };
  petstoreInTurn(
    [
      ['workspaces', 'create', 'shop', '--seed'],
      ['seed', '--workspace', 'shop', '--pets', '1'],
      ['keys', 'create', '--plan', 'free', '--workspace', 'shop'],
    ],
    env,
  );
  const held = () => {
    const [shop] = JSON.parse(petstore(['workspaces', 'list', '--json'], env).stdout);
    return shop && [shop.pets, shop.keys];
  };
  return { env, held };
}

describe('at a terminal', { concurrency: true, ...needsTerminal }, () => {
  for (const [args, typed, question, after] of [
    [['delete', 'shop'], 'y\r', /^Delete workspace shop .*pets: 21, .*keys: 1\)\? \[y\/N\]/, undefined],
    [
      ['reset', 'shop'],
      'yes\r',
      /^Replace what workspace shop .*pets: 21, [^k]*\) by .*\? \[y\/N\]/,
      [20, 1],
    ],
    [['delete', 'shop'], '\r', /^Delete/, [21, 1]],
    [['delete', 'shop'], 'no\r', /^Delete/, [21, 1]],
    [['delete', 'shop'], '\u0003', /^Delete/, [21, 1]],
    [['reset', 'shop'], '\u0004', /^Replace/, [21, 1]],
  ] as const) {
    test(`workspaces ${args[0]} asks, and ${JSON.stringify(typed)} is obeyed`, async (t) => {
      const { env, held } = await prepare(t);
      const terminal = atTerminal(t, ['workspaces', ...args], { ...env, NO_COLOR: '1', TERM: 'dumb' });
      await until(() => terminal.output().includes('[y/N]'));
      assert.match(terminal.output(), question);
      assert.deepEqual(held(), [21, 1], 'nothing happens before');
      terminal.type(typed);
      const agrees = typed.startsWith('y');
      assert.equal(await terminal.ended, agrees ? 0 : 1);
      assert.equal(terminal.output().includes('petstore: Nothing was changed.'), !agrees);
      assert.deepEqual(held(), after);
    });
  }

  test('--yes does without the question', async (t) => {
    const { env, held } = await prepare(t);
    const terminal = atTerminal(t, ['workspaces', 'delete', 'shop', '--yes'], env);
    assert.equal(await terminal.ended, 0);
    assert.doesNotMatch(terminal.output(), /\?/);
    assert.equal(held(), undefined);
  });
});

test('a command for groups of commands shows its help and exits with 2', () => {
  for (const [program, ...args] of [[], ['keys'], ['workspaces'], ['webhooks']]) {
    const { status, stdout, stderr } = petstore(program ? [program, ...args] : []);
    assert.equal(status, 2);
    assert.equal(stdout, '');
    assert.match(stderr, new RegExp(`^Usage: petstore ?${program ?? ''} `));
  }
});

test('who wants to delete what is not there is not told to create it', async (t) => {
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t) };
  const { stderr } = petstore(['workspaces', 'delete', 'x'], env);
  assert.equal(stderr, 'petstore: There is no workspace x. "workspaces list" shows all workspaces.\n');
  assert.match(petstore(['workspaces', 'reset', 'x'], env).stderr, /"workspaces create x" creates it/);
});
