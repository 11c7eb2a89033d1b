import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const src = fileURLToPath(new URL('../../src', import.meta.url));
const joined = /\bjoin\s+(?:\w+|\(.*?\))\s+\w+\s+on\s+(\S+)\s*=\s*([^\s`]+)/g;
const isColumn = (text: string | undefined) => /^\w+\.\w+$/.test(text ?? '');

test('each join begins with two columns, because Citus refuses one that compares a workspace with a value', () => {
  const joins = globSync('**/*.ts', { cwd: src }).flatMap((file) =>
    [...readFileSync(join(src, file), 'utf8').matchAll(joined)].map(([text, left, right]) => ({
      ...{ file, text },
      isAccepted: isColumn(left) && isColumn(right),
    })),
  );
  assert.ok(joins.length > 5, `only ${joins.length} joins were found`);
  assert.deepEqual(
    joins.filter(({ isAccepted }) => !isAccepted),
    [],
  );
});
