import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryDelayMs, retryDelaysMs } from '../../../src/store/webhooks/retry-policy.ts';

const hourMs = 3_600_000;

test('a failed delivery is retried eight times within 28 hours, with 20 % jitter', () => {
  assert.equal(retryDelaysMs.length, 8);
  assert.equal(retryDelaysMs.reduce((sum, delayMs) => sum + delayMs) / hourMs, 27 + 2_135 / 3_600);
  for (const [i, delayMs] of retryDelaysMs.entries()) {
    assert.equal(retryDelayMs(i + 1, 0), delayMs * 0.8);
    assert.equal(retryDelayMs(i + 1, 0.5), delayMs);
    assert.equal(retryDelayMs(i + 1, 1), delayMs * 1.2);
  }
  assert.equal(retryDelayMs(9, 0.5), undefined);
  assert.equal(retryDelayMs(9, 0.5, 1_000), undefined);
  assert.equal(retryDelayMs(10, 0.5), undefined);
});

test('Retry-After makes the wait longer, up to an hour, and never shorter', () => {
  assert.equal(retryDelayMs(1, 0.5, 60_000), 60_000);
  assert.equal(retryDelayMs(1, 0.5, 10 * hourMs), hourMs);
  assert.equal(retryDelayMs(1, 0.5, 0), 5_000);
  assert.equal(retryDelayMs(5, 0.5, hourMs), 2 * hourMs);
});
