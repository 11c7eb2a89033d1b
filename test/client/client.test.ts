import assert from 'node:assert/strict';
import { stripTypeScriptTypes } from 'node:module';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { operationsText } from '../../scripts/generate/client/operations.ts';
import { outputs } from '../../scripts/generate/client/outputs.ts';
import { textOf } from '../support/tree.ts';

const folder = 'src/client/';
const maxBytes = 12_500;
const comments = /\/\*[\s\S]*?\*\/|^ *\/\/.*$/gm;

/** The modules that a file imports, also indirectly, with their texts. */
function modulesFrom(name: string, found = new Map<string, string>()): Map<string, string> {
  if (found.has(name)) return found;
  const text = textOf(folder + name).replaceAll(comments, '');
  found.set(name, text);
  for (const [, target] of text.matchAll(/(?:from|import\()\s*'([^']+)'/g)) {
    assert.match(target as string, /^\.\/[\w-]+\.ts$/, `${name} imports ${target}`);
    modulesFrom((target as string).slice(2), found);
  }
  return found;
}

test('the client imports nothing but its own files', () => {
  assert.ok(modulesFrom('index.ts').size > 10);
});

test('the compressed client is smaller than 12.5 kB, even if names are not shortened', () => {
  const code = [...modulesFrom('index.ts').values()].map((text) => stripTypeScriptTypes(text)).join('');
  const { length } = gzipSync(code.replaceAll(/\s+/g, ' '));
  assert.ok(length > 4_000 && length < maxBytes, `${length} bytes`);
});

test('a bundle of one client contains no module of the other', () => {
  const names = ['petstore', 'lab', 'accounts'];
  const operationsOf = (name: string) =>
    [...modulesFrom(`${name}.ts`).keys()].filter((module) => module.endsWith('operations.ts'));
  assert.deepEqual(names.flatMap(operationsOf), [
    'operations.ts',
    'lab-operations.ts',
    'accounts-operations.ts',
  ]);
});

/** The code of a module, regardless of its formatting. */
const codeOf = (text: string) =>
  text
    .replaceAll(comments, '')
    .replaceAll(/\s+/g, '')
    .replaceAll(/,(?=[)\]}])/g, '')
    .replace(/^(import.*?;)+/, '');

for (const { source, description, names, events, files } of outputs)
  test(`the generated files from ${source} are current`, () => {
    for (const name of Object.values(files)) {
      const hint = `Run "npm run generate": ${name} is older than ${source}.`;
      assert.ok(textOf(folder + name).includes(`(${description.fingerprint})`), hint);
    }
    const expected = codeOf(operationsText(description, names, events));
    const hint = `Run "npm run generate": ${files.operations} is not current.`;
    assert.equal(codeOf(textOf(folder + files.operations)), expected, hint);
  });
