/** The lab's page under a steady load: `npm run proof -- lab-page --seconds N --per-second M`. Fails if it grows or lags. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertNoGrowth, loadPage } from '../test/support/lab-page-load.ts';
import { readNumbers } from './support/options.ts';

/** The limits on an idle machine: until a row appears, for a task, and between two frames. */
const bars = { rowMs: 2_000, taskMs: 500, frameMs: 700 };

const { seconds, 'per-second': perSecond } = readNumbers({ seconds: 60, 'per-second': 50 });

test(`the page keeps up with ${perSecond} requests a second for ${seconds} s`, async (t) => {
  const result = await loadPage(t, seconds * perSecond, perSecond);
  console.log(result);
  assertNoGrowth(result);
  const { rowsAfterMs, longestTaskMs, latestFrameMs } = result;
  assert.ok(Math.max(...rowsAfterMs) <= bars.rowMs, 'rows come late');
  assert.ok(longestTaskMs <= bars.taskMs && latestFrameMs <= bars.frameMs, 'the page lags');
});
