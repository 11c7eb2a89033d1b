import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextLink } from '../../src/client/list.ts';
import { retryAfterMs } from '../../src/client/retry-delays.ts';

test('Retry-After is parsed in every form of HTTP, and anything else is ignored', () => {
  const nowMs = Date.UTC(1994, 10, 6, 8, 49, 7);
  for (const [text, expected] of [
    ['0', 0],
    ['120', 120_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 30_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 30_000],
    ['Sun Nov  6 08:49:37 1994', 30_000],
    ['Sun, 06 Nov 1994 08:49:00 GMT', 0],
  ] as const)
    assert.equal(retryAfterMs(text, nowMs), expected, text);
  const invalid = ['', '-1', '1.5', '1e3', 'soon', 'Sun, 99 Nov 1994 08:49:37 GMT', '120 '];
  for (const text of [null, undefined, ...invalid])
    assert.equal(retryAfterMs(text, nowMs), undefined, String(text));
});

test('the next page is found among other links, in any form of its rel', () => {
  for (const field of [
    '</b>; rel="next"',
    '</b>; rel=next',
    '</b>;title="x" ; REL="prev next"',
    '</a>; rel="first", </b>; rel="next"',
    '</a>; rel=prev; title="a, \\"b\\"; rel=next, </c>; rel=next", </b>; rel=next',
    '</b>; title="<c>"; rel=next; rel=last',
  ])
    assert.equal(nextLink(field), '/b', field);
  for (const field of [
    null,
    undefined,
    '',
    '</b>; rel="first"',
    '</b>; rel="nextish"',
    '/b; rel=next',
    '</b>; rel=last; rel=next',
    '</b>; title="; rel=next"',
  ])
    assert.equal(nextLink(field), undefined, String(field));
});
