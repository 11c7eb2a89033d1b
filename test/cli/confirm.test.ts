import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bin, command, commands, printed } from '../support/service.ts';
import { temporaryStorage } from '../support/storage.ts';
import { type AtTerminal, atTerminal, needsTerminal } from '../support/terminal.ts';
import { until } from '../support/until.ts';

/** How shells report that SIGINT ended a command. */
const interrupted = 128 + 2;

/** The command for a workspace, the typed answer, the question, and the pets and keys afterwards. */
const cases: [act: string, typed: string, question: RegExp, after: [number, number] | undefined][] = [
  [
    'delete',
    'y\r',
    /Delete workspace \S+ .*pets: 21, .*keys: 1\)\? \[y\/N\][\s\S]*rows deleted: \d+\r\n/,
    undefined,
  ],
  ['reset', 'yes\r', /Replace everything in workspace \S+ .*pets: 21, [^k]*\) with .*\? \[y\/N\]/, [20, 1]],
  ['delete', '\r', /Delete/, [21, 1]],
  ['reset', '\u0004', /Replace.*\[y\/N\] \r\npetstore: Nothing/, [21, 1]],
];

test('a workspace is reset or deleted only if the user agrees at the terminal', needsTerminal, async (t) => {
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t) };
  const names = cases.map((_, i) => `shop${i}`);
  await commands(
    names.flatMap((name) => [
      ['workspaces', 'create', name, '--seed'],
      ['seed', '--workspace', name, '--pets', '1'],
      ['keys', 'create', '--plan', 'free', '--workspace', name],
    ]),
    env,
  );
  const held = async () => {
    const all: { name: string; pets: number; keys: number }[] = await printed(['workspaces', 'list'], env);
    const found = names.map((wanted) => all.find(({ name }) => name === wanted));
    return found.map((one) => one && [one.pets, one.keys]);
  };
  const terminals = cases.map(([act], i) =>
    atTerminal(t, ['workspaces', act, names[i] as string], { ...env, TERM: 'dumb' }),
  );
  await until(() => terminals.every(({ output }) => output().includes('[y/N]')));
  const before = cases.map(() => [21, 1]);
  assert.deepEqual(await held(), before, 'nothing happens before');
  for (const [i, [, typed]] of cases.entries()) terminals[i]?.type(typed);
  for (const [i, [, typed, question]] of cases.entries()) {
    const terminal = terminals[i] as AtTerminal;
    const agrees = typed.startsWith('y');
    assert.equal(await terminal.ended, agrees ? 0 : 1);
    assert.match(terminal.output(), question);
    assert.equal(terminal.output().includes('petstore: Nothing was changed.'), !agrees);
  }
  const expected = cases.map(([, , , after]) => after);
  assert.deepEqual(await held(), expected);
});

test('Ctrl+C at the question changes nothing, and ends a shell loop', needsTerminal, async (t) => {
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t), TERM: 'dumb' };
  await command(['workspaces', 'create', 'shop'], env);
  const remove = `'${process.execPath}' '${bin}' workspaces delete shop`;
  const terminal = atTerminal(t, ['--version'], env, `${remove}; echo goes on;`);
  await until(() => terminal.output().includes('[y/N]'));
  terminal.type('\u0003');
  assert.equal(await terminal.ended, interrupted);
  assert.match(terminal.output(), /Delete.*\[y\/N\] \r\n$/);
  assert.equal((await printed(['workspaces', 'list'], env)).length, 1);
});

test(
  'deletion and reset fail if the workspace was deleted during the question, and spare a new one of that name',
  needsTerminal,
  async (t) => {
    const env = { PETSTORE_DATA_DIR: await temporaryStorage(t), TERM: 'dumb' };
    const cases = [
      { act: 'delete', name: 'one', isReplaced: false },
      { act: 'delete', name: 'other', isReplaced: true },
      { act: 'reset', name: 'third', isReplaced: true },
    ];
    await commands(
      cases.map(({ name }) => ['workspaces', 'create', name]),
      env,
    );
    const terminals = cases.map(({ act, name }) => atTerminal(t, ['workspaces', act, name], env));
    await until(() => terminals.every(({ output }) => output().includes('[y/N]')));
    const replaced = cases.filter(({ isReplaced }) => isReplaced).map(({ name }) => name);
    const meanwhile = [
      ...cases.map(({ name }) => ['workspaces', 'delete', name]),
      ...replaced.map((name) => ['workspaces', 'create', name]),
      ...replaced.map((name) => ['seed', '--workspace', name, '--pets', '1']),
    ];
    for (const { status, stderr } of await commands(meanwhile, env)) assert.equal(status, 0, stderr);
    for (const terminal of terminals) terminal.type('y\r');
    for (const [i, { name }] of cases.entries()) {
      const terminal = terminals[i] as AtTerminal;
      assert.equal(await terminal.ended, 1);
      assert.match(
        terminal.output(),
        new RegExp(`\\npetstore: There is no workspace ${name} any more: it was deleted meanwhile\\.\\r\\n$`),
      );
    }
    const left: { name: string; pets: number }[] = await printed(['workspaces', 'list'], env);
    const kept = left.map(({ name, pets }) => `${name} ${pets}`);
    assert.deepEqual(kept, ['other 1', 'third 1']);
  },
);

test(
  'a command asks at a terminal that shows the question, and refuses if the question cannot be seen',
  needsTerminal,
  async (t) => {
    const folder = await temporaryStorage(t);
    const env = { PETSTORE_DATA_DIR: folder, TERM: 'dumb' };
    await command(['workspaces', 'create', 'shop'], env);
    const file = join(folder, 'output');
    const remove = ['workspaces', 'delete', 'shop'];
    for (const elsewhere of ['1', '2']) {
      const terminal = atTerminal(t, remove, env, `exec ${elsewhere}>${file};`);
      await until(() => terminal.output().includes('[y/N]'));
      terminal.type('n\r');
      assert.equal(await terminal.ended, 1);
    }
    const unseen = atTerminal(t, remove, env, `exec >${file} 2>&1;`);
    assert.equal(await unseen.ended, 1);
    assert.match(readFileSync(file, 'utf8'), /^petstore: Nothing was changed: .*--yes.*\n$/);
    assert.equal((await printed(['workspaces', 'list'], env)).length, 1);
    assert.equal(await atTerminal(t, [...remove, '--yes'], env, `exec >${file} 2>&1;`).ended, 0);
    assert.equal(readFileSync(file, 'utf8'), 'Workspace shop is deleted.\n');
  },
);

test('deleting a workspace that does not exist gives no advice to create it', async (t) => {
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t) };
  const { stderr } = await command(['workspaces', 'delete', 'x'], env);
  assert.equal(stderr, 'petstore: There is no workspace x. "workspaces list" shows all workspaces.\n');
  assert.match((await command(['workspaces', 'reset', 'x'], env)).stderr, /"workspaces create x" creates it/);
});
