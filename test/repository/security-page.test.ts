import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileAt, textOf } from '../support/tree.ts';

const page = textOf('docs/security.md');

/** A test file that the page cites, and the name of a cited test. */
type Citation = [file: string, name: string | undefined];

/** A cited file, and the names after it in quotes, separated by commas. */
const citation =
  /`(test\/[\w/-]+\.(?:test|postgres|valkey|browser|examples|package)\.ts)`(?::((?:,?\s+"(?:\\.|[^"\\])*")+))?/g;

function citations(text: string): Citation[] {
  return [...text.matchAll(citation)].flatMap(([, file = '', quoted]): Citation[] => {
    const names = quoted?.matchAll(/"((?:\\.|[^"\\])*)"/g).map(([, name = '']) => unescaped(name));
    return names ? [...names].map((name) => [file, name.replaceAll(/\s+/g, ' ')]) : [[file, undefined]];
  });
}

const unescaped = (text: string) => text.replaceAll(/\\(.)/g, '$1');

/** The names of the tests of a file, and what its tests of tools assert. A placeholder matches any text. */
function testNames(source: string): RegExp[] {
  return [
    ...source.matchAll(/^ *(?:(?:await \w+\.)?test\(|asserts:)\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/gm),
  ].map(([, , name]) => {
    const parts = unescaped(name as string).split(/\$\{[^}]*\}/);
    return new RegExp(`^${parts.map(RegExp.escape).join('.+')}$`);
  });
}

function exists([file, name]: Citation): boolean {
  if (!existsSync(fileAt(file))) return false;
  return name === undefined || testNames(textOf(file)).some((pattern) => pattern.test(name));
}

test('every test that the security page cites exists', () => {
  const cited = citations(page);
  assert.deepEqual(
    cited.filter((citation) => !exists(citation)),
    [],
  );
  const named = cited.filter(([, name]) => name !== undefined);
  const quoted = page.replaceAll('\\"', '').split('"').length - 1;
  assert.equal(named.length * 2, quoted, 'everything in quotes is the name of a test');
  assert.ok(!exists(['test/store/resources/pets.test.ts', 'no such test']));
  assert.ok(!exists(['test/no-such.test.ts', undefined]));
});

test('the security page cites a test for each of the ten risks', () => {
  const sections = page.split(/^###? /m).filter((section) => /^API\d/.test(section));
  assert.deepEqual(
    sections.map((section) => Number(/^API(\d+) /.exec(section)?.[1])),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );
  for (const section of sections) assert.ok(citations(section).length > 0, section);
});

test('each attack and each part of the environment has a test, except where the page only advises', () => {
  const [, attacks = ''] = /^## Attacks by clients$([\s\S]*)^## Known gaps$/m.exec(page) ?? [];
  const entries = attacks.split(/^(?=\*\*)|^##/m).filter((entry) => entry.startsWith('**'));
  assert.ok(entries.length > 50, String(entries.length));
  const bare = entries.filter((entry) => citations(entry).length === 0);
  assert.deepEqual(
    bare.map((entry) => /^\*\*(.+?)\*\*/.exec(entry)?.[1]),
    ['Metrics.'],
  );
});
