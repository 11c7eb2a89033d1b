import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BaselineRuns } from '../../src/grade/baseline.ts';
import { maxCompared, PrintedLines } from '../../src/grade/compare/printed-lines.ts';
import type { Item, StoreState } from '../../src/grade/compare/state.ts';
import { type StoreEvent, storeResultOf } from '../../src/grade/compare/store-result.ts';
import type { Deviation, Verdict } from '../../src/grade/grade.ts';
import { plansOf, type RunPlan, type SelectedFault, selectFaults } from '../../src/grade/run/plan.ts';
import type { Run } from '../../src/grade/run/run.ts';
import { isFailing, judgeRun, rankOf, worst } from '../../src/grade/verdict.ts';
import { petstoreApi } from '../../src/lab/petstore/petstore-api.ts';
import type { RecordedRequest } from '../../src/lab/recordings/schema.ts';
import { requests as recorded } from './grades.ts';

/** Rex is pet 1, with a stock of 9. */
const initial = (): StoreState => ({
  categories: [{ id: 1, name: 'Dogs' }],
  pets: [{ id: 1, name: 'Rex', categoryId: 1, status: 'available' }],
  orders: [],
  inventory: [{ petId: 1, quantity: 9, status: 'available' }],
  webhooks: [],
});

type EventSketch = Pick<StoreEvent, 'type' | 'data' | 'previous'>;
/** A request, and the events of its changes. */
type Sketch = Partial<Parameters<typeof recorded>[number]> & { events?: EventSketch[] };

/** A run that sent these requests, and printed these lines. */
function runOf(sketches: Sketch[], lines: string[] = [], exitStatus: number | undefined = 0): Run {
  const requests = recorded(
    ...sketches.map(({ events: _, ...request }, i) => ({ atMs: 10 * i, target: '/v1/pets', ...request })),
  );
  const events = sketches.flatMap(({ events = [] }, i): StoreEvent[] => {
    const { requestId, at } = requests[i] as RecordedRequest;
    return events.map((event) => ({ ...event, requestId, timestamp: at }));
  });
  const printed = new PrintedLines();
  printed.add(Buffer.from(lines.map((line) => `${line}\n`).join('')));
  return {
    ...{ exitStatus, lastLines: lines, tookMs: 100, requests, requestCount: requests.length, printed },
    result: undefined,
    ...{ storeResult: storeResultOf(stateAfter(events), initial(), events), performed: 1 },
  };
}

/** The state of the store after some events. */
function stateAfter(events: StoreEvent[]): StoreState {
  const state = initial() as StoreState & Record<string, Item[]>;
  for (const { type, data } of events) {
    const [kind, what] = type.split('.');
    if (kind === 'inventory') {
      Object.assign(state.inventory.find(({ petId }) => petId === data.petId) as object, data);
      continue;
    }
    const rows = state[`${kind}s`] as Item[];
    const index = rows.findIndex(({ id }) => id === data.id);
    if (index === -1) rows.push(data);
    else rows.splice(index, 1, ...(what === 'deleted' || what === 'cancelled' ? [] : [data]));
    if (what === 'created' && kind === 'pet')
      state.inventory.push({ petId: Number(data.id), quantity: 1, status: 'available' });
  }
  return state;
}

interface Judging {
  fault?: string;
  times?: number;
  ignoredOutput?: true | RegExp;
}

/** The deviations of a run from two runs without faults, and the verdict. */
function judge(
  calm: [Run, ...Run[]],
  run: Run,
  { fault = 'lost-answer', times = 1, ignoredOutput }: Judging = {},
) {
  const [selected] = selectFaults({ faults: [{ fault, times, after: 0 }] }) as [SelectedFault];
  const [plan] = plansOf(selected, usage) as [RunPlan];
  return judgeRun(plan, run, baselineOf(calm, ignoredOutput));
}
const baselineOf = (calm: [Run, ...Run[]], ignoredOutput?: true | RegExp) =>
  new BaselineRuns(calm, initial(), { ignoredOutput, api: petstoreApi });
const usage = {
  api: petstoreApi,
  operations: petstoreApi.operations.map((operation) => ({ operation, uses: 1 })),
  ...{ requestCount: 9, longestMs: 1 },
};

const found = ({ deviations }: { deviations: Deviation[] }) =>
  deviations.map(({ kind, what, requests }) => [kind, what, requests.join(' ')]);
/** The same without the requests. */
const told = (run: { deviations: Deviation[] }) => found(run).map(([kind, what]) => `${kind}: ${what}`);

const pet = (id: number, name: string) => ({ id, name, categoryId: 1, status: 'available' });
const create = (id: number, name: string, more: Partial<Sketch> = {}): Sketch => ({
  ...{ method: 'POST', operation: 'createPet', status: 201 },
  events: [{ type: 'pet.created', data: pet(id, name) }],
  ...more,
});
const remove = (id: number, name: string): Sketch => ({
  ...{ method: 'DELETE', operation: 'deletePet', status: 204 },
  events: [{ type: 'pet.deleted', data: pet(id, name) }],
});
const rename = (id: number, before: string, after: string, more: Partial<Sketch> = {}): Sketch => ({
  ...{ method: 'PATCH', operation: 'updatePet' },
  events: [{ type: 'pet.updated', data: pet(id, after), previous: { name: before } }],
  ...more,
});
/** The event of a change of the stock of Rex. His status follows from it. */
const stocked = (before: number, after: number): EventSketch => ({
  ...{ type: 'inventory.updated', data: { petId: 1, quantity: after, status: statusOf(after) } },
  previous: { quantity: before, ...(before * after === 0 && { status: statusOf(before) }) },
});
const statusOf = (quantity: number) => (quantity === 0 ? 'pending' : 'available');
const setStock = ([before, after]: [number, number]): Sketch => ({
  ...{ method: 'PATCH', target: '/v1/inventory/1', operation: 'updateInventory' },
  events: [stocked(before, after)],
});
/** An order of one unit of Rex, which changes his stock. */
const order = (id: number, stock: number, more: Partial<Sketch> = {}): Sketch => ({
  ...{ method: 'POST', target: '/v1/store/orders', operation: 'placeOrder', status: 201 },
  events: [
    { type: 'order.placed', data: { id, petId: 1, quantity: 1, complete: false } },
    stocked(stock + 1, stock),
  ],
  ...more,
});
const list: Sketch = { operation: 'listPets' };
const lost = { isCut: true, fault: 'lost-answer' } as const;

test('a pet that was created twice counts as twice, also after one or both were deleted', () => {
  const calm: [Run] = [runOf([create(2, 'Smaug'), remove(2, 'Smaug')])];
  for (const rest of [[remove(3, 'Smaug')], [remove(2, 'Smaug'), remove(3, 'Smaug')]]) {
    const run = judge(calm, runOf([create(2, 'Smaug', lost), create(3, 'Smaug'), ...rest]));
    assert.equal(run.verdict, 'did-it-twice');
    assert.deepEqual(found(run)[0], ['twice', 'two pets Smaug instead of one', '1 2']);
    const [{ service, change, goodClient }] = run.deviations as [Deviation];
    assert.equal(service, 'Committed request 1, then cut the connection.');
    assert.match(change ?? '', /`Idempotency-Key`/);
    assert.match(goodClient ?? '', /same `Idempotency-Key`/);
  }
});

test('a change that is applied again, to its own result, counts as made twice', () => {
  const golden = 'Smaug the Golden';
  const calm: [Run] = [runOf([create(2, 'Smaug'), rename(2, 'Smaug', golden)])];
  const twice = `${golden} the Golden`;
  const again = [create(2, 'Smaug'), rename(2, 'Smaug', golden, lost), rename(2, golden, twice)];
  const run = judge(calm, runOf(again));
  assert.deepEqual(found(run), [['twice', `pet Smaug has name ${twice} instead of ${golden}`, '2 3']]);
  assert.equal(run.verdict, 'did-it-twice');
  const andBack = judge(calm, runOf([...again, rename(2, twice, golden)]));
  assert.deepEqual(found(andBack), [
    ['twice', 'pet Smaug: name was changed three times instead of once', '2 3 4'],
  ]);
  const through = (name: string) => [create(2, 'Smaug'), rename(2, 'Smaug', name), rename(2, name, golden)];
  assert.deepEqual(found(judge([runOf(through('Fafnir'))], runOf(through('Fluffy')))), [
    ['other', 'pet Smaug: name was temporarily Fluffy instead of Fafnir', '2 3'],
  ]);
});

test('if only one of two runs deletes the pet that it created, the pet is reported as deleted, or as not deleted', () => {
  const [kept, deleted] = [[create(2, 'Smaug')], [create(2, 'Smaug'), remove(2, 'Smaug')]];
  const toldOf = (calm: Sketch[], run: Sketch[]) => told(judge([runOf(calm)], runOf(run)));
  assert.deepEqual(toldOf(deleted, kept), ['undone: pet Smaug was not deleted']);
  assert.deepEqual(toldOf(kept, deleted), ['other: pet Smaug was deleted instead of kept']);
});

test('a pet created twice does not change how other changes are described', () => {
  const calm: [Run] = [runOf([create(2, 'Smaug'), rename(2, 'Smaug', 'Fafnir')])];
  const twice = [create(2, 'Smaug', lost), create(3, 'Smaug'), rename(3, 'Smaug', 'Fafnir')];
  assert.deepEqual(found(judge(calm, runOf(twice))), [['twice', 'two pets Smaug instead of one', '1 2']]);
});

test('a stock change caused by an order is not another deviation', () => {
  const calm: [Run] = [runOf([order(1, 8)])];
  const twice = judge(calm, runOf([order(1, 8, lost), order(2, 7)]));
  assert.deepEqual(found(twice), [['twice', 'two orders of 1 Rex instead of one', '1 2']]);
  const other = judge([runOf([setStock([9, 5])])], runOf([setStock([9, 6])]));
  assert.deepEqual(found(other), [['other', 'pet Rex has stock 6 instead of 5', '1']]);
  assert.equal(other.verdict, 'did-something-else');
});

test('orders missing after an unread page are one deviation with one cause', () => {
  const calm: [Run] = [runOf([list, list, order(1, 8), order(2, 7), create(2, 'A'), create(3, 'B')])];
  const fault = 'internal-error';
  const run = judge(calm, runOf([list, { ...list, status: 500, fault }, order(1, 8)]), { fault });
  assert.deepEqual(found(run), [
    ['undone', 'no pet A instead of one; no pet B instead of one; one order of 1 Rex instead of two', '2'],
  ]);
  assert.equal(run.verdict, 'left-undone');
  assert.equal(run.deviations[0]?.service, 'Responded with 500 (request 2).');
});

test('a program with an exit status other than 0 failed, unless it did something twice', () => {
  const calm: [Run] = [runOf([create(2, 'Smaug'), create(3, 'Fafnir')])];
  const failed = judge(calm, runOf([{ ...list, ...lost }], [], 1));
  assert.deepEqual([failed.verdict, failed.deviations], ['failed', []]);
  const twice = judge(calm, runOf([create(2, 'Smaug', lost), create(3, 'Smaug')], [], 1));
  assert.equal(twice.verdict, 'did-it-twice');
  assert.deepEqual(found(twice), [['twice', 'two pets Smaug instead of one', '1 2']]);
  const hung = judge(calm, { ...runOf([list]), exitStatus: undefined });
  assert.equal(hung.verdict, 'hung');
  assert.deepEqual(told(hung), ['undone: no pet Smaug instead of one; no pet Fafnir instead of one']);
  assert.equal(hung.deviations[0]?.isWarning, true);
  const unreached = judge(calm, { ...runOf([]), performed: 0 });
  assert.deepEqual([unreached.verdict, unreached.deviations], ['not-reached', []]);
});

test("a program may build on another writer's change, but a change that it omits afterwards is reported as left undone", () => {
  /** The deviations of a run with changes before and after another writer. The last of `before` is the other writer's. */
  const under = (calm: [number, number][], before: [number, number][], after: [number, number][]) => {
    const other = { ...setStock(before.at(-1) as [number, number]), fault: 'conflict' };
    const run = runOf([...before.slice(0, -1).map(setStock), other, ...after.map(setStock)]);
    const events = [...before, ...after].map((values, i) => {
      const { requestId, at } = run.requests[i] as RecordedRequest;
      const isOther = i === before.length - 1;
      return { ...stocked(...values), requestId: isOther ? 'another writer' : requestId, timestamp: at };
    });
    const storeResult = storeResultOf(run.storeResult.state, initial(), events, 'another writer');
    return told(judge([runOf(calm.map(setStock))], { ...run, storeResult }, { fault: 'conflict' }));
  };
  // The program doubles the current stock.
  assert.deepEqual(under([[9, 18]], [[9, 10]], [[10, 20]]), []);
  // The other writer has made the same change.
  assert.deepEqual(under([[1, 2]], [[1, 2]], []), []);
  // The program refills a sold-out pet, whose status the other writer has changed.
  const soldOut: [number, number] = [9, 0];
  assert.deepEqual(under([soldOut, [0, 5]], [soldOut, [0, 1]], [[1, 5]]), []);
  const never = 'undone: pet Rex: stock was never changed, instead of once';
  assert.deepEqual(under([[9, 18]], [[9, 10]], []), [never]);
  const twice = [10, 20].map((before): [number, number] => [before, 2 * before]);
  const message = 'twice: pet Rex: stock was changed twice instead of once';
  assert.deepEqual(under([[9, 18]], [[9, 10]], twice), [message]);
});

test('a change that never occurs without faults does not count as twice', () => {
  const calm: [Run] = [runOf([list, create(2, 'Smaug')])];
  const run = runOf([list, create(2, 'Smaug'), rename(1, 'Rex', 'Rexy')]);
  assert.equal(judge(calm, run, { fault: 'small-pages' }).verdict, 'did-something-else');
});

test('only after a failure the card describes the service, and gives advice to retry', () => {
  const undone = (fault: string, status = 200) => {
    const run = runOf([{ ...list, status, fault }]);
    return judge([runOf([list, create(2, 'Smaug')])], run, { fault }).deviations[0] as Deviation;
  };
  assert.match(undone('unavailable', 503).change ?? '', /^Retry until/);
  assert.equal(undone('unavailable').change, undefined);
  assert.equal(undone('small-pages').service, undefined);
});

test('values that differ between runs without faults are not compared, but their number is', () => {
  const named = (n: number) => runOf([create(2, `a${n}`), rename(1, 'Rex', `r${n}`)]);
  const calm: [Run, Run] = [named(1), named(2)];
  const run = (...sketches: Sketch[]) => found(judge(calm, runOf(sketches)));
  assert.deepEqual(run(create(2, 'a3'), rename(1, 'Rex', 'r3')), []);
  assert.deepEqual(run(create(2, 'a3', lost), create(3, 'a4'), rename(1, 'Rex', 'r3')), [
    ['twice', 'two pets added instead of one, such as a4', '1 2'],
  ]);
  assert.deepEqual(run(create(2, 'a3'), rename(1, 'Rex', 'r3', lost), rename(1, 'r3', 'r4')), [
    ['twice', 'pet Rex: name was changed twice instead of once', '2 3'],
  ]);
  const names = ['Rex', 'a', 'b', 'c'];
  const renamed = (times: number) =>
    runOf(names.slice(0, times).map((name, i) => rename(1, name, names[i + 1] as string)));
  assert.deepEqual(judge([renamed(1), renamed(2)], renamed(3)).deviations, []);
});

test('attempts that share an X-Request-Id are distinguished by their commit time', () => {
  const calm: [Run] = [runOf([create(2, 'Smaug')])];
  const run = runOf([
    { ...create(2, 'Smaug'), events: [], status: 503, fault: 'unavailable' },
    create(2, 'Fafnir'),
  ]);
  const requests = run.requests.map((request) => ({ ...request, requestId: 'mine' }));
  const histories = [...run.storeResult.histories].map(([key, life]) => {
    const created = life.created && { ...life.created, requestId: 'mine' };
    return [key, { ...life, ...(created && { created }) }] as const;
  });
  const storeResult = { ...run.storeResult, histories: new Map(histories) };
  const { deviations } = judge(calm, { ...run, requests, storeResult });
  assert.deepEqual(deviations.find(({ kind }) => kind === 'other')?.requests, ['2']);
});

/** Judges the output of a program: `calm` without faults, and `lines` under a fault. */
function judgeOutput(
  calm: string[][],
  lines: string[],
  { sketches = [list], under = sketches, ...given }: Judging & { sketches?: Sketch[]; under?: Sketch[] } = {},
) {
  const runs = calm.map((lines) => runOf(sketches, lines)) as [Run, ...Run[]];
  return judge(runs, runOf(under, lines), given);
}

test('lines that all runs without faults print are required, and what differs in them is not', () => {
  const calm = [
    ['20 pets', 'id 4711 of Rex', 'took 3 ms', '\u001b[32mdone\u001b[0m'],
    ['id 4712 of Rex', 'took 9 ms', '20  pets', 'done'],
  ];
  const good = judgeOutput(calm, ['retrying', 'done', '1%\r99%\r20 pets', 'took 2.5 s', 'id 1 of Rex']);
  assert.deepEqual([good.verdict, good.deviations], ['survived', []]);
  const bad = judgeOutput(calm, ['done', 'took 3 ms', '2 pets', 'id 7 of Rex'], {
    under: [{ ...list, ...lost }],
  });
  assert.equal(bad.verdict, 'printed-something-else');
  assert.deepEqual(told(bad), [
    'printed: printed "2 pets" instead of "20 pets": GET /v1/pets never got a successful response',
  ]);
});

test('a line is required as often as it was printed, and to its end', () => {
  const long = `${'x'.repeat(5_000)} 7 pets`;
  const verdictOn = (lines: string[]) => judgeOutput([['1 pet', '1 pet', long]], lines).verdict;
  assert.equal(verdictOn(['1 pet', long, '1 pet']), 'survived');
  assert.equal(verdictOn(['1 pet', long]), 'printed-something-else');
  assert.equal(verdictOn(['1 pet', '1 pet', long.replace('7 pets', '6 pets')]), 'printed-something-else');
});

test('lines that are missing for one cause are one deviation', () => {
  const calm = ['1 Rex', '2 Nemo', '3 Smaug', '4 Fafnir', '4 pets'];
  assert.deepEqual(told(judgeOutput([calm, calm], ['1 Rex'])), [
    'printed: did not print "2 Nemo"; did not print "3 Smaug"; did not print "4 Fafnir"; and 1 more difference',
  ]);
});

test('times are not compared, even if equal without faults, but the text beside them is', () => {
  const at = (time: string, seconds: string, count: number) => [`${time} read ${count} pets in ${seconds}`];
  const calm = [at('2026-06-01T12:00:00Z', '0 s', 20), at('2026-06-01T12:00:00Z', '0 s', 20)];
  assert.deepEqual(judgeOutput(calm, at('2026-06-01T12:00:07Z', '2.5 seconds', 20)).deviations, []);
  assert.equal(judgeOutput(calm, at('2026-06-01T12:00:07Z', '2 s', 8)).verdict, 'printed-something-else');
});

const limited = (remaining: number): Sketch => ({
  ...list,
  answerHeaders: { 'x-ratelimit-remaining': String(remaining) },
});
const [made, madeLater] = [create(21, 'Smaug'), create(22, 'Smaug')];
const outage: Sketch[] = [create(21, 'Smaug'), { ...list, status: 503, fault: 'unavailable' }];

/** A line without faults, another in its place under a fault, and whether that is right. */
const printedInstead: [
  guarantee: string,
  line: string,
  instead: string,
  isRight: boolean,
  given?: Parameters<typeof judgeOutput>[2],
][] = [
  ['a total of a program that writes', '550 EUR', '0 EUR', false, { sketches: [made, list], under: outage }],
  ['the number of attempts', 'done after 1 request', 'done after 3 requests', true],
  ['a number of pets beside a number of attempts', '4 pets in 1 try', '3 pets in 2 tries', false],
  ['the id of the same new pet', 'created 21', 'created 22', true, { sketches: [made], under: [madeLater] }],
  [
    'another number that is the id of a pet',
    '21 pets',
    '22 pets',
    false,
    { sketches: [made], under: [madeLater] },
  ],
  ['the id of another pet', 'best: 2', 'best: 3', false],
  [
    'the limit of the run',
    '8 remaining',
    '3 remaining',
    true,
    { sketches: [limited(8)], under: [limited(3)] },
  ],
  [
    'a number that is a limit by chance',
    '8 pets',
    '3 pets',
    false,
    { sketches: [limited(8)], under: [limited(3)] },
  ],
  ['a change that an attempt had made', 'created Smaug', 'Smaug already exists', true, { sketches: [made] }],
  [
    'a change that was not made',
    'created Smaug',
    'Smaug already exists',
    false,
    { sketches: [made], under: [list] },
  ],
  ['large ids', 'pet 21', 'pet 10000000000000043', false, { fault: 'large-ids' }],
  ['new fields', 'Rex 1', 'Rex 1 b7', true, { fault: 'new-fields' }],
  ['a new status', 'Rex: pending', 'Rex: reserved', true, { fault: 'new-status' }],
  ['a count under a new status', 'total 20', 'total 19', false, { fault: 'new-status' }],
  [
    'a page of a list that was read as far as without faults',
    '20 pets',
    '3 pets',
    true,
    { fault: 'small-pages' },
  ],
  ['an older state', 'Rex', 'Max', true, { fault: 'stale-read' }],
  ['what a program prints under a limit', '20 pets', '12 pets', false, { fault: 'near-limit' }],
];

for (const [guarantee, line, instead, isRight, given] of printedInstead)
  test(`${isRight ? 'right' : 'wrong'}: ${guarantee}: "${instead}" instead of "${line}"`, () => {
    const { deviations, excused } = judgeOutput([[line], [line]], [instead], given);
    const ofOutput = deviations.filter(({ kind }) => kind === 'printed');
    assert.equal(ofOutput.length, isRight ? 0 : 1, JSON.stringify(deviations));
    assert.equal(excused?.length ?? 0, isRight ? 1 : 0);
  });

test('a step that was skipped is right if the last one was printed', () => {
  const steps = ['1/3 done', '2/3 done', '3/3 done'];
  assert.equal(judgeOutput([steps], ['1/3 done', '3/3 done']).verdict, 'survived');
  assert.equal(judgeOutput([steps], ['1/3 done', '2/3 done']).verdict, 'printed-something-else');
});

test('a program that names the failure but exits with 0 should be fixed, and must be if it also prints another value', () => {
  const calm = [['store: up', '20 pets']];
  const named = judgeOutput(calm, ['store: down']);
  assert.deepEqual([named.verdict, rankOf({ ...named, required: true })], ['reported-failure', 'should-fix']);
  assert.equal(judgeOutput(calm, ['store: down', '0 pets']).verdict, 'printed-something-else');
});

test('a line that a stream without its position printed again is wrong', () => {
  const stream = (at: object): Sketch => ({
    ...{ target: '/v1/store/events/stream?after=1', operation: 'streamEvents', ...at },
  });
  const cut = stream({ fault: 'stream-cut', cutEventId: '3', status: 200, durationMs: 5 });
  const judged = (reopened: Sketch) =>
    judgeOutput([['event 2', 'event 3']], ['event 2', 'event 2', 'event 3'], {
      ...{ fault: 'stream-cut', sketches: [stream({})], under: [cut, reopened] },
    }).verdict;
  assert.equal(judged(stream({ headers: { 'last-event-id': '2' } })), 'survived');
  assert.equal(judged({ ...stream({}), target: '/v1/store/events/stream' }), 'printed-something-else');
});

test('output does not count if the program failed, nor what is to be ignored', () => {
  const failed = judge([runOf([list], ['9'])], runOf([list], ['8'], 1));
  assert.deepEqual([failed.verdict, failed.deviations], ['failed', []]);
  const ignoring = (ignoredOutput: true | RegExp) =>
    judgeOutput([['9', 'ok']], ['8', 'ok'], { ignoredOutput });
  for (const ignored of [true, /^\d$/] as const) assert.deepEqual(ignoring(ignored).deviations, []);
  assert.equal(ignoring(/^ok/).verdict, 'printed-something-else');
});

test('a program that changes nothing and prints nothing has nothing to compare', () => {
  const isNothing = (run: Run, ignoredOutput?: true) =>
    baselineOf([run], ignoredOutput).toBaseline().nothingToCompare;
  assert.equal(isNothing(runOf([list])), true);
  assert.equal(isNothing(runOf([list], ['20 pets'])), false);
  assert.equal(isNothing(runOf([list], ['20 pets']), true), true);
  assert.equal(isNothing(runOf([create(2, 'Smaug')])), false);
  assert.equal(isNothing(runOf([create(2, 'Smaug'), remove(2, 'Smaug')])), false);
});

test('a bounded part of the output is kept and compared, and the card says so', () => {
  const printed = new PrintedLines();
  for (let i = 0; i < 3_000; i++) printed.add(Buffer.from(`line ${i} ${'x'.repeat(1_000)}\n`));
  printed.add(Buffer.from('y'.repeat(1_000_000)));
  printed.end();
  assert.ok(printed.lines.join('').length <= maxCompared && printed.isCut);
  const run = { ...runOf([list]), printed };
  assert.deepEqual(baselineOf([run]).notCompared, ['standard output after its first 512 KiB']);
});

test('refusals that occur in each run without faults are listed', () => {
  const refusal = { operation: 'createPet', status: 422, code: 'validation_failed' } as const;
  const always = create(9, 'x', { ...refusal, events: [] });
  const missing: Sketch = { ...always, status: 404, code: 'not_found' };
  const { refused } = baselineOf([runOf([always, missing]), runOf([list, always])]).toBaseline();
  assert.deepEqual(refused, [{ id: '2', ...refusal }]);
});

test('under a silent response the card shows when the program gave up, or that it never did', () => {
  const silent: Sketch = { ...list, isCut: true, fault: 'no-answer', durationMs: 5_003 };
  const gaveUp = (run: Run) => judge([runOf([list])], run, { fault: 'no-answer' }).gaveUpAfterMs;
  assert.equal(gaveUp(runOf([{ ...silent, left: true }, list])), 5_003);
  assert.equal(gaveUp(runOf([silent, list])), null);
  assert.equal(gaveUp({ ...runOf([{ ...silent, left: true }]), exitStatus: undefined }), null);
  assert.equal(gaveUp(runOf([list])), undefined);
  assert.equal(judge([runOf([list])], runOf([silent])).gaveUpAfterMs, undefined, 'not under other faults');
});

test('on a silent stream, the time until the program gave up is its silence', () => {
  const stream: Sketch = { operation: 'streamEvents', fault: 'stream-silent', durationMs: 50_010 };
  const gaveUp = (sketch: Sketch) =>
    judge([runOf([list])], runOf([sketch, list]), { fault: 'stream-silent' }).gaveUpAfterMs;
  assert.equal(gaveUp({ ...stream, silenceMs: 40_003 }), 40_003);
  assert.equal(gaveUp(stream), null);
});

test('under a failure that repeats, or a very long wait, a program may give up if it says so', () => {
  const calm: [Run] = [runOf([create(2, 'Smaug')])];
  const refused: Sketch = { ...create(2, 'Smaug'), events: [], status: 500, fault: 'internal-error' };
  const under = (run: Run, times: number) => judge(calm, run, { fault: 'internal-error', times }).verdict;
  const gaveUp = runOf([refused, refused, refused], [], 1);
  assert.deepEqual([under(gaveUp, 25), under(gaveUp, 1)], ['survived', 'failed']);
  assert.equal(under({ ...gaveUp, exitStatus: undefined }, 25), 'hung');
  assert.equal(under(runOf([refused, refused]), 25), 'left-undone');
  assert.equal(under(runOf([refused, create(2, 'Smaug'), create(3, 'Smaug')], [], 1), 25), 'did-it-twice');
  const fault = 'retry-after-odd';
  const odd = (seconds: string) => {
    const waits = { ...refused, status: 503, fault, answerHeaders: { 'retry-after': seconds } };
    return judge(calm, runOf([waits], [], 1), { fault }).verdict;
  };
  assert.deepEqual([odd('864000'), odd('2')], ['survived', 'failed']);
});

test('the worst run decides, and silent damage fails a program even under a recommended fault', () => {
  const some: Verdict[] = ['survived', 'hung', 'left-undone', 'not-reached'];
  assert.equal(worst(some), 'left-undone');
  assert.equal(worst([...some, 'did-it-twice']), 'did-it-twice');
  assert.equal(worst(['failed', 'survived']), 'failed');
  assert.equal(worst([]), 'not-reached');
  const failing = (required: boolean, mayWaitLong = false) =>
    (['did-it-twice', 'printed-something-else', 'hung', 'failed', 'survived', 'not-reached'] as const).filter(
      (verdict) => isFailing({ required, verdict, mayWaitLong }),
    );
  assert.deepEqual(failing(false), ['did-it-twice', 'printed-something-else', 'hung']);
  assert.deepEqual(failing(false, true), ['did-it-twice', 'printed-something-else']);
  assert.deepEqual(failing(true), ['did-it-twice', 'printed-something-else', 'hung', 'failed']);
});
