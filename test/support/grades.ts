import type { FaultGrade, Grade } from '../../src/grade/grade.ts';
import type { RecordedRequest } from '../../src/lab/recordings/schema.ts';
import { faultNames } from '../../src/lab/rehearsals/faults.ts';
import { checks } from '../../src/lab/report/checks/all.ts';
import type { CheckResult } from '../../src/lab/report/report.ts';

const startMs = Date.parse('2026-06-01T12:00:00Z');

type Sketch = Partial<RecordedRequest> & { atMs: number; target: string; isCut?: true };

/** Requests as a recording lists them; without more, GETs that were answered 200 after 3 ms. */
export const requests = (...sketches: Sketch[]): RecordedRequest[] =>
  sketches.map(({ atMs, isCut, status = 200, ...given }, index) => ({
    ...{ id: String(index + 1), requestId: `request-${index + 1}` },
    ...{ at: new Date(startMs + atMs).toISOString(), method: 'GET', headers: {} },
    ...{ durationMs: 3, answerHeaders: {}, connection: 'c1' },
    ...given,
    // What cuts a connection off leaves no status.
    ...(!isCut && { status }),
  }));

/** The results of all checks: not observed, but for those that are given. */
const results = (given: Record<string, Partial<CheckResult>>): CheckResult[] =>
  checks.map(({ name, level, advice, guide }) => ({
    ...{ name, level, advice, guide, result: 'not_observed' as const },
    ...{ evidence: [], because: 'No request showed it.' },
    ...given[name],
  }));

const failed = (because: string, ...evidence: string[]) => ({ result: 'failed' as const, because, evidence });

const pets = { target: '/v1/pets?limit=20', operation: 'listPets' };
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

const told: Record<string, Partial<FaultGrade>> = {
  'rate-limited': {
    verdict: 'failed',
    exitStatus: 1,
    lastLines: [
      'Error: 429 rate_limited',
      '    at ask (careless.mjs:14:11)',
      '    at async careless.mjs:22:15',
    ],
    checks: results({
      'retry-after.obeyed': failed(
        '3 requests came before the time that Retry-After had told.',
        '2',
        '3',
        '4',
      ),
      'failures.retried': { result: 'passed', because: 'It tried again.', evidence: ['2'] },
    }),
    requests: requests(
      { atMs: 0, ...pets, ...refusal(2, 'rate-limited') },
      { atMs: 210, ...pets, ...refusal(2, 'rate-limited'), gapMs: 207 },
      { atMs: 415, ...pets, ...refusal(2, 'rate-limited'), gapMs: 202 },
      { atMs: 620, ...pets, ...refusal(2, 'rate-limited'), gapMs: 202 },
    ),
    tookMs: 704,
  },
  'rate-limited-date': {
    verdict: 'survived',
    requests: requests(
      {
        ...{ atMs: 0, ...pets, ...refusal(2, 'rate-limited-date') },
        answerHeaders: { 'retry-after': 'Mon, 01 Jun 2026 12:00:02 GMT' },
      },
      { atMs: 2_050, ...pets, gapMs: 2_047 },
      { atMs: 2_060, ...pet },
    ),
    tookMs: 2_140,
  },
  banned: {
    verdict: 'failed',
    exitStatus: 1,
    lastLines: ['Error: 403 key_banned'],
    checks: results({ 'ban.stops': failed('1 request came during the ban.', '1', '2') }),
    requests: requests(
      { atMs: 0, ...pets, ...refusal(1, 'banned', 403), code: 'key_banned' },
      { atMs: 130, ...pets, ...refusal(1, 'banned', 403), code: 'key_banned', gapMs: 127 },
    ),
  },
  unavailable: {
    requests: requests(
      { atMs: 0, ...pets, ...refusal(1, 'unavailable', 503) },
      { atMs: 1_104, ...pets, gapMs: 1_101 },
      { atMs: 1_116, ...pet, ...refusal(1, 'unavailable', 503) },
      { atMs: 2_160, ...pet, gapMs: 1_041 },
      { atMs: 2_170, ...order, ...refusal(1, 'unavailable', 503) },
      { atMs: 3_190, ...order, gapMs: 1_017 },
      { atMs: 3_199, ...stock },
    ),
    tookMs: 3_260,
  },
  'lost-answer': {
    verdict: 'changed-the-store',
    difference: ['two pets Smaug where there was one', 'an order of 1 Smaug more than there was'],
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
      { atMs: 9, ...pet, isCut: true, fault: 'lost-answer' },
      { atMs: 115, ...pet, gapMs: 103 },
      { atMs: 124, ...order, isCut: true, fault: 'lost-answer' },
      { atMs: 230, ...order, gapMs: 103 },
      { atMs: 240, ...stock },
      { atMs: 250, ...change },
    ),
    tookMs: 330,
  },
  truncated: {
    verdict: 'failed',
    required: true,
    exitStatus: 134,
    lastLines: ["SyntaxError: Expected ',' or ']' after array element in JSON at position 812"],
    requests: requests({ atMs: 0, ...pets, fault: 'truncated' }),
  },
  delay: {
    verdict: 'hung',
    exitStatus: undefined,
    lastLines: ['waiting for /v1/pets …'],
    requests: requests({ atMs: 0, ...pets, isCut: true, fault: 'delay', durationMs: 9_000, left: true }),
    tookMs: 10_000,
  },
  conflict: {
    required: true,
    checks: results({
      'updates.not-lost': failed('1 change overwrote what another writer had written.', '3'),
    }),
    requests: requests(
      { atMs: 0, ...pets },
      { atMs: 9, ...stock },
      { atMs: 20, ...change, fault: 'conflict' },
    ),
  },
  'stale-connection': {
    verdict: 'failed',
    required: false,
    exitStatus: 1,
    lastLines: ['Error: the connection was reset'],
    requests: requests({ atMs: 0, ...pets, isCut: true, fault: 'stale-connection' }),
  },
  'small-pages': {
    verdict: 'changed-the-store',
    required: false,
    difference: ['pet Rex: stock 2 instead of 3'],
    checks: results({ 'pages.to-the-end': failed('1 list was not read to its end.', '1') }),
    requests: requests({ atMs: 0, ...pets, fault: 'small-pages' }, { atMs: 8, ...pet }),
  },
  'new-status': { required: false },
  sunset: { verdict: 'not-reached', required: false, performed: 0 },
};

/** A grade of a careless program, in which everything that can be told of a fault happens. */
export const carelessGrade: Grade = {
  command: ['node', 'examples/careless.mjs'],
  baseline: {
    ...{ exitStatus: 0, lastLines: ['done'], tookMs: 92 },
    operations: ['listPets', 'createPet', 'placeOrder', 'getInventory', 'updateInventory'],
    checks: results({ 'if-match.sent': failed('1 of 1 changes of what was read carried no If-Match.', '5') }),
  },
  notCompared: ['the description of pets'],
  faults: faultNames.map((fault) => ({
    ...{ fault, verdict: 'survived', required: true, performed: 1, difference: [] },
    ...{ exitStatus: 0, lastLines: ['done'], tookMs: 95 },
    checks: results({ 'if-match.sent': failed('1 of 1 changes of what was read carried no If-Match.', '5') }),
    requests: plain,
    ...told[fault],
  })) as FaultGrade[],
  verdict: 'failed',
};

/** A grade of a program that survives all that it reaches. */
export const carefulGrade: Grade = {
  ...carelessGrade,
  command: ['node', 'examples/careful.mjs'],
  baseline: { ...carelessGrade.baseline, checks: results({}) },
  faults: carelessGrade.faults.map((fault) => ({
    ...fault,
    ...{ verdict: fault.fault === 'sunset' ? 'not-reached' : 'survived', difference: [] },
    ...{ exitStatus: 0, checks: results({}) },
  })),
  verdict: 'passed',
};

/** A grade of a program that fails by itself. */
export const brokenGrade: Grade = {
  ...carelessGrade,
  baseline: {
    ...{ exitStatus: 1, lastLines: ['TypeError: url is undefined'], tookMs: 61, operations: [], checks: [] },
    problem: 'Without a fault it ends with 1, not with 0.',
  },
  ...{ notCompared: [], faults: [], verdict: 'failed' },
};

/** What a hostile program may make its store, its output and its targets hold. */
export const hostile = `</pre><script>alert(1)</script>"'&\u001b[31m\u202e\u0000 <img src=x onerror=alert(1)> ]]>`;

/** A grade of a program that wants to harm who reads the card. */
export const hostileGrade: Grade = {
  ...carelessGrade,
  command: ['node', hostile],
  notCompared: [hostile],
  faults: carelessGrade.faults.map((fault) => ({
    ...fault,
    difference: [hostile],
    lastLines: [hostile, `key pet_${'a'.repeat(36)}`],
    checks: fault.checks.map((check) => ({ ...check, because: `${check.because} ${hostile}` })),
    requests: fault.requests.map((request) => ({
      ...request,
      target: `/v1/pets/${hostile}`,
      method: hostile,
    })),
  })),
};
