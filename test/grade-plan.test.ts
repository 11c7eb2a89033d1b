import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FaultPlan, hasMissedMinute, planOf, waitForMinuteMs } from '../src/grade/plan.ts';
import { Slots } from '../src/grade/slots.ts';
import type { Fault } from '../src/lab/rehearsals/fault.ts';
import { faultNamed, faults } from '../src/lab/rehearsals/faults.ts';
import { readFaults } from '../src/lab/rehearsals/planned-faults.ts';
import { operations } from '../src/operations.ts';

const plan = (name: string, used: string[], requestCount = 10): FaultPlan | undefined =>
  planOf(faultNamed(name) as Fault, { operations: used, requestCount });

const plannedFaults = (...args: Parameters<typeof plan>) => plan(...args)?.faults;

test('a fault is performed at the first request of each operation that the program used and that it fits', () => {
  assert.deepEqual(plannedFaults('lost-answer', ['placeOrder', 'listPets', 'streamEvents']), [
    { fault: 'lost-answer', operation: 'listPets' },
    { fault: 'lost-answer', operation: 'placeOrder' },
  ]);
  assert.equal(plannedFaults('conflict', ['listPets', 'createPet']), undefined);
  assert.equal(plannedFaults('small-pages', ['createPet']), undefined);
  assert.deepEqual(plannedFaults('small-pages', ['createPet', 'listPets']), [{ fault: 'small-pages' }]);
  assert.deepEqual(plannedFaults('banned', ['createPet'], 21), [{ fault: 'banned', after: 10 }]);
});

test('every plan is one that a rehearsal takes, however much the program does', () => {
  const all = operations.map(({ id }) => id);
  for (const fault of faults) {
    for (const requestCount of [1, 2, 1_000_000]) {
      const planned = planOf(fault, { operations: all, requestCount })?.faults ?? [];
      assert.ok(planned.length === 0 || readFaults(planned).length <= 100, fault.name);
    }
  }
});

test('a limit leaves so much that two minutes are enough, and less than the program needs', () => {
  for (let count = 2; count <= 1_500; count++) {
    const { faults, waitsMs, isUntilMinuteEnds } = plan('near-limit', ['listPets'], count) as FaultPlan;
    const remaining = Number(faults[0]?.remaining);
    assert.ok(remaining < count, `${count}`);
    assert.ok(remaining * 2 >= count, `${count}`);
    assert.deepEqual([waitsMs, isUntilMinuteEnds], [120_000, true]);
  }
  assert.equal(plan('near-limit', ['listPets'], 1), undefined, 'one request comes to no limit');
});

test('a run into a limit begins so that it is held up for a few seconds at the end of a minute', () => {
  const minute = Date.parse('2026-06-01T12:00:00Z');
  for (const tookMs of [100, 5_000, 20_000]) {
    for (let second = 0; second < 60; second++) {
      const startMs = minute + second * 1_000 + waitForMinuteMs(minute + second * 1_000, tookMs);
      const leftMs = 60_000 - (startMs % 60_000);
      assert.ok(leftMs >= 2 * tookMs && leftMs <= 2 * tookMs + 3_000, `${tookMs} at second ${second}`);
      assert.ok(startMs - minute < 120_000);
    }
  }
});

test('a run that a busy machine took over the end of its minute is begun once more, and no other', () => {
  const limit = plan('near-limit', ['listPets']) as FaultPlan;
  assert.equal(hasMissedMinute(limit, { performed: 0, tookMs: 30_000 }), true);
  assert.equal(hasMissedMinute(limit, { performed: 1, tookMs: 30_000 }), false);
  assert.equal(hasMissedMinute(limit, { performed: 0, tookMs: 90_000 }), false, 'no minute is long enough');
  const other = plan('lost-answer', ['listPets']) as FaultPlan;
  assert.equal(hasMissedMinute(other, { performed: 0, tookMs: 30_000 }), false);
});

test('so many run at once and no more, and what is urgent comes before what waits', async () => {
  const slots = new Slots(2);
  const begun: string[] = [];
  let running = 0;
  const task = (name: string) => async () => {
    begun.push(name);
    assert.ok(++running <= 2);
    await new Promise(setImmediate);
    running--;
    if (name === 'b') throw new Error(name);
  };
  const tasks = ['a', 'b', 'c', 'd', 'urgent'].map((name) => slots.run(task(name), name === 'urgent'));
  const ends = await Promise.allSettled(tasks);
  assert.deepEqual(begun, ['a', 'b', 'urgent', 'c', 'd']);
  assert.equal(ends.filter(({ status }) => status === 'rejected').length, 1);
});
