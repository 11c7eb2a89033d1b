import { nth } from '../../src/foundation/words.ts';
import { toCard } from '../../src/grade/card/card.ts';
import { toText } from '../../src/grade/card/text.ts';
import type { FaultGrade, FaultPlace, FaultRun, Grade } from '../../src/grade/grade.ts';
import { checks } from '../../src/lab/checks/list.ts';
import type { CheckResult } from '../../src/lab/checks/report-schema.ts';
import { faultNamed, faultNames } from '../../src/lab/faults/list.ts';
import type { RecordedRequest } from '../../src/lab/recordings/schema.ts';
import type { PlannedFault } from '../../src/lab/rehearsals/schema.ts';
import { startMs } from '../support/recorded.ts';

type Sketch = Partial<RecordedRequest> & { atMs: number; target: string; isCut?: true };

/** Requests as a recording lists them. Default: GETs with status 200 after 3 ms. */
export const requests = (...sketches: Sketch[]): RecordedRequest[] =>
  sketches.map(({ atMs, isCut, status = 200, ...given }, index) => ({
    ...{ id: String(index + 1), requestId: `request-${index + 1}` },
    ...{ at: new Date(startMs + atMs).toISOString(), offsetMs: atMs, method: 'GET', headers: {} },
    ...{ durationMs: 3, answerHeaders: {}, connection: 'c1', fingerprint: given.target },
    ...given,
    // A request whose connection was cut has no status.
    ...(!isCut && { status }),
  }));

/** The results of all checks: not observed, except the given ones. */
const results = (given: Record<string, Partial<CheckResult>>): CheckResult[] =>
  checks.map(({ name, level, advice, guide }) => ({
    ...{ name, level, advice, guide, result: 'not_observed' as const },
    ...{ evidence: [], because: 'No request showed it.' },
    ...given[name],
  }));

const failed = (because: string, ...evidence: string[]) => ({ result: 'failed' as const, because, evidence });

const pets = { target: '/v1/pets?limit=20', operation: 'listPets' };
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });
const pet = {
  ...{ method: 'POST', target: '/v1/pets', operation: 'createPet', status: 201 },
  bodyBytes: 31,
};
const order = {
  ...{ method: 'POST', target: '/v1/store/orders', operation: 'placeOrder', status: 201 },
  bodyBytes: 25,
};
const stock = { target: '/v1/inventory/21', operation: 'getInventory' };
const change = { method: 'PATCH', target: '/v1/inventory/21', operation: 'updateInventory' };

const plain = requests(
  { atMs: 0, ...pets },
  { atMs: 9, ...pet },
  { atMs: 18, ...order },
  { atMs: 25, ...stock },
  { atMs: 33, ...change },
);

const refusal = (retryAfter: number, fault: string, status = 429) => ({
  ...{ status, code: status === 429 ? 'rate_limited' : 'unavailable', fault },
  answerHeaders: { 'retry-after': String(retryAfter), 'x-ratelimit-remaining': '0' },
});

/** How a run differs from one that survives. Its strikes get their fault. */
type RunSketch = Partial<Omit<FaultRun, 'strikes'>> & { strikes?: Partial<PlannedFault>[] };

/** How runs of faults differ from one that survives. For a fault with several runs, the first is given as `NAME`. */
const differing: Record<string, RunSketch> = {
  'rate-limited': {
    verdict: 'failed',
    exitStatus: 1,
    lastLines: [
      '    at ask (careless.mjs:14:11)',
      '    at async careless.mjs:22:15',
      'Error: 429 rate_limited',
    ],
    checks: results({
      'retry-after.obeyed': failed('3 requests came before the time in Retry-After.', '2', '3', '4'),
      'failures.retried': { result: 'passed', because: 'It tried again.', evidence: ['2'] },
    }),
    requests: requests(
      { atMs: 0, ...pets, ...refusal(2, 'rate-limited') },
      { atMs: 210, ...pets, ...refusal(2, 'rate-limited'), gapMs: 207, retryOf: '1' },
      { atMs: 415, ...pets, ...refusal(2, 'rate-limited'), gapMs: 202, retryOf: '2' },
      { atMs: 620, ...pets, ...refusal(2, 'rate-limited'), gapMs: 202, retryOf: '3' },
    ),
    tookMs: 704,
  },
  'rate-limited-date': {
    requests: requests(
      {
        ...{ atMs: 0, ...pets, ...refusal(2, 'rate-limited-date') },
        answerHeaders: { 'retry-after': 'Mon, 01 Jun 2026 12:00:02 GMT' },
      },
      { atMs: 2_050, ...pets, gapMs: 2_047, retryOf: '1' },
      { atMs: 2_060, ...pet },
    ),
    tookMs: 2_140,
  },
  banned: {
    verdict: 'failed',
    exitStatus: 1,
    strikes: [{ after: 2 }],
    lastLines: ['Error: 403 key_banned'],
    checks: results({ 'ban.stops': failed('1 request came during the ban.', '1', '2') }),
    requests: requests(
      { atMs: 0, ...pets, ...refusal(1, 'banned', 403), code: 'key_banned' },
      { atMs: 130, ...pets, ...refusal(1, 'banned', 403), code: 'key_banned', gapMs: 127, retryOf: '1' },
    ),
  },
  unavailable: {
    requests: requests(
      { atMs: 0, ...pets, ...refusal(1, 'unavailable', 503) },
      { atMs: 1_104, ...pets, gapMs: 1_101, retryOf: '1' },
      { atMs: 1_116, ...pet, ...refusal(1, 'unavailable', 503) },
      { atMs: 2_160, ...pet, gapMs: 1_041, retryOf: '3' },
      { atMs: 2_170, ...order, ...refusal(1, 'unavailable', 503) },
      { atMs: 3_190, ...order, gapMs: 1_017, retryOf: '5' },
      { atMs: 3_199, ...stock },
    ),
    tookMs: 3_260,
  },
  'lost-answer': {
    verdict: 'did-it-twice',
    deviations: [
      {
        ...{ kind: 'twice', what: 'two pets Smaug instead of one', requests: ['2', '3'] },
        service: 'Committed request #2, then reset the connection.',
        change: 'Make the key once for each pet, before the loop of attempts.',
      },
      { kind: 'twice', what: 'an order of 1 Smaug more than there was', requests: ['4', '5'] },
    ],
    checks: results({
      'idempotency.no-blind-post-retry': failed(
        '2 POSTs without Idempotency-Key were sent again though they may have taken effect.',
        '2',
        '3',
        '4',
        '5',
      ),
      'if-match.sent': failed('1 of 1 changes of what was read carried no If-Match.', '7'),
    }),
    requests: requests(
      { atMs: 0, ...pets },
      { atMs: 9, ...pet, ...keyed('9f8b7c6d-5e4f-4a3b'), isCut: true, fault: 'lost-answer' },
      { atMs: 115, ...pet, ...keyed('1a2b3c4d-0000-4a3b'), gapMs: 103, retryOf: '2' },
      { atMs: 124, ...order, isCut: true, fault: 'lost-answer' },
      { atMs: 230, ...order, gapMs: 103, retryOf: '4' },
      { atMs: 240, ...stock },
      { atMs: 250, ...change },
    ),
    tookMs: 330,
  },
  truncated: {
    verdict: 'failed',
    exitStatus: 134,
    lastLines: ["SyntaxError: Expected ',' or ']' after array element in JSON at position 812"],
    requests: requests({ atMs: 0, ...pets, fault: 'truncated' }),
  },
  delay: {
    verdict: 'hung',
    exitStatus: undefined,
    lastLines: ['waiting for /v1/pets …'],
    gaveUpAfterMs: null,
    strikes: [{ operation: 'listPets', after: 0 }],
    requests: requests({ atMs: 0, ...pets, isCut: true, fault: 'delay', durationMs: 9_000, left: true }),
    tookMs: 10_000,
  },
  slow: {
    gaveUpAfterMs: 5_012,
    verdict: 'reported-failure',
    deviations: [{ kind: 'reported', what: 'printed "store: down" instead of "12 pets"', requests: ['1'] }],
  },
  conflict: {
    checks: results({
      'updates.not-lost': failed('1 change overwrote the change of another writer.', '3'),
    }),
    requests: requests(
      { atMs: 0, ...pets },
      { atMs: 9, ...stock },
      { atMs: 20, ...change, fault: 'conflict' },
    ),
  },
  'stale-connection': {
    verdict: 'failed',
    exitStatus: 1,
    lastLines: ['Error: the connection was reset'],
    requests: requests({ atMs: 0, ...pets, isCut: true, fault: 'stale-connection' }),
  },
  'small-pages': {
    verdict: 'did-something-else',
    deviations: [{ kind: 'other', what: 'pet Rex: stock 2 instead of 3', requests: ['1'] }],
    checks: results({ 'pages.to-the-end': failed('1 list was not read to its end.', '1') }),
    requests: requests({ atMs: 0, ...pets, fault: 'small-pages' }, { atMs: 8, ...pet }),
  },
  sunset: { verdict: 'not-reached', performed: 0 },
};

/** Later runs of a fault, on other uses. */
const later: Record<string, (RunSketch & { place: FaultPlace })[]> = {
  'lost-answer': [
    {
      ...(differing['lost-answer'] as RunSketch),
      ...{ place: 'middle', strikes: [{ operation: 'createPet', after: 3 }] },
    },
  ],
  reset: [{ place: 'last', strikes: [{ operation: 'createPet', after: 7 }] }],
};

const baselineChecks = results({
  'if-match.sent': failed('1 of 1 changes of what was read carried no If-Match.', '5'),
});

const everyUse = ['listPets', 'createPet', 'placeOrder'].map((operation) => ({ operation, after: 0 }));

/** A run that survives, except for the given properties. */
export function runOf(fault: string, given: RunSketch = {}): FaultRun {
  const { isCondition, scope } = faultNamed(fault) ?? {};
  const { place = isCondition || scope === 'key' ? 'whole' : 'first' } = given;
  const use = typeof place === 'number' ? nth(place) : place;
  const { strikes = isCondition ? [{}] : everyUse, ...rest } = given;
  return {
    ...{ name: place === 'whole' ? fault : `${fault}, ${use} use`, label: fault, place },
    faults: strikes.map((strike) => ({ fault, ...strike })),
    ...{ verdict: 'survived', mayWaitLong: false },
    ...{ performed: 1, deviations: [], exitStatus: 0, lastLines: ['done'], tookMs: 95 },
    ...{ checks: baselineChecks, requests: plain },
    ...rest,
  };
}

/** A fault with these runs. */
const faultOf = (fault: string, runs: FaultRun[]): FaultGrade => ({
  ...{ fault, required: faultNamed(fault)?.level === 'required', runs },
  verdict: runs[0]?.verdict ?? 'not-reached',
});

const grade = (faults: FaultGrade[], given: Partial<Grade>): Grade => ({
  command: ['node', 'examples/careless.mjs'],
  baseline: {
    ...{ exitStatus: 0, lastLines: ['done'], tookMs: 92, checks: baselineChecks, requests: plain },
    operations: [
      { operation: 'listPets', uses: 1 },
      { operation: 'createPet', uses: 8 },
      { operation: 'placeOrder', uses: 1 },
    ],
    ...{ refused: [], nothingToCompare: false },
  },
  ...{ notCompared: [], faults, verdict: 'passed' },
  runCount: 2 + faults.flatMap(({ runs }) => runs).length,
  ...given,
});

/** A grade of these runs under one fault. */
export const gradeOf = (fault: string, ...runs: FaultRun[]): Grade => grade([faultOf(fault, runs)], {});

const carelessFaults = faultNames.map((fault) =>
  faultOf(fault, [
    runOf(fault, differing[fault]),
    ...(later[fault] ?? []).map((given) => runOf(fault, given)),
  ]),
);

/** A grade of a careless program, with everything that a card can show. */
export const carelessGrade: Grade = grade(carelessFaults, {
  ...{ notCompared: ['the description of pets'], verdict: 'failed' },
});
carelessGrade.baseline.refused = [
  { id: '3', operation: 'placeOrder', status: 422, code: 'validation_failed' },
];

/** A grade of a program that survives every fault that it reaches. */
export const carefulGrade: Grade = grade(
  faultNames.map((fault) =>
    faultOf(fault, fault === 'sunset' ? [] : [runOf(fault, { checks: results({}) })]),
  ),
  { command: ['node', 'examples/careful.mjs'] },
);
carefulGrade.baseline.checks = results({
  'ids.exact': { result: 'passed', because: 'All ids came back as they were.', evidence: ['2'] },
});

/** A grade of a program that fails without faults. */
export const brokenGrade: Grade = grade([], {
  baseline: {
    ...{ exitStatus: 1, lastLines: ['TypeError: url is undefined'], tookMs: 61, operations: [], checks: [] },
    ...{ requests: [], refused: [], nothingToCompare: false },
    problem: 'Without faults the program exits with 1, not with 0.',
  },
  ...{ runCount: 1, verdict: 'failed' },
});

/** Text that a hostile program may put into its store, its output and its targets. */
export const hostile = `</pre><script>alert(1)</script>"'&\u001b[31m\u202e\u0000 <img src=x onerror=alert(1)> ]]>`;

/** A grade of a program that attacks the readers of its card. */
export const hostileGrade: Grade = {
  ...carelessGrade,
  command: ['node', hostile],
  notCompared: [hostile],
  faults: carelessGrade.faults.map((fault) => ({
    ...fault,
    runs: fault.runs.map((run) => ({
      ...run,
      deviations: run.deviations.map((deviation) => ({ ...deviation, what: hostile, service: hostile })),
      lastLines: [hostile, `key pet_${'a'.repeat(36)}`],
      checks: run.checks.map((check) => ({ ...check, because: `${check.because} ${hostile}` })),
      requests: run.requests.map((request) => ({
        ...{ ...request, target: `/v1/pets/${hostile}`, method: hostile },
        headers: { 'idempotency-key': hostile.slice(7) },
      })),
    })),
  })),
};

/** A grade of a program that makes every mistake. */
export const hopelessGrade: Grade = grade(
  faultNames.map((fault, i) =>
    faultOf(fault, [
      runOf(fault, {
        verdict: 'did-it-twice',
        deviations: Array.from({ length: 5 }, (_, j) => ({
          ...{ kind: 'twice', what: `pet ${i}-${j} of a rather long name twice `.repeat(j + 1) },
          requests: plain.map(({ id }) => id),
        })),
        gaveUpAfterMs: i,
        checks: checks.map(({ name, level, advice, guide }) => ({
          ...{ name, level, advice, guide, ...failed(`${name} in fault ${i}. `.repeat(9), '1', '2', '3') },
        })),
      }),
    ]),
  ),
  { notCompared: Array.from({ length: 50 }, (_, i) => `the name of pet ${i}`), verdict: 'failed' },
);
hopelessGrade.baseline.refused = plain.map(({ id }) => ({ id, status: 422 }));
hopelessGrade.baseline.nothingToCompare = true;

/** The command lines that cards of tests suggest. */
export const suggested = {
  again: (selector?: string) =>
    `petstore grade ${selector ? `--fault ${selector} ` : ''}-- node examples/careless.mjs`,
  about: (fault: string) => `petstore lab faults ${fault}`,
};

export const cardOf = (grade: Grade) => toCard(grade, startMs, suggested);

/** A card for a terminal with this many columns. */
export function shown(card: ReturnType<typeof cardOf>, isVerbose = false, width = 80): string {
  const { columns } = process.stdout;
  process.stdout.columns = width;
  try {
    return toText(card, { isVerbose });
  } finally {
    process.stdout.columns = columns;
  }
}

/** The same without line breaks. */
export const flat = (card: ReturnType<typeof cardOf>) => shown(card).replaceAll(/\s+/g, ' ');

/** A run of the careless program. */
export const carelessRun = (fault: string, place = 0) =>
  carelessGrade.faults.find((one) => one.fault === fault)?.runs[place] as FaultRun;
