import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { operationsText } from '../../scripts/generate/client/operations.ts';
import { outputs } from '../../scripts/generate/client/outputs.ts';

const folder = new URL('../../src/client/', import.meta.url);
const maxBytes = 12_000;
const comments = /\/\*[\s\S]*?\*\/|^ *\/\/.*$/gm;

/** The modules that a file imports, also indirectly, with their texts. */
function modulesFrom(name: string, found = new Map<string, string>()): Map<string, string> {
  if (found.has(name)) return found;
  const text = readFileSync(new URL(name, folder), 'utf8').replaceAll(comments, '');
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

/** The compressed size of a module with all its imports. */
const compressedSize = (name: string) =>
  gzipSync(
    [...modulesFrom(name).values()]
      .map((text) => stripTypeScriptTypes(text))
      .join('')
      .replaceAll(/\s+/g, ' '),
  ).length;

test('the compressed client is smaller than 12 kB, even if names are not shortened', () => {
  const length = compressedSize('index.ts');
  assert.ok(length > 4_000 && length < maxBytes, `${length} bytes`);
});

test('a bundle of one client contains no module of the other', () => {
  const [api, lab] = ['petstore.ts', 'lab.ts'].map((name) => modulesFrom(name));
  assert.deepEqual(
    [...(api?.keys() ?? [])].filter((name) => name.startsWith('lab')),
    [],
  );
  assert.ok(lab?.has('lab-operations.ts') && !lab.has('operations.ts'));
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
      const path = fileURLToPath(new URL(name, folder));
      const hint = `Run "npm run generate": ${path} is older than ${source}.`;
      assert.ok(readFileSync(path, 'utf8').includes(`(${description.fingerprint})`), hint);
    }
    const path = fileURLToPath(new URL(files.operations, folder));
    const expected = codeOf(operationsText(description, names, events));
    assert.equal(
      codeOf(readFileSync(path, 'utf8')),
      expected,
      `Run "npm run generate": ${path} is not current.`,
    );
  });
