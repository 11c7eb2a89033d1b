import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextAttemptMs, readRetryAfter, retryDelaysMs } from '../src/webhooks/schedule.ts';

const hourMs = 3_600_000;

test('a failed delivery is tried again eight times within 28 hours, each time a fifth sooner or later at most', () => {
  assert.equal(retryDelaysMs.length, 8);
  assert.equal(retryDelaysMs.reduce((sum, delayMs) => sum + delayMs) / hourMs, 27 + 2_135 / 3_600);
  for (const [i, delayMs] of retryDelaysMs.entries()) {
    assert.equal(nextAttemptMs(i + 1, 0), delayMs * 0.8);
    assert.equal(nextAttemptMs(i + 1, 0.5), delayMs);
    assert.equal(nextAttemptMs(i + 1, 1), delayMs * 1.2);
  }
  assert.equal(nextAttemptMs(9, 0.5), undefined);
  assert.equal(nextAttemptMs(9, 0.5, 1_000), undefined);
  assert.equal(nextAttemptMs(10, 0.5), undefined);
});

test('Retry-After makes the wait longer, up to an hour, and never shorter', () => {
  assert.equal(nextAttemptMs(1, 0.5, 60_000), 60_000);
  assert.equal(nextAttemptMs(1, 0.5, 10 * hourMs), hourMs);
  assert.equal(nextAttemptMs(1, 0.5, 0), 5_000);
  assert.equal(nextAttemptMs(5, 0.5, hourMs), 2 * hourMs);
});

test('Retry-After is read in every form of HTTP, and anything else is ignored', () => {
  const nowMs = Date.UTC(1994, 10, 6, 8, 49, 7);
  for (const [text, expected] of [
    ['0', 0],
    ['120', 120_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 30_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 30_000],
    ['Sun Nov  6 08:49:37 1994', 30_000],
    ['Sun, 06 Nov 1994 08:49:00 GMT', 0],
  ] as const) {
    assert.equal(readRetryAfter(text, nowMs), expected, text);
  }
  for (const text of [
    undefined,
    '',
    '-1',
    '1.5',
    '1e3',
    'soon',
    '9'.repeat(10),
    'Sun, 99 Nov 1994 08:49:37 GMT',
    '120 ',
  ])
    assert.equal(readRetryAfter(text, nowMs), undefined, String(text));
});
