import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxCompared, PrintedLines } from '../../src/grade/compare/printed-lines.ts';
import type { OtherChange } from '../../src/grade/compare/state.ts';
import type { Run } from '../../src/grade/run/run.ts';
import { rankOf } from '../../src/grade/verdict.ts';
import {
  baselineOf,
  create,
  type Judging,
  judge,
  list,
  lost,
  remove,
  runOf,
  type Sketch,
  told,
} from './runs.ts';

/** Judges the output of a program: `calm` without faults, and `lines` under a fault. */
function judgeOutput(
  calm: string[][],
  lines: string[],
  { sketches = [list], under = sketches, others = [], otherEvents = 0, ...given }: OutputJudging = {},
) {
  const runs = calm.map((lines) => runOf(sketches, lines)) as [Run, ...Run[]];
  const run = runOf(under, lines);
  return judge(runs, { ...run, storeResult: { ...run.storeResult, others, otherEvents } }, given);
}

interface OutputJudging extends Judging {
  sketches?: Sketch[];
  under?: Sketch[];
  others?: OtherChange[];
  otherEvents?: number;
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

test('what rests on output alone needs the same missing line in a second run', () => {
  const calm = ['Rex', 'Nemo', '2 pets'];
  const verdictWith = (again: string[]) =>
    judgeOutput([calm, calm], ['Nemo', '2 pets'], { again: runOf([list], again) }).verdict;
  assert.equal(verdictWith(['Rex', '2 pets']), 'survived');
  assert.equal(verdictWith(['2 pets']), 'printed-something-else');
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
  for (const longer of ['1,234 ms', '3.2s', '1m3.2s', '1 min 3 s'])
    assert.deepEqual(judgeOutput([['took 987 ms']], [`took ${longer}`]).deviations, [], longer);
});

const limited = (remaining: number): Sketch => ({
  ...list,
  answerHeaders: { 'x-ratelimit-remaining': String(remaining) },
});
const next = { link: '</v1/pets?cursor=a>; rel="next"' };
const firstPage: Sketch = { ...list, answerHeaders: next };
const firstItem: Sketch = { ...firstPage, target: '/v1/pets?limit=1' };
const lastPage: Sketch = { ...list, target: '/v1/pets?cursor=a' };
const inPages: OutputJudging = {
  fault: 'small-pages',
  under: [firstItem, { ...firstPage, fault: 'small-pages' }, { ...lastPage, fault: 'small-pages' }],
};
const [made, madeLater] = [create(21, 'Smaug'), create(22, 'Smaug')];
const others: OutputJudging = {
  fault: 'conflict',
  others: [{ kind: 'pet', id: 1, property: 'name', before: 'Rex', after: 'Rex the Great' }],
};
const [stock, shipped] = [
  { kind: 'pet', id: 1, property: 'stock', before: '9', after: '10' },
  {
    kind: 'order',
    id: 3,
    property: 'shipDate',
    before: '2026-12-24T08:00:00Z',
    after: '2026-12-25T08:00:00Z',
  },
] as const;
const history: Sketch = { target: '/v1/store/events', operation: 'listEvents' };
const withHistory = { ...others, otherEvents: 2, sketches: [list, history] };
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
  [
    'a change that an attempt had made',
    'created Smaug',
    'Smaug already exists',
    true,
    { sketches: [made], under: [create(21, 'Smaug', lost), list] },
  ],
  [
    'the result of a read that failed beside a change that was made',
    '20 orders of Smaug',
    'no changes in orders of Smaug',
    false,
    {
      sketches: [made, list],
      under: [create(21, 'Smaug', lost), { ...list, status: 503, fault: 'lost-answer' }],
    },
  ],
  [
    'no change in a program that changes nothing',
    '20 pets',
    'no change in pets',
    false,
    { under: [{ ...list, ...lost }] },
  ],
  [
    'a change that was not made',
    'created Smaug',
    'Smaug already exists',
    false,
    { sketches: [made], under: [list] },
  ],
  ['large ids', 'pet 21', 'pet 10000000000000043', false, { fault: 'large-ids' }],
  ['new fields', '{"id":1}', '{"id":1,"revision":"b7"}', true, { fault: 'new-fields' }],
  ['a total under new fields', '550 EUR', '0 EUR', false, { fault: 'new-fields' }],
  ['a new status', 'Rex: pending', 'Rex: reserved', true, { fault: 'new-status' }],
  ['a count under a new status', 'total 20', 'total 19', false, { fault: 'new-status' }],
  ['a page in the place of the whole list', '20 pets', '3 pets', false, { fault: 'small-pages' }],
  [
    'a page of a list that is left without faults, too',
    '20 pets',
    '2 pets',
    true,
    { ...inPages, sketches: [firstPage] },
  ],
  [
    'a page of a list that is read to its end beside its first item',
    '20 pets',
    '2 pets',
    false,
    { ...inPages, sketches: [firstItem, list] },
  ],
  ['the other writer changed the name', 'Pet Rex is sold', 'Pet Rex the Great is sold', true, others],
  ['a count beside a name that the other writer changed', '3 of 3 packed', '2 of 3 packed', false, others],
  ['the number of events, with those of the other writer', '7 events', '9 events', true, withHistory],
  ['more events than the other writer caused', '7 events', '10 events', false, withHistory],
  [
    'a number of events in a program that reads none',
    '7 pets',
    '9 pets',
    false,
    { ...others, otherEvents: 2 },
  ],
  ['the sum of a stock', '20 units', '21 units', true, { ...others, others: [stock] }],
  [
    'a date that the other writer moved',
    'due 2026-12-24',
    'due 2026-12-25',
    true,
    { ...others, others: [shipped] },
  ],
  ['another date', 'due 2026-12-24', 'due 2026-12-26', false, { ...others, others: [shipped] }],
  ['requests after a colon', 'Requests: 12', 'Requests: 13', true],
  ['a number of things beside a word for requests', 'Adoption requests 20', 'Adoption requests 0', false],
  [
    'fewer requests of the program itself',
    'done after 2 requests',
    'done after 1 request',
    true,
    { sketches: [list, list], under: [list] },
  ],
  ['retries in JSON', '{"retries":0}', '{"retries":2}', true],
  ['a date that is lost', 'ships 2026-12-24', 'ships 1970-01-01', false],
  ['an amount of dollars', '550 US$', '0 US$', false],
  ['a multiple', 'ordered 3 times', 'ordered 6 times', false],
  ['the count of a status', 'pending: 5', 'pending: 0', false, { fault: 'new-status' }],
  ['a result under an older state', 'Total 550 EUR', 'done', false, { fault: 'stale-read' }],
  ['a cached copy that is unchanged', '550 EUR', 'cached copy unchanged', false],
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
  assert.equal(judgeOutput([steps], ['1/3 done', '2/3 done (retried)', '3/3 done']).verdict, 'survived');
  assert.equal(judgeOutput([steps], ['1/3 done', '2/3 done']).verdict, 'printed-something-else');
  const shelves = [['shelf 20/25', 'shelf 25/25']];
  assert.equal(judgeOutput(shelves, ['shelf 0/25', 'shelf 25/25']).verdict, 'printed-something-else');
});

test('a program that names the failure but exits with 0 should be fixed, and must be if it also prints another value', () => {
  const calm = [['store: up', '20 pets']];
  const named = judgeOutput(calm, ['store: down']);
  assert.deepEqual([named.verdict, rankOf({ ...named, required: true })], ['reported-failure', 'should-fix']);
  assert.equal(judgeOutput(calm, ['store: down', '0 pets']).verdict, 'printed-something-else');
});

test('a line that a stream without its position, or with an earlier one, printed again is wrong', () => {
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
  assert.equal(judged(stream({ headers: { 'last-event-id': '1' } })), 'printed-something-else');
});

test('lines about events that are no longer stored are right to miss, if the program reads a list again', () => {
  const stream: Sketch = { target: '/v1/store/events/stream', operation: 'streamEvents' };
  const expired: Sketch = {
    ...{ ...stream, status: 410, fault: 'stream-expired', headers: { 'last-event-id': '1' } },
  };
  const judged = (...under: Sketch[]) =>
    judgeOutput([['event 2', 'event 3']], ['event 3'], {
      fault: 'stream-expired',
      sketches: [stream],
      under,
    });
  const right = judged(expired, list, stream);
  assert.deepEqual([right.verdict, right.excused?.length], ['survived', 1]);
  assert.equal(judged(expired, stream).verdict, 'printed-something-else');
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

test('60,000 other lines are compared within seconds', () => {
  const linesFrom = (first: number) => Array.from({ length: 60_000 }, (_, i) => `${first + i}`);
  const startedMs = performance.now();
  assert.equal(judgeOutput([linesFrom(1e6)], linesFrom(5e6)).verdict, 'printed-something-else');
  assert.ok(performance.now() - startedMs < 20_000);
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
