import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import Type from 'typebox';
import { fromLargeId, toLargeId } from '../../../src/lab/faults/large-ids.ts';
import { rewriteJson } from '../../../src/lab/faults/shared/rewrite-json.ts';
import { renamed } from '../../../src/lab/petstore/other-writers.ts';

const runs = { numRuns: 300 };
const maxShown = (2n ** 54n - 10n ** 16n) / 2n - 1n;
const ids = fc.bigInt(0n, maxShown);
const digits = fc.oneof(
  ids.map(String),
  fc.bigInt(0n, 2n ** 63n).map(String),
  fc.constantFrom('', '-1', '01', '1e5', String(maxShown), String(maxShown + 1n), String(2n ** 54n - 1n)),
  fc.string(),
);

test('every id is shown as an odd number beyond 2^53, in the same order, and maps back', () => {
  fc.assert(
    fc.property(ids, ids, (a, b) => {
      const [shown, other] = [toLargeId(String(a)), toLargeId(String(b))];
      assert.equal(fromLargeId(shown), String(a));
      assert.ok(BigInt(shown) > 2n ** 53n && BigInt(shown) % 2n === 1n);
      assert.equal(BigInt(shown) < BigInt(other), a < b);
      // A double cannot represent it, and the nearest double is no id.
      const rounded = String(BigInt(Number(shown)));
      assert.notEqual(rounded, shown);
      assert.equal(fromLargeId(rounded), rounded);
      assert.equal(toLargeId(rounded), rounded);
    }),
    runs,
  );
});

test('numbers that can be no id stay unchanged, in either direction', () => {
  fc.assert(
    fc.property(digits, (text) => {
      const [shown, meant] = [toLargeId(text), fromLargeId(text)];
      if (shown !== text) assert.ok(BigInt(text) <= maxShown, text);
      if (meant !== text) assert.equal(toLargeId(meant), text);
      else assert.equal(fromLargeId(shown), text);
    }),
    runs,
  );
});

const marked = Type.Integer({ format: 'int64', title: 'Marked' });
const Inner = Type.Object({ id: marked, name: Type.String() }, { title: 'Inner' });
const Schema = Type.Object({
  id: marked,
  items: Type.Array(Inner),
  inner: Type.Optional(Type.Union([Inner, Type.Null()])),
  other: Type.Integer(),
});

const inner = fc.record({ id: fc.integer(), name: fc.string({ unit: 'binary' }) });
const value = fc.record(
  {
    id: fc.integer(),
    items: fc.array(inner, { maxLength: 4 }),
    inner: fc.oneof(inner, fc.constant(null)),
    other: fc.integer(),
    unknown: fc.jsonValue(),
  },
  { requiredKeys: ['id', 'items'] },
);
const spacing = fc.constantFrom(undefined, 1, '\t', ' \r ');

const title = (schema: object) => (schema as { title?: string }).title;

test('a JSON text is rewritten only where its schema says so', () => {
  const nothing = { token: (token: string) => token, members: () => '' };
  const rewriting = {
    token: (token: string, schema: object) =>
      title(schema) === 'Marked' ? String(Number(token) * 100) : token,
    members: (schema: object) => (title(schema) === 'Inner' ? '"more":[{"id":1}]' : ''),
  };
  const rewritten = (part: { id: number }) => ({ ...part, id: part.id * 100, more: [{ id: 1 }] });
  fc.assert(
    fc.property(value, spacing, (whole, space) => {
      const text = JSON.stringify(whole, null, space);
      assert.equal(rewriteJson(text, Schema, nothing), text);
      assert.deepEqual(JSON.parse(rewriteJson(text, Schema, rewriting)), {
        ...JSON.parse(text),
        id: whole.id * 100,
        items: whole.items.map(rewritten),
        ...(whole.inner && { inner: rewritten(whole.inner) }),
      });
    }),
    runs,
  );
});

test('rewriting a long text with many escapes takes time in proportion to its length', () => {
  const text = (length: number) => JSON.stringify({ id: 1, unknown: '\\"'.repeat(length), items: [] });
  const timeOf = (length: number) => {
    const startMs = performance.now();
    rewriteJson(text(length), Schema, { token: (token) => token, members: () => '' });
    return performance.now() - startMs;
  };
  timeOf(1_000);
  assert.ok(timeOf(16_000) < 100);
});

test('another writer always creates a new name of 1 to 200 characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 230 }), (text) => {
      const name = [...text].slice(0, 200).join('');
      const names = [name];
      for (let turn = 0; turn < 3; turn++) names.push(renamed(names.at(-1) as string));
      assert.equal(new Set(names).size, 4);
      for (const one of names) assert.ok([...one].length <= 200);
    }),
    runs,
  );
});
