import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { fingerprint, operationsText } from '../scripts/client-description.ts';

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

test('the client is small: compressed it stays below 12 kB, even if names are not shortened', () => {
  const code = [...modulesFrom('index.ts').values()]
    .map((text) => stripTypeScriptTypes(text))
    .join('')
    .replaceAll(/\s+/g, ' ');
  const { length } = gzipSync(code);
  assert.ok(length > 4_000 && length < maxBytes, `${length} bytes`);
});

test('what the client has from the description is current', () => {
  for (const name of ['description.ts', 'operations.ts'])
    assert.ok(
      readFileSync(new URL(name, folder), 'utf8').includes(`(${fingerprint()})`),
      `Run "npm run client": ${fileURLToPath(new URL(name, folder))} is older than openapi.json.`,
    );
  assert.match(operationsText(), /listPets\(/);
});
