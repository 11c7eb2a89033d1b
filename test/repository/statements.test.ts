import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { root, textOf } from '../support/tree.ts';

const joined = /\bjoin\s+(?:\w+|\(.*?\))\s+\w+\s+on\s+(\S+)\s*=\s*([^\s`]+)/g;
const isColumn = (text: string | undefined) => /^\w+\.\w+$/.test(text ?? '');

test('each join begins with two columns, because Citus refuses one that compares a workspace with a value', () => {
  const joins = globSync('src/**/*.ts', { cwd: root }).flatMap((file) =>
    [...textOf(file).matchAll(joined)].map(([text, left, right]) => ({
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
