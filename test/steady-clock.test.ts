import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SteadyClock } from '../src/lab/recordings/steady-clock.ts';

/** A clock and a stopwatch that go alike; the process is kept waiting where the clock is read. */
function start() {
  const time = { ms: 1_000, aheadMs: 0, waitsMs: [] as number[] };
  const clock = () => {
    time.ms += time.waitsMs.shift() ?? 0;
    return time.ms + time.aheadMs;
  };
  const steady = new SteadyClock(clock, () => time.ms);
  return { time, nowMs: () => steady.nowUs() / 1_000 };
}

test('a process that is kept waiting while it reads the clock does not take it for one that was set ahead', () => {
  const { time, nowMs } = start();
  assert.equal(nowMs(), 1_000);
  time.waitsMs = [55];
  assert.equal(nowMs(), 1_055);
  time.ms += 20_000;
  assert.equal(nowMs(), 21_055);
});

test('a clock that was set ahead is followed, also by a process that is kept waiting, and one set back by seconds is not', () => {
  const { time, nowMs } = start();
  assert.equal(nowMs(), 1_000);
  time.aheadMs = 20_000;
  time.waitsMs = [55];
  assert.equal(nowMs(), 21_055);
  time.aheadMs -= 4_000;
  assert.equal(nowMs(), 21_055);
  time.aheadMs -= 2_000;
  assert.equal(nowMs(), 15_055);
});
