import assert from 'node:assert/strict';
import { test } from 'node:test';
import { obstacleOf } from '../src/lab/page/obstacle.ts';

test('what stands in the way is over at the second that the page tells', () => {
  const window = { remaining: 1, reset: 1_800_000_060 };
  const used = { ...window, remaining: 0 };
  const until = new Date(1_800_000_000_001).toISOString();
  const untilMs = (limits: Parameters<typeof obstacleOf>[0]) => obstacleOf(limits)?.untilMs;
  assert.equal(untilMs({ ban: {}, minute: window, day: window }), undefined);
  assert.equal(untilMs({ ban: { until }, minute: used, day: used }), 1_800_000_001_000);
  assert.equal(untilMs({ ban: {}, minute: used, day: window }), 1_800_000_060_000);
});
