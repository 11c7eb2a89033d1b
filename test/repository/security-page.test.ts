import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../..', import.meta.url);
const page = readFileSync(new URL('docs/security.md', root), 'utf8');

/** A file of tests that is cited, with the name of one of its tests, if one is given. */
type Citation = [file: string, name: string | undefined];

function citations(text: string): Citation[] {
  return [
    ...text.matchAll(
      /`(test\/[\w/-]+\.(?:test|postgres|browser|examples|package)\.ts)`(?:[:,]\s+"((?:\\.|[^"\\])*)")?/g,
    ),
  ].map(([, file, name]) => [file as string, name?.replace(/\\(.)/g, '$1').replace(/\s+/g, ' ')]);
}

/** The names of the tests of a file. What a name is filled in with may be anything. */
function testNames(source: string): RegExp[] {
  return [...source.matchAll(/^ *(?:await \w+\.)?test\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/gm)].map(
    ([, , name]) => {
      const parts = (name as string).replace(/\\(.)/g, '$1').split(/\$\{[^}]*\}/);
      return new RegExp(`^${parts.map(RegExp.escape).join('.+')}$`);
    },
  );
}

function exists([file, name]: Citation): boolean {
  const path = new URL(file, root);
  if (!existsSync(path)) return false;
  return name === undefined || testNames(readFileSync(path, 'utf8')).some((pattern) => pattern.test(name));
}

test('every test that the page about security cites is there by that name', () => {
  const cited = citations(page);
  assert.deepEqual(
    cited.filter((citation) => !exists(citation)),
    [],
  );
  const named = cited.filter(([, name]) => name !== undefined);
  const quoted = page.replaceAll('\\"', '').split('"').length - 1;
  assert.equal(named.length * 2, quoted, 'everything in quotes is the name of a test');
  assert.ok(!exists(['test/resources/pets.test.ts', 'no such test']));
  assert.ok(!exists(['test/no-such.test.ts', undefined]));
});

test('the page about security has a proof for each of the ten risks', () => {
  const rows = [...page.matchAll(/^\| API(\d+) .*\|(.*)\|$/gm)];
  assert.deepEqual(
    rows.map(([, number]) => Number(number)),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );
  for (const [row, , proof] of rows) assert.ok(citations(proof as string).length > 0, row);
});
