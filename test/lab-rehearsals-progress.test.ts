import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Advanced,
  advance,
  noProgress,
  type Progress,
  type Step,
  totalOf,
} from '../src/lab/rehearsals/progress.ts';

const startMs = Date.parse('2026-06-01T12:00:00Z');
const minuteMs = 60_000;

const aStep = fc.record<Step>({
  after: fc.nat(3),
  times: fc.integer({ min: 1, max: 3 }),
  holdMs: fc.constantFrom(0, 0, 1_000, 5_000, 100_000),
  holds: fc.constantFrom('operation', 'key'),
});
const aNearLimit = fc.record<Step>({
  after: fc.constant(0),
  times: fc.constant(undefined),
  holdMs: fc.constant(0),
  holds: fc.constant('operation'),
  perMinute: fc.nat(4),
});
const someSteps = fc.array(aStep, { minLength: 1, maxLength: 4 });

interface Arrival {
  operationId: string;
  /** Since the one before; less than 0 if the clock goes back. */
  passedMs: number;
  takes: readonly boolean[];
}

const anArrival = (minPassedMs: number) =>
  fc.record<Arrival>({
    operationId: fc.constantFrom('getPet', 'placeOrder', 'deletePet'),
    passedMs: fc.oneof(fc.nat(2_000), fc.integer({ min: minPassedMs, max: 200_000 })),
    takes: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
  });
const someArrivals = (minPassedMs = 0) => fc.array(anArrival(minPassedMs), { maxLength: 60, size: 'max' });

interface Seen extends Arrival {
  nowMs: number;
  before: Progress;
  advanced: Advanced;
}

/** Sends requests one after another. */
function run(steps: readonly Step[], arrivals: readonly Arrival[]): { seen: Seen[]; progress: Progress } {
  let [progress, nowMs] = [noProgress, startMs];
  const seen = arrivals.map((arrival): Seen => {
    nowMs += arrival.passedMs;
    const before = progress;
    const advanced = advance(steps, before, { ...arrival, nowMs, takes: (i) => arrival.takes[i] ?? true });
    progress = advanced.progress;
    return { ...arrival, nowMs, before, advanced };
  });
  return { seen, progress };
}

const all = { takes: [true, true, true, true, true] };
const counted = (progress: Progress, steps: readonly Step[]) =>
  steps.reduce((sum, _, index) => {
    const { performed, repeated } = totalOf(progress, index);
    return sum + performed + repeated;
  }, 0);

test('no step is performed more often on an operation than it says', () => {
  fc.assert(
    fc.property(someSteps, someArrivals(-100_000), (steps, arrivals) => {
      const { progress } = run(steps, arrivals);
      for (const [index, { times }] of steps.entries())
        for (const { performed } of Object.values(progress.counts[index] ?? {}))
          assert.ok(performed <= (times ?? 0));
    }),
  );
});

test('each request on which a step is performed is counted once, and no other', () => {
  fc.assert(
    fc.property(someSteps, someArrivals(-100_000), (steps, arrivals) => {
      const { seen, progress } = run(steps, arrivals);
      const told = seen.filter(({ advanced }) => advanced.verdict.performed).length;
      assert.equal(counted(progress, steps), told);
    }),
  );
});

test('a step is performed on no request that it does not take, unless it holds the request back', () => {
  fc.assert(
    fc.property(someSteps, someArrivals(), (steps, arrivals) => {
      for (const { takes, advanced, before } of run(steps, arrivals).seen) {
        const { performed } = advanced.verdict;
        if (!performed || takes[performed.index]) continue;
        const { index } = performed;
        assert.equal(totalOf(advanced.progress, index).repeated, totalOf(before, index).repeated + 1);
      }
    }),
  );
});

test('whoever waits as long as told is not held back by what held it', () => {
  fc.assert(
    fc.property(someSteps, someArrivals(), (steps, arrivals) => {
      for (const { operationId, advanced } of run(steps, arrivals).seen) {
        const { performed } = advanced.verdict;
        if (!performed || steps[performed.index]?.holdMs === 0) continue;
        const later = { operationId, nowMs: performed.untilMs, takes: () => false };
        assert.deepEqual(advance(steps, advanced.progress, later).verdict, {});
        const sooner = { operationId, nowMs: performed.untilMs - 1, takes: () => false };
        assert.ok(advance(steps, advanced.progress, sooner).verdict.performed);
      }
    }),
  );
});

test('nobody is told to wait longer than a step says, also if the clock goes back', () => {
  fc.assert(
    fc.property(someSteps, someArrivals(-10_000_000), (steps, arrivals) => {
      for (const { nowMs, advanced } of run(steps, arrivals).seen) {
        const { performed } = advanced.verdict;
        if (performed) assert.ok(performed.untilMs - nowMs <= (steps[performed.index]?.holdMs ?? Number.NaN));
      }
    }),
  );
});

test('every step is performed as often as it says, once requests enough have come', () => {
  fc.assert(
    fc.property(someSteps, (steps) => {
      const arrivals = Array.from({ length: 30 }, () => ({
        operationId: 'getPet',
        passedMs: 100_000,
        ...all,
      }));
      const { progress, seen } = run(steps, arrivals);
      for (const [index, { times }] of steps.entries())
        assert.deepEqual(totalOf(progress, index), { performed: times, repeated: 0 });
      assert.equal(seen.at(-1)?.advanced.progress, progress, 'then nothing is left to count');
    }),
  );
});

test('steps are performed in their order: each lets its own first requests pass to those behind it', () => {
  const step: Step = { after: 0, times: 1, holdMs: 0, holds: 'operation' };
  const steps = [
    { ...step, after: 1 },
    { ...step, times: 2 },
    { ...step, after: 1 },
  ];
  const { seen } = run(
    steps,
    Array.from({ length: 7 }, () => ({ operationId: 'getPet', passedMs: 1, ...all })),
  );
  // The third step comes to see a request once the others are used up.
  assert.deepEqual(
    seen.map(({ advanced }) => advanced.verdict.performed?.index),
    [1, 0, 1, undefined, 2, undefined, undefined],
  );
});

test('of holds that overlap the longest answers', () => {
  const steps: Step[] = [
    { after: 0, times: 1, holdMs: 60_000, holds: 'operation' },
    { after: 0, times: 1, holdMs: 10_000, holds: 'key' },
  ];
  const arrivals = [
    { operationId: 'getPet', passedMs: 0, takes: [true, false] },
    { operationId: 'placeOrder', passedMs: 1_000, takes: [false, true] },
    { operationId: 'getPet', passedMs: 1_000, ...all },
    { operationId: 'deletePet', passedMs: 1_000, takes: [false, false] },
  ];
  const indexes = run(steps, arrivals).seen.map(({ advanced }) => advanced.verdict.performed?.index);
  assert.deepEqual(indexes, [0, 1, 0, 1]);
});

test('a condition on limits lets no more through in a minute than it says, and no minute is used twice', () => {
  const steps = fc.tuple(aNearLimit, aStep);
  fc.assert(
    fc.property(steps, someArrivals(-200_000), (steps, arrivals) => {
      const { seen } = run(steps, arrivals);
      for (const { advanced, before } of seen)
        if ((advanced.verdict.nearLimit?.left ?? 0) < 0) assert.equal(advanced.progress, before);
      const passed = seen.flatMap(({ advanced }) => advanced.verdict.nearLimit ?? []);
      const perMinute = steps[0].perMinute ?? 0;
      const admitted = passed.filter(({ left }) => left >= 0);
      const minutes = Map.groupBy(admitted, ({ untilMs }) => untilMs);
      for (const [, told] of minutes)
        assert.deepEqual(
          told.map(({ left }) => left),
          Array.from({ length: told.length }, (_, i) => perMinute - 1 - i),
        );
      const ends = [...minutes.keys()];
      assert.deepEqual(
        ends,
        ends.toSorted((a, b) => a - b),
      );
      for (const untilMs of ends) assert.equal(untilMs % minuteMs, 0);
    }),
  );
});

test('what a limit or a ban refuses takes nothing from a condition on limits', () => {
  const near: Step = { after: 0, times: undefined, holdMs: 0, holds: 'operation', perMinute: 3 };
  const steps = [near, { after: 1, times: 1, holdMs: 2_000, holds: 'operation' } as Step];
  const arrivals = [0, 1, 1, 2_000].map((passedMs) => ({ operationId: 'getPet', passedMs, ...all }));
  const left = run(steps, arrivals).seen.map(({ advanced }) => advanced.verdict.nearLimit?.left);
  assert.deepEqual(left, [2, undefined, undefined, 1]);
});
