import assert from 'node:assert/strict';
import { test } from 'node:test';
import { petstore, petstoreInTurn } from './support/service.ts';
import { temporaryStorage } from './support/storage.ts';
import { type AtTerminal, atTerminal, needsTerminal } from './support/terminal.ts';
import { until } from './support/until.ts';

/** What is done to a workspace of its own, what is typed, and what it holds afterwards: pets and keys. */
const cases: [act: string, typed: string, question: RegExp, after: [number, number] | undefined][] = [
  ['delete', 'y\r', /Delete workspace \S+ .*pets: 21, .*keys: 1\)\? \[y\/N\]/, undefined],
  ['reset', 'yes\r', /Replace what workspace \S+ .*pets: 21, [^k]*\) by .*\? \[y\/N\]/, [20, 1]],
  ['delete', '\r', /Delete/, [21, 1]],
  ['delete', 'no\r', /Delete/, [21, 1]],
  ['delete', '\u0003', /Delete/, [21, 1]],
  ['reset', '\u0004', /Replace/, [21, 1]],
];

test(
  'what a workspace holds is only given up by who agrees to that at the terminal',
  needsTerminal,
  async (t) => {
    const env = { PETSTORE_DATA_DIR: await temporaryStorage(t) };
    const names = cases.map((_, i) => `shop${i}`);
    petstoreInTurn(
      names.flatMap((name) => [
        ['workspaces', 'create', name, '--seed'],
        ['seed', '--workspace', name, '--pets', '1'],
        ['keys', 'create', '--plan', 'free', '--workspace', name],
      ]),
      env,
    );
    const held = () => {
      const all: { name: string; pets: number; keys: number }[] = JSON.parse(
        petstore(['workspaces', 'list', '--json'], env).stdout,
      );
      const found = names.map((wanted) => all.find(({ name }) => name === wanted));
      return found.map((one) => one && [one.pets, one.keys]);
    };
    const terminals = cases.map(([act], i) =>
      atTerminal(t, ['workspaces', act, names[i] as string], { ...env, TERM: 'dumb' }),
    );
    await until(() => terminals.every(({ output }) => output().includes('[y/N]')));
    assert.deepEqual(
      held(),
      cases.map(() => [21, 1]),
      'nothing happens before',
    );
    for (const [i, [, typed]] of cases.entries()) terminals[i]?.type(typed);
    for (const [i, [, typed, question]] of cases.entries()) {
      const terminal = terminals[i] as AtTerminal;
      const agrees = typed.startsWith('y');
      assert.equal(await terminal.ended, agrees ? 0 : 1);
      assert.match(terminal.output(), question);
      assert.equal(terminal.output().includes('petstore: Nothing was changed.'), !agrees);
    }
    assert.deepEqual(
      held(),
      cases.map(([, , , after]) => after),
    );
  },
);

test('--yes does without the question', needsTerminal, async (t) => {
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t) };
  petstore(['workspaces', 'create', 'shop'], env);
  const terminal = atTerminal(t, ['workspaces', 'delete', 'shop', '--yes'], env);
  assert.equal(await terminal.ended, 0);
  assert.equal(terminal.output(), 'Workspace shop is deleted.\r\n');
});

test('a command for groups of commands shows its help and exits with 2', () => {
  for (const { args, status, stdout, stderr } of petstoreInTurn([
    [],
    ['keys'],
    ['workspaces'],
    ['webhooks'],
  ])) {
    assert.equal(status, 2);
    assert.equal(stdout, '');
    assert.match(stderr, new RegExp(`^Usage: petstore ?${args} `));
  }
});

test('who wants to delete what is not there is not told to create it', async (t) => {
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t) };
  const { stderr } = petstore(['workspaces', 'delete', 'x'], env);
  assert.equal(stderr, 'petstore: There is no workspace x. "workspaces list" shows all workspaces.\n');
  assert.match(petstore(['workspaces', 'reset', 'x'], env).stderr, /"workspaces create x" creates it/);
});
