import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { outputs } from '../scripts/client-outputs.ts';

const folder = new URL('../src/client/', import.meta.url);
const maxBytes = 12_000;
const comments = /\/\*[\s\S]*?\*\/|^ *\/\/.*$/gm;

/** The files that a file brings with it, and their texts. */
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

/** How many bytes a page loads for a module and what it brings with it. */
const compressedSize = (name: string) =>
  gzipSync(
    [...modulesFrom(name).values()]
      .map((text) => stripTypeScriptTypes(text))
      .join('')
      .replaceAll(/\s+/g, ' '),
  ).length;

test('the client is small: compressed it stays below 12 kB, even if names are not shortened', () => {
  const length = compressedSize('index.ts');
  assert.ok(length > 4_000 && length < maxBytes, `${length} bytes`);
});

test('who calls the API alone gets nothing of the lab, and the other way round', () => {
  const [api, lab] = ['petstore.ts', 'lab.ts'].map((name) => modulesFrom(name));
  assert.deepEqual(
    [...(api?.keys() ?? [])].filter((name) => name.startsWith('lab')),
    [],
  );
  assert.ok(lab?.has('lab-operations.ts') && !lab.has('operations.ts'));
});

for (const { source, description, files } of outputs)
  test(`what the client has from ${source} is current`, () => {
    for (const name of Object.values(files))
      assert.ok(
        readFileSync(new URL(name, folder), 'utf8').includes(`(${description.fingerprint})`),
        `Run "npm run client": ${fileURLToPath(new URL(name, folder))} is older than ${source}.`,
      );
    const text = readFileSync(new URL(files.operations, folder), 'utf8');
    for (const { operation } of description.operations)
      assert.ok(text.includes(`\n  ${operation.operationId}(`), operation.operationId);
  });
