import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Advance,
  advance,
  claim,
  noProgress,
  type Progress,
  type ScopeProgress,
  type Step,
  totalOf,
} from '../../../src/lab/rehearsals/progress.ts';

const startMs = Date.parse('2026-06-01T12:00:00Z');
const minuteMs = 60_000;

const aStep = fc.record<Step>({
  after: fc.nat(3),
  times: fc.integer({ min: 1, max: 3 }),
  holdMs: fc.constantFrom(0, 0, 1_000, 5_000, 100_000),
  scope: fc.constantFrom('operation', 'key'),
});
const aNearLimit = fc.record<Step>({
  after: fc.constant(0),
  times: fc.constant(undefined),
  holdMs: fc.constant(0),
  scope: fc.constant('key'),
  perMinute: fc.nat(4),
});
const someSteps = fc.array(aStep, { minLength: 1, maxLength: 4 });

interface Arrival {
  operationId: string;
  /** The time since the previous request. It is negative if the clock goes back. */
  passedMs: number;
  eligible: readonly boolean[];
}

const anArrival = (minPassedMs: number) =>
  fc.record<Arrival>({
    operationId: fc.constantFrom('getPet', 'placeOrder', 'deletePet'),
    passedMs: fc.oneof(fc.nat(2_000), fc.integer({ min: minPassedMs, max: 200_000 })),
    eligible: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
  });
const someArrivals = (minPassedMs = 0) => fc.array(anArrival(minPassedMs), { maxLength: 60, size: 'max' });

interface Seen extends Arrival {
  nowMs: number;
  before: Progress;
  advanced: Advance;
}

/** Sends requests one after another. `parts`: the final progress of each operation, and of the key. */
function run(steps: readonly Step[], arrivals: readonly Arrival[]) {
  let [key, nowMs] = [noProgress, startMs];
  const operations: Record<string, ScopeProgress> = {};
  const seen = arrivals.map((arrival): Seen => {
    nowMs += arrival.passedMs;
    const before = { operation: operations[arrival.operationId] ?? noProgress, key };
    const isEligible = (index: number) => arrival.eligible[index] ?? true;
    const advanced = advance(steps, before, { nowMs, isEligible });
    key = advanced.progress.key;
    operations[arrival.operationId] = advanced.progress.operation;
    return { ...arrival, nowMs, before, advanced };
  });
  return { seen, parts: [key, ...Object.values(operations)] };
}

const partsOf = ({ key, operation }: Progress) => [key, operation];
const all = { eligible: [true, true, true, true, true] };

test('no step is performed on an operation more often than requested, and each request with one is counted once', () => {
  fc.assert(
    fc.property(someSteps, someArrivals(-100_000), (steps, arrivals) => {
      const { seen, parts } = run(steps, arrivals);
      for (const [index, { times }] of steps.entries())
        for (const { counts } of parts) assert.ok((counts[index]?.performed ?? 0) <= (times ?? 0));
      const totals = steps.map((_, index) => totalOf(parts, index));
      const counted = totals.reduce((sum, { performed, repeated }) => sum + performed + repeated, 0);
      assert.equal(counted, seen.filter(({ advanced }) => advanced.selected.step).length);
    }),
  );
});

test('a step is performed on a request that is not eligible only if it holds the request back', () => {
  fc.assert(
    fc.property(someSteps, someArrivals(), (steps, arrivals) => {
      for (const { eligible, advanced, before } of run(steps, arrivals).seen) {
        const { step: performed } = advanced.selected;
        if (!performed || eligible[performed.index]) continue;
        const { index } = performed;
        const [now, then] = [advanced.progress, before].map((one) => totalOf(partsOf(one), index).repeated);
        assert.equal(now, (then ?? 0) + 1);
      }
    }),
  );
});

test('after the announced wait a step no longer holds the request back', () => {
  fc.assert(
    fc.property(someSteps, someArrivals(), (steps, arrivals) => {
      for (const { advanced } of run(steps, arrivals).seen) {
        const { step: performed } = advanced.selected;
        if (!performed || steps[performed.index]?.holdMs === 0) continue;
        const later = { nowMs: performed.untilMs, isEligible: () => false };
        assert.deepEqual(advance(steps, advanced.progress, later).selected, {});
        const sooner = { nowMs: performed.untilMs - 1, isEligible: () => false };
        assert.ok(advance(steps, advanced.progress, sooner).selected.step);
      }
    }),
  );
});

test('no announced wait is longer than the step, also if the clock goes back', () => {
  fc.assert(
    fc.property(someSteps, someArrivals(-10_000_000), (steps, arrivals) => {
      for (const { nowMs, advanced } of run(steps, arrivals).seen) {
        const { step: performed } = advanced.selected;
        if (performed) assert.ok(performed.untilMs - nowMs <= (steps[performed.index]?.holdMs ?? Number.NaN));
      }
    }),
  );
});

test('every step is performed as often as requested, after enough requests', () => {
  fc.assert(
    fc.property(someSteps, (steps) => {
      const arrivals = Array(30).fill({ operationId: 'getPet', passedMs: 100_000, ...all });
      const { parts, seen } = run(steps, arrivals);
      for (const [index, { times }] of steps.entries())
        assert.deepEqual(totalOf(parts, index), { performed: times, repeated: 0 });
      assert.equal(seen.at(-1)?.advanced.progress, seen.at(-1)?.before, 'then nothing is left to count');
    }),
  );
});

test('steps are performed in order: requests that a step lets pass count for the next', () => {
  const step: Step = { after: 0, times: 1, holdMs: 0, scope: 'operation' };
  const steps = [
    { ...step, after: 1 },
    { ...step, times: 2 },
    { ...step, after: 1 },
  ];
  const { seen } = run(steps, Array(7).fill({ operationId: 'getPet', passedMs: 1, ...all }));
  // The third step gets a request once the others are used up.
  assert.deepEqual(
    seen.map(({ advanced }) => advanced.selected.step?.index),
    [1, 0, 1, undefined, 2, undefined, undefined],
  );
});

test('if several steps hold a request back, the longest wait applies', () => {
  const steps: Step[] = [
    { after: 0, times: 1, holdMs: 60_000, scope: 'operation' },
    { after: 0, times: 1, holdMs: 10_000, scope: 'key' },
  ];
  const arrivals = [
    { operationId: 'getPet', passedMs: 0, eligible: [true, false] },
    { operationId: 'placeOrder', passedMs: 1_000, eligible: [false, true] },
    { operationId: 'getPet', passedMs: 1_000, ...all },
    { operationId: 'deletePet', passedMs: 1_000, eligible: [false, false] },
  ];
  const indexes = run(steps, arrivals).seen.map(({ advanced }) => advanced.selected.step?.index);
  assert.deepEqual(indexes, [0, 1, 0, 1]);
});

test('near-limit admits at most its number of requests per minute, and no minute twice', () => {
  const steps = fc.tuple(aNearLimit, aStep);
  fc.assert(
    fc.property(steps, someArrivals(-200_000), (steps, arrivals) => {
      const { seen } = run(steps, arrivals);
      for (const { advanced, before } of seen)
        if ((advanced.selected.nearLimit?.left ?? 0) < 0) assert.equal(advanced.progress, before);
      const passed = seen.flatMap(({ advanced }) => advanced.selected.nearLimit ?? []);
      const perMinute = steps[0].perMinute ?? 0;
      const admitted = passed.filter(({ left }) => left >= 0);
      const minutes = Map.groupBy(admitted, ({ untilMs }) => untilMs);
      for (const [untilMs, admittedIn] of minutes) {
        assert.equal(untilMs % minuteMs, 0);
        for (const [i, { left }] of admittedIn.entries()) assert.equal(left, perMinute - 1 - i);
      }
      const ends = [...minutes.keys()];
      const inOrder = ends.toSorted((a, b) => a - b);
      assert.deepEqual(ends, inOrder);
    }),
  );
});

test('requests refused by a limit or a ban do not count for near-limit', () => {
  const near: Step = { after: 0, times: undefined, holdMs: 0, scope: 'operation', perMinute: 3 };
  const steps = [near, { after: 1, times: 1, holdMs: 2_000, scope: 'operation' } as Step];
  const arrivals = [0, 1, 1, 2_000].map((passedMs) => ({ operationId: 'getPet', passedMs, ...all }));
  const left = run(steps, arrivals).seen.map(({ advanced }) => advanced.selected.nearLimit?.left);
  assert.deepEqual(left, [2, undefined, undefined, 1]);
});

test('selecting a late step does not count it, and it can be claimed as often as requested', () => {
  const step: Step = { after: 0, times: 1, holdMs: 0, scope: 'operation' };
  const steps = [{ ...step, after: 1, times: 2, actsAfterValidation: true }, step];
  const arrival = { operationId: 'getPet', passedMs: 1, ...all };
  const { seen } = run(steps, Array(4).fill(arrival));
  assert.deepEqual(
    seen.map(({ advanced: { selected } }) => selected.lateStep ?? selected.step?.index),
    [1, 0, 0, 0],
    'requests that are refused before it acts use nothing up',
  );
  let progress = (seen.at(-1) as Seen).advanced.progress;
  const claims = Array.from({ length: 3 }, () => {
    const before = progress;
    progress = claim(steps, progress, 0);
    return progress !== before;
  });
  assert.deepEqual(claims, [true, true, false]);
  const isEligible = () => true;
  assert.deepEqual(advance(steps, progress, { nowMs: startMs, isEligible }).selected, {});
});
