import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateKey, isWellFormedKey } from '../../../src/access/keys/store.ts';
import { withoutKeys } from '../../../src/foundation/redact.ts';

test('a key is pet_, 30 random base62 digits and 6 of checksum', () => {
  const keys = Array.from({ length: 1000 }, generateKey);
  for (const key of keys) {
    assert.match(key, /^pet_[0-9A-Za-z]{36}$/);
    assert.ok(isWellFormedKey(key));
  }
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(new Set(keys.flatMap((key) => [...key.slice(4, 34)])).size, 62);
});

test('a key with one mistyped character is not well-formed', () => {
  const key = generateKey();
  for (let i = 0; i < key.length; i++) {
    const typo = key[i] === 'a' ? 'b' : 'a';
    assert.ok(!isWellFormedKey(key.slice(0, i) + typo + key.slice(i + 1)), `position ${i}`);
  }
  for (const text of ['', key.slice(1), key.slice(0, -1), `${key}0`, ` ${key}`, `${key}\n`])
    assert.ok(!isWellFormedKey(text));
});

test('keys are found anywhere in a text', () => {
  const [first, second] = [generateKey(), generateKey()];
  assert.equal(withoutKeys(`?a=${first}&b="${second}"`), '?a=pet_***&b="pet_***"');
  let encoded = first;
  for (let times = 1; times <= 3; times++) {
    encoded = encoded.replaceAll(/[%_t]|[A-F]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
    assert.equal(withoutKeys(`?a=${encoded}&b`), '?a=pet_***&b', encoded);
  }
});

test('a string that only looks like the beginning of a key hides no part of the key behind it', () => {
  for (let length = 0; length < 36; length++) {
    const key = generateKey();
    for (const text of [key, key.replace('_', '%5F'), key.replace('_', '%255f')]) {
      const shown = withoutKeys(`pet_${'a'.repeat(length)}${text}`);
      assert.ok(!shown.includes(key.slice(-6)), shown);
    }
  }
});
