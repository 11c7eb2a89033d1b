// npm run proof:lab-page -- --seconds N --per-second M: as test/lab-page-load.browser.ts, for longer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArgs } from 'node:util';
import { assertNoGrowth, bearLoad } from '../test/support/lab-page-load.ts';

/** The bars, where nothing else keeps the machine busy: for a row to be there, for a task, and from one frame to the next. */
const bars = { rowMs: 2_000, taskMs: 500, frameMs: 700 };

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    'per-second': { type: 'string', default: '50' },
  },
});
const [seconds, perSecond] = [Number(values.seconds), Number(values['per-second'])];

test(`the page bears ${perSecond} requests a second for ${seconds} s`, async (t) => {
  const bearing = await bearLoad(t, seconds * perSecond, perSecond);
  console.log(bearing);
  assertNoGrowth(bearing);
  const { rowsAfterMs, longestTaskMs, latestFrameMs } = bearing;
  assert.ok(Math.max(...rowsAfterMs) <= bars.rowMs, 'rows come late');
  assert.ok(longestTaskMs <= bars.taskMs && latestFrameMs <= bars.frameMs, 'the page lags');
});
