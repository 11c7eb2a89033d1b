import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../../src/api/operations.ts';
import { faultProblem } from '../../src/cli/lab-faults.ts';
import {
  hasMissedMinute,
  plansOf,
  type RunPlan,
  selectFaults,
  type Usage,
  waitForMinuteMs,
} from '../../src/grade/run/plan.ts';
import { RunQueue } from '../../src/grade/run/runner.ts';
import { faults } from '../../src/lab/faults/list.ts';
import { petstoreApi } from '../../src/lab/petstore/petstore-api.ts';
import { faultCatalogue } from '../../src/lab/rehearsals/catalogue.ts';
import { validateFaults } from '../../src/lab/rehearsals/compiled-rehearsal.ts';
import type { PlannedFault } from '../../src/lab/rehearsals/schema.ts';

const usageOf = (uses: Record<string, number>, rest: Partial<Usage> = {}): Usage => ({
  api: petstoreApi,
  operations: Object.entries(uses).map(([id, uses]) => ({ operation: operationOf(id), uses })),
  requestCount: 10,
  longestMs: 3,
  ...rest,
});
const operationOf = (id: string) => operations.find((one) => one.id === id) as (typeof operations)[number];

const plansFor = (given: PlannedFault, usage: Usage, isThorough?: boolean) =>
  selectFaults({ faults: [given] }).flatMap((one) => plansOf(one, usage, isThorough));

const catalogue = new Map(faultCatalogue(petstoreApi).map((fault) => [fault.name, fault]));
const problemIn = ({ fault, ...given }: PlannedFault) =>
  faultProblem(catalogue.get(fault) as Parameters<typeof faultProblem>[0], given);

/** The places of a fault, and the uses that it affects: `first: placeOrder 0`. */
const targets = (fault: string, uses: Record<string, number>, isThorough = false) =>
  plansFor({ fault }, usageOf(uses), isThorough).map(({ place, faults }) => {
    const affected = faults.map(({ operation, after }) => `${operation ?? 'any'} ${after ?? 0}`);
    return `${place}: ${affected.join(', ')}`;
  });

test('a step is performed on the first use of each operation, on a middle one, and on the last', () => {
  assert.deepEqual(targets('lost-answer', { placeOrder: 6, listPets: 2, getPet: 1, streamEvents: 4 }), [
    'first: placeOrder 0, listPets 0, getPet 0',
    'middle: placeOrder 2',
    'last: placeOrder 5, listPets 1',
  ]);
  assert.deepEqual(targets('lost-answer', { placeOrder: 1 }), ['first: placeOrder 0']);
  assert.deepEqual(targets('conflict', { listPets: 3, createPet: 3 }), [], 'it fits neither');
});

test('faults strike different middle uses, and never the first or the last', () => {
  const middleOf = (fault: string, uses: number) => {
    const plans = plansFor({ fault }, usageOf({ placeOrder: uses }));
    return plans.find(({ place }) => place === 'middle')?.faults[0]?.after;
  };
  const affected = faults.flatMap(({ name }) => middleOf(name, 12) ?? []);
  assert.ok(affected.every((after) => after >= 1 && after <= 10));
  assert.ok(new Set(affected).size >= 8, `${affected}`);
  assert.equal(middleOf('lost-answer', 3), 1);
});

test('a failure that repeats many times affects the first read, and the first write', () => {
  const uses = { streamEvents: 1, createPet: 4, listPets: 2 };
  const plans = plansFor({ fault: 'internal-error' }, usageOf(uses));
  const repeated = plans.filter(({ faults }) => faults.some(({ times }) => times !== undefined));
  const expected = (kind: string, operation: string) => ({
    name: `internal-error 25 times, first ${kind}`,
    faults: [{ fault: 'internal-error', times: 25, operation, after: 0 }],
    isMostlyWaiting: true,
  });
  assert.deepEqual(
    repeated.map(({ name, faults, isMostlyWaiting }) => ({ name, faults, isMostlyWaiting })),
    [expected('read', 'listPets'), expected('write', 'createPet')],
  );
  const given = plansFor({ fault: 'internal-error', times: 4 }, usageOf(uses));
  assert.deepEqual(
    given.map(({ name }) => name),
    ['first', 'middle', 'last'].map((place) => `internal-error 4 times, ${place} use`),
  );
});

test("each value of a fault's parameter is tried in its own run, unless the user chooses one", () => {
  const namesOf = (planned: PlannedFault) =>
    plansFor(planned, usageOf({ createPet: 2, listPets: 1 })).map(({ name, faults }) => {
      assert.equal(new Set(faults.map(({ shape }) => shape)).size, 1);
      return `${name}: ${faults.map(({ operation, after }) => `${operation} ${after}`).join(', ')}`;
    });
  const first = (shape: string) => `retry-after-odd ${shape}, first use: createPet 0, listPets 0`;
  const last = (shape: string) => `retry-after-odd ${shape}, last use: createPet 1`;
  const others = ['zero', 'past', 'malformed', 'ten-days', 'thirty-days'];
  const all = [first('none'), last('none'), ...others.map(first)];
  assert.deepEqual(namesOf({ fault: 'retry-after-odd' }), all);
  assert.deepEqual(namesOf({ fault: 'retry-after-odd', shape: 'zero' }), [first('zero'), last('zero')]);
});

test('a condition is active in a run for each value, and other forms of a cut stream come three times', () => {
  const namesOf = (fault: string) =>
    plansFor({ fault }, usageOf({ listPets: 2, streamEvents: 1 })).map(({ name }) => name);
  const forms = ['relations', 'unquoted', 'two-in-one', 'relative'];
  assert.deepEqual(
    namesOf('link-odd'),
    forms.map((form) => `link-odd ${form}`),
  );
  assert.deepEqual(namesOf('stream-cut'), [
    'stream-cut last, first use',
    'stream-cut second 3 times, first use',
    'stream-cut after-no-id 3 times, first use',
  ]);
});

test('a fault at the continuation of a stream comes after a cut', () => {
  const [plan, ...more] = plansFor({ fault: 'stream-expired' }, usageOf({ streamEvents: 1 }));
  assert.deepEqual(plan?.faults, [
    { fault: 'stream-cut', operation: 'streamEvents' },
    { fault: 'stream-expired', operation: 'streamEvents', after: 0 },
  ]);
  assert.deepEqual(more, []);
});

test('a thorough grading performs the fault on every use', () => {
  assert.deepEqual(targets('lost-answer', { placeOrder: 3, listPets: 2 }, true), [
    '1: placeOrder 0, listPets 0',
    '2: placeOrder 1, listPets 1',
    '3: placeOrder 2',
  ]);
});

test('a condition applies to a whole run, and a fault of the key is performed once', () => {
  assert.deepEqual(targets('small-pages', { listPets: 9 }), ['whole: any 0']);
  assert.deepEqual(targets('small-pages', { createPet: 9 }), []);
  assert.deepEqual(targets('banned', { createPet: 9 }), ['whole: any 5']);
});

test('a silent fault is performed on the first read in one run, and on the first write in another', () => {
  assert.deepEqual(targets('no-answer', { createPet: 4, getPet: 4, listPets: 4 }), [
    ...['first: getPet 0', 'first: createPet 0'],
  ]);
  assert.deepEqual(targets('no-answer', { createPet: 4 }), ['first: createPet 0']);
  const plans = plansFor({ fault: 'no-answer' }, usageOf({ createPet: 4, getPet: 4 }));
  assert.deepEqual(
    plans.map(({ name }) => name),
    ['no-answer, first read', 'no-answer, first write'],
  );
});

test('a fault with an operation or a number of uses is performed exactly there, once', () => {
  const exactly = { fault: 'lost-answer', operation: 'createPet', after: 3 };
  const used = usageOf({ createPet: 9, listPets: 9 });
  const [plan, ...others] = plansFor(exactly, used, true);
  assert.deepEqual([plan?.place, plan?.faults, others], [4, [exactly], []]);
  assert.equal(plan?.name, 'lost-answer at the 4th createPet');
  assert.deepEqual(plansFor({ ...exactly, operation: 'deletePet' }, used), [], 'the program does not use it');
  const slow = plansFor({ fault: 'slow', bytesPerSecond: 9 }, used);
  const rates = slow.map(({ place, faults }) => `${place} ${faults[0]?.bytesPerSecond}`);
  assert.deepEqual(rates, ['first 9', 'middle 9', 'last 9'], 'other parameters hold for all its runs');
});

test('delays are longer than the program has ever waited', () => {
  const delayed = (longestMs: number) =>
    plansFor({ fault: 'delay' }, usageOf({ getPet: 1 }, { longestMs }))[0]?.faults[0]?.delayMs;
  assert.deepEqual([3, 2_500, 40_000].map(delayed), [1_000, 5_000, 30_000]);
});

test('an invalid fault from the user is refused, and the error says what is allowed', () => {
  const [lost, odd] = [{ fault: 'lost-answer' }, { fault: 'retry-after-odd' }];
  for (const [given, problem] of [
    [{ fault: 'lost-answer', operation: 'createPet', after: 3, times: 2 }, undefined],
    [{ fault: 'retry-after-odd', shape: 'zero' }, undefined],
    [{ ...lost, shape: 'zero' }, /^lost-answer takes no shape: it takes operation, after, times$/],
    [{ ...odd, shape: 'odd' }, /^shape of retry-after-odd must be one of .*zero.*, not odd$/],
    [{ ...lost, after: 'x' }, /^after of lost-answer must be an integer from 0 to 10000, not x$/],
    [{ ...lost, after: -1 }, /not -1$/],
    [{ fault: 'conflict', operation: 'createPet' }, /^conflict cannot affect createPet, only .*updatePet/],
    [{ fault: 'small-pages', after: 1 }, /^small-pages takes no after: it takes operation$/],
    [{ fault: 'large-ids', operation: 'getPet' }, /^large-ids takes no operation/],
  ] as const) {
    const found = problemIn(given as PlannedFault);
    if (problem) assert.match(found ?? '', problem);
    else assert.equal(found, undefined);
  }
});

test('every plan is a valid rehearsal with a unique name, however much the program does', () => {
  for (const requestCount of [1, 2, 1_000_000]) {
    const names: string[] = [];
    for (const fault of faults) {
      const uses = Object.fromEntries(operations.map(({ id }) => [id, requestCount]));
      const plans = plansFor({ fault: fault.name }, usageOf(uses, { requestCount }));
      for (const { name, faults, waitsMs } of plans) {
        names.push(name);
        assert.ok(validateFaults(faults, petstoreApi).length <= 100, fault.name);
        assert.equal(problemIn(faults[0] as PlannedFault), undefined);
        assert.ok(waitsMs >= 0);
      }
    }
    assert.equal(new Set(names).size, names.length);
  }
});

const limit = (requestCount: number) =>
  plansFor({ fault: 'near-limit' }, usageOf({ listPets: requestCount }, { requestCount }));

test('a limit is lower than the program needs, but enough for two minutes', () => {
  for (let count = 2; count <= 1_500; count++) {
    const [{ faults, waitsMs, isUntilMinuteEnds }] = limit(count) as [RunPlan];
    const remaining = Number(faults[0]?.remaining);
    assert.ok(remaining < count, `${count}`);
    assert.ok(remaining * 2 >= count, `${count}`);
    assert.deepEqual([waitsMs, isUntilMinuteEnds], [120_000, true]);
  }
  assert.deepEqual(limit(1), [], 'one request reaches no limit');
});

test('a run into a limit starts so that it waits a few seconds at the end of a minute', () => {
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

test('only a run that missed the end of its minute on a busy machine is repeated', () => {
  const [plan] = limit(10) as [RunPlan];
  assert.equal(hasMissedMinute(plan, { performed: 0, tookMs: 30_000 }), true);
  assert.equal(hasMissedMinute(plan, { performed: 1, tookMs: 30_000 }), false);
  assert.equal(hasMissedMinute(plan, { performed: 0, tookMs: 90_000 }), false, 'no minute is long enough');
  const [other] = plansFor({ fault: 'lost-answer' }, usageOf({ listPets: 1 })) as [RunPlan];
  assert.equal(hasMissedMinute(other, { performed: 0, tookMs: 30_000 }), false);
});

test('at most the allowed number of runs is in progress, and urgent runs start first', async () => {
  const slots = new RunQueue(2);
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
