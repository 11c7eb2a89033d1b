import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patternsOf } from '../../support/documents.ts';

/**
 * The part of a pattern that means the same in ECMA-262, PCRE2, RE2, Python, Java, .NET and the regex crate of Rust. They differ on
 * `\s`, `\d`, `\w`, `\b`, `\u` and `.`, on nested classes, and where `$` stands within a pattern. RE2 has no lookaround and no
 * backreference. Only ASCII is named, so that an engine that reads bytes agrees too.
 */
const shared = (() => {
  const escaped = String.raw`\\(?:x[0-7][0-9a-f]|[\^$\\.*+?()[\]{}|/])`;
  const literal = String.raw`[^\x00-\x1f\x7f-\u{10ffff}\^$\\.*+?()[\]{}|]`;
  // No `[`, which opens a nested class in Java and Rust, and no `-` but that of a range.
  const member = String.raw`(?:${escaped}|[^\x00-\x1f\x7f-\u{10ffff}\\[\]^-])`;
  const set = String.raw`\[\^?(?:(?!&&|~~)${member}(?:-${member})?)+\]`;
  // RE2 repeats a thousand times at most.
  const quantifier = String.raw`(?:[*+?]|\{\d{1,3}(?:,(?:\d{1,3})?)?\})?`;
  return new RegExp(String.raw`(?:${set}|${escaped}|${literal})${quantifier}|\(\?:|\|`, 'yu');
})();
const groupEnd = /\)(?:[*+?]|\{\d{1,3}(?:,(?:\d{1,3})?)?\})?/y;

/** The first part of a pattern that some engine reads otherwise, or undefined. */
function unsharedPart(pattern: string): string | undefined {
  if (!/^\^.*\$$/s.test(pattern)) return pattern;
  let at = 1;
  while (at < pattern.length - 1) {
    const part = [shared, groupEnd].map((form) => {
      form.lastIndex = at;
      return form.exec(pattern)?.[0] ?? '';
    });
    const length = Math.max(...part.map((text) => text.length));
    if (length === 0) return pattern.slice(at, at + 8);
    at += length;
  }
  return undefined;
}

test('every pattern uses only what all engines of regular expressions read alike', () => {
  const patterns = patternsOf();
  assert.ok(patterns.size >= 10, `only ${patterns.size} patterns`);
  const unshared = [...patterns].flatMap(([pattern, place]) => {
    const part = unsharedPart(pattern);
    return part === undefined ? [] : [`${place}: ${part} in ${pattern}`];
  });
  assert.deepEqual(unshared, []);
});

test('the check finds each construct that some engine reads otherwise', () => {
  const { raw } = String;
  const otherwise = [
    raw`^\s*$ ^\d$ ^\w+$ ^a\b$ ^\u0000$ ^[^\s]$ ^[\u0000]$ ^\x9f$`,
    raw`^(?=a)b$ ^(?<!a)b$ ^(?<name>a)$ ^(?:a)\1$ ^(a)$ ^.$ ^a a$ ^a$|b$ ^a|^b$`,
    '^a*?$ ^a*+$ ^a{,3}$ ^a{1001}$ ^[a[b]]$ ^[a-z&&[b]]$ ^[a&&b]$ ^[]a]$ ^[a-]$ ^é$ ^[à-ü]$',
    raw`^\p{L}$ ^\"$ ^\-$ ^\a$ ^(?i:a)$`,
  ];
  for (const pattern of [...otherwise.flatMap((patterns) => patterns.split(' ')), '^\n$'])
    assert.notEqual(unsharedPart(pattern), undefined, pattern);
  for (const pattern of [raw`^(?:[!#-\[\]-~]{1,9}|"\\\x00\x7f)*$`, '^[^a-z#]+(?:b|c{2,})?$'])
    assert.equal(unsharedPart(pattern), undefined, pattern);
});
