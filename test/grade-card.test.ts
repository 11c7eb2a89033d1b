import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { toCard } from '../src/grade/card.ts';
import type { FaultGrade, Grade, Progress } from '../src/grade/grade.ts';
import { toData } from '../src/grade/json.ts';
import { toJunit } from '../src/grade/junit.ts';
import { toPage } from '../src/grade/page/page.ts';
import { progressOn, type Screen } from '../src/grade/progress.ts';
import { Tail } from '../src/grade/tail.ts';
import { toText } from '../src/grade/text.ts';
import { attemptsOf, lanesOf } from '../src/lab/attempts.ts';
import {
  brokenGrade,
  carefulGrade,
  carelessGrade,
  hostile,
  hostileGrade,
  requests,
} from './support/grades.ts';
import { whyNo } from './support/programs.ts';

const lines = {
  again: (fault?: string) =>
    `petstore grade ${fault ? `--fault ${fault} ` : ''}-- node examples/careless.mjs`,
  about: (fault: string) => `petstore lab faults ${fault}`,
};

const cardOf = (grade: Grade) => toCard(grade, Date.parse('2026-06-01T12:00:00Z'), lines);

/** The card for a terminal of 80 columns. */
function textOf(grade: Grade): string {
  const { columns } = process.stdout;
  process.stdout.columns = 80;
  try {
    return toText(cardOf(grade));
  } finally {
    process.stdout.columns = columns;
  }
}

const run = (fault: string) => carelessGrade.faults.find((one) => one.fault === fault) as FaultGrade;

test('the card has a line for each fault, those that must be mended first', () => {
  const [title, table = ''] = textOf(carelessGrade).split('\n\n');
  assert.equal(title, 'Report card of node examples/careless.mjs');
  const rows = table.split('\n').filter((line) => /^\S {2}/.test(line));
  assert.match(table, /\n✗ must be mended, ! had better be mended$/);
  assert.equal(rows.length, carelessGrade.faults.length);
  assert.match(rows.map((row) => row[0]).join(''), /^✗{7}!✓{10}–$/);
  assert.match(
    table,
    /^✗ {2}lost-answer +changed the store {2}two pets Smaug where there was one\n +\(\+1\); /m,
  );
  assert.match(table, /^✗ {2}delay +hung +did not end within 10 s$/m);
  assert.match(table, /^✗ {2}conflict +survived +breaks updates\.not-lost$/m);
  assert.match(table, /^– {2}sunset +not reached +the fault was never performed$/m);
});

test('of each fault that is not survived it tells the difference, the end, the failed checks and the attempts', () => {
  const text = textOf(carelessGrade);
  assert.match(
    text,
    /^lost-answer: changed the store \(required\)\n {2}Store {2}two pets Smaug .*\n {9}an order of/m,
  );
  assert.match(
    text,
    /^ {2}Ended {2}exit status 1 after 0\.7 s\n {2}Wrote {2}Error: 429 rate_limited\n {9} +at ask/m,
  );
  assert.match(
    text,
    /^ {4}#2 {2}\+0\.01 s {2}cut off +fault {2}POST \/v1\/pets\n {4}#3 {2}\+0\.12 s {2}201 +after 0\.1 s /m,
  );
  assert.match(text, /^ {4}To do: {2}Read `Retry-After`/m);
  // What no fault brought about is told once, for all runs.
  assert.equal(text.split('if-match.sent').length, 2);
  assert.match(
    text,
    /^ {2}if-match\.sent {2}In 16 of 20 runs; without any fault: 1 of 1 changes of what was\n/m,
  );
  assert.match(
    text,
    /^Verdict: failed {2}Not survived: 5 of 15 required faults\. Changed\s+the\s+store\s+under\s+1\s+more\.\s/m,
  );
  assert.match(
    text,
    /\n {2}petstore lab faults rate-limited\n {2}petstore grade --fault rate-limited -- node/,
  );
  for (const line of text.split('\n')) assert.ok(line.length <= 80, line);
});

test('the same advice is given once', () => {
  const again = { ...run('lost-answer'), fault: 'reset' };
  const faults = carelessGrade.faults.map((fault) => (fault.fault === 'reset' ? again : fault));
  const text = textOf({ ...carelessGrade, faults });
  assert.equal(text.split('Send an `Idempotency-Key`').length, 2);
  assert.equal(text.split('\n  idempotency.no-blind-post-retry\n').length, 3);
});

test('a required check that fails without any fault is held against the program, but not against each fault', () => {
  const failing = run('lost-answer').checks.filter(({ name }) => name === 'idempotency.no-blind-post-retry');
  const baseline = { ...carelessGrade.baseline, checks: failing };
  const faults = [{ ...run('reset'), checks: failing }];
  const grade: Grade = { ...carelessGrade, baseline, faults };
  const { entries, failures } = cardOf(grade);
  assert.deepEqual([failures.length, entries[0]?.rank, entries[0]?.failures], [1, 'survived', []]);
  assert.match(textOf(grade), /^✗ {2}without any +breaks idempotency\.no-blind-post-retry$/m);
  assert.match(toJunit(cardOf(grade)), /name="without any fault".*\n +<failure type="check"/);
});

test('of a program that survives all the card says so', () => {
  const text = textOf(carefulGrade);
  assert.match(text, /^Verdict: passed {2}Every required fault that was reached was survived,/m);
  assert.match(text, /Not\s+reached:\s+1\s+of\s+19\.$/);
  assert.doesNotMatch(text, /✗|To do|Next/);
});

test('of a program that fails by itself the card says so, and nothing else', () => {
  assert.equal(
    textOf(brokenGrade),
    [
      'Report card of node examples/careless.mjs',
      'Ended  exit status 1 after 61 ms\nWrote  TypeError: url is undefined',
      'Verdict: failed  Without a fault it ends with 1, not with 0.',
    ].join('\n\n'),
  );
});

test('nothing of a program reaches a terminal or a reader unseen, and no secret does', () => {
  const forms = {
    text: textOf(hostileGrade),
    json: JSON.stringify(toData(cardOf(hostileGrade))),
    junit: toJunit(cardOf(hostileGrade)),
    page: toPage(cardOf(hostileGrade)),
  };
  for (const [form, text] of Object.entries(forms)) {
    assert.ok(!text.includes('pet_aaa'), form);
    if (form !== 'json') assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\u202e]/u, form);
  }
  assert.ok(forms.text.includes('\\u001b[31m\\u202e'));
  assert.equal(JSON.parse(forms.json).faults[0].difference[0], hostile);
});

test('a page runs nothing, loads nothing, and holds what a program wrote as text alone', () => {
  const page = toPage(cardOf(hostileGrade));
  assert.doesNotMatch(page, /<(?:script|img|link|iframe|object|base|form)\b/i);
  assert.doesNotMatch(page, /\b(?:src|style|on\w+)=(?!x onerror|alert)["']/i);
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
  const hash = createHash('sha256').update(style).digest('base64');
  assert.match(page, /<meta http-equiv="Content-Security-Policy" content="default-src &apos;none&apos;; /);
  assert.ok(page.includes(`style-src &apos;sha256-${hash}&apos;`));
  assert.doesNotMatch(style, /url\(|@import/);
});

test('data has all that is known, in the order of the catalogue', () => {
  const { command, baseline, faults, verdict } = toData(cardOf(carelessGrade)) as Record<string, never> & {
    faults: Record<string, unknown>[];
  };
  assert.deepEqual([command, verdict], [carelessGrade.command, 'failed']);
  assert.deepEqual(baseline, carelessGrade.baseline);
  assert.deepEqual(
    faults.map(({ fault }) => fault),
    carelessGrade.faults.map(({ fault }) => fault),
  );
  const {
    requests: sent,
    again,
    ...lost
  } = faults.find(({ fault }) => fault === 'rate-limited') as Record<string, unknown>;
  const { requests: _, ...expected } = run('rate-limited');
  assert.deepEqual(lost, { ...expected, rank: 'mend' });
  assert.equal(again, 'petstore grade --fault rate-limited -- node examples/careless.mjs');
  const [first, second] = sent as Record<string, unknown>[];
  assert.deepEqual([first?.status, first?.retryAfter, second?.gapMs], [429, '2', 207]);
  assert.ok(!('headers' in (first as object)));
});

/** Reads JUnit XML by another program's parser, and prints what it holds. */
const reader = `
import json, sys, xml.etree.ElementTree as tree
def read(text):
  suite = tree.fromstring(text.encode())[0]
  cases = [{'level': case.get('classname'), 'name': case.get('name'), 'content': [[child.tag, child.get('type'), child.get('message'), child.text] for child in case]} for case in suite.findall('testcase')]
  return {'counts': suite.attrib, 'cases': cases}
print(json.dumps([read(text) for text in json.load(sys.stdin)]))`;

interface Case {
  level: string;
  name: string;
  /** What stands in it: its tag, type, message and text. */
  content: [string, string | null, string | null, string][];
}

test('JUnit has a case for each fault, and fails for what must be mended alone', {
  skip: whyNo('python3'),
}, () => {
  const input = JSON.stringify(
    [carelessGrade, brokenGrade, hostileGrade].map((grade) => toJunit(cardOf(grade))),
  );
  const [careless, broken, odd] = JSON.parse(
    execFileSync('python3', ['-c', reader], { input, encoding: 'utf8' }),
  ) as { counts: Record<string, string>; cases: Case[] }[];
  const { tests, failures, skipped, errors } = careless?.counts ?? {};
  assert.deepEqual([tests, failures, skipped, errors], ['20', '7', '2', '0']);
  const find = (name: string) => careless?.cases.find((one) => one.name === name) as Case;
  const { level, content } = find('lost-answer');
  const [tag, type, message, details] = content[0] ?? [];
  assert.deepEqual([level, tag, type], ['petstore.required', 'failure', 'changed-the-store']);
  assert.match(message as string, /^changed the store: two pets Smaug/);
  assert.match(
    details as string,
    /\nidempotency\.no-blind-post-retry: .* Requests: 2, 3, 4, 5\. .*\nOnce more: petstore/,
  );
  assert.deepEqual(find('conflict').content[0]?.slice(0, 2), ['failure', 'check']);
  const unreached = ['skipped', null, 'not reached: the fault was never performed'];
  assert.deepEqual(find('sunset').content[0]?.slice(0, 3), unreached);
  // It left something else in the store without a word, which no level excuses.
  assert.deepEqual(find('small-pages').content[0]?.slice(0, 2), ['failure', 'changed-the-store']);
  assert.match(find('stale-connection').content[0]?.[2] as string, /^Recommended only: /);
  assert.deepEqual(
    find('slow').content.map(([tag]) => tag),
    ['system-out'],
  );
  const [only] = broken?.cases ?? [];
  assert.deepEqual(
    [broken?.counts.tests, only?.name, only?.content[0]?.[0]],
    ['1', 'without any fault', 'failure'],
  );
  assert.equal(odd?.counts.tests, '20');
});

test('of a line that is cut, no part of a secret is among the last lines', () => {
  const key = `pet_${'Ab3'.repeat(12)}`;
  const linesOf = (...texts: string[]) => {
    const tail = new Tail();
    const take = tail.stream(() => {});
    for (const text of texts) take(Buffer.from(text));
    return tail.lines();
  };
  for (const cut of [1, 4, 20, 39]) {
    const long = key + ' seen'.repeat(1_000).slice(0, 4_096 + cut - key.length);
    assert.match(linesOf(long).join('|'), /^…(?: seen)+ s?e?e?n?…$/);
    const many = `${key}${`\n${'x'.repeat(3_000)}`.repeat(11)}`.slice(0, 32_768 + cut);
    assert.match(linesOf('begun ', many, '\nthe end').join('|'), /^…(?:\|x+…)+\|the end$/);
  }
  assert.match(
    linesOf('x'.repeat(32_800), key, `${key.slice(0, 9)}`, `${key.slice(9)} seen`).join('|'),
    /^… seen$/,
  );
});

const steps: Progress[] = [
  { stage: 'baseline' },
  { stage: 'faults', faults: ['reset', 'delay'], baseline: carelessGrade.baseline },
  { stage: 'begun', fault: 'reset' },
  { stage: 'begun', fault: 'delay' },
  { stage: 'ended', grade: run('delay') },
];

/** What a screen gets. */
function shownOn(screen: Pick<Screen, 'isTTY' | 'columns'>, { isVerbose = false } = {}): string {
  let shown = '';
  const teller = progressOn({ ...screen, write: (text) => (shown += text) }, { isVerbose });
  for (const step of steps) teller.tell(step);
  teller.show('one\r\ntw', 'reset');
  teller.show('o \u001b[2J', 'reset');
  teller.end();
  return shown;
}

test('progress is a line that changes at a terminal, and a line for each run elsewhere', () => {
  const ended = '[1/2] ✗  delay  hung               did not end within 10 s\n';
  assert.equal(shownOn({}), `Without any fault …\n${ended}`);
  const printed = 'reset: one\nreset: two \\u001b[2J\n';
  assert.equal(shownOn({ isTTY: true }, { isVerbose: true }), `Without any fault …\n${ended}${printed}`);
  const states = shownOn({ isTTY: true, columns: 45 }).split('\r\u001b[2K');
  assert.deepEqual([states.length, states.at(-1)], [7, '']);
  assert.match(states[4] as string, /━ {2}0 of 2 {2}reset, del$/);
  assert.match(states[5] as string, /━ {2}1 of 2 {2}reset$/);
});

test('progress holds a check that fails without any fault against no fault, as the card does', () => {
  const baseline = { ...carelessGrade.baseline, checks: run('lost-answer').checks };
  let shown = '';
  const teller = progressOn({ write: (text) => (shown += text) });
  teller.tell({ stage: 'faults', faults: ['lost-answer'], baseline });
  teller.tell({ stage: 'ended', grade: run('lost-answer') });
  assert.match(shown, /^\[1\/1\] ✗ {2}lost-answer {2}changed the store {2}two pets [^;]+ \(\+1\)\n$/);
});

test('of a line without an end the beginning is shown, however long it gets', () => {
  let shown = '';
  const teller = progressOn({ write: (text) => (shown += text) }, { isVerbose: true });
  const key = `pet_${'Ab3'.repeat(12)}`;
  teller.show(`${'x'.repeat(65_520)} ${key}`, 'reset');
  for (let left = 1_000; left > 0; left--) teller.show('y'.repeat(65_536), 'reset');
  teller.show('\nnext\nlast', 'reset');
  teller.end();
  assert.match(shown, /^reset: x{65520} …\nreset: next\nreset: last\n$/);
});

test('attempts at one thing share a lane, with what came of each and how long they waited', () => {
  const get = { target: '/v1/pets', operation: 'listPets' };
  const post = { method: 'POST', target: '/v1/pets', operation: 'createPet', status: 201 };
  const date = { 'retry-after': 'Mon, 01 Jun 2026 12:00:05 GMT' };
  const sent = (...given: Parameters<typeof requests>) => attemptsOf(requests(...given));
  const lanes = lanesOf(
    sent(
      { atMs: 0, ...get },
      { atMs: 10, ...post, isCut: true, fault: 'reset' },
      { atMs: 20, ...post },
      { atMs: 30, ...post, status: 503, answerHeaders: { 'retry-after': '2' } },
      // Another pet, which is created beside it.
      { atMs: 34, ...post, status: 503 },
      { atMs: 2_040, ...post, gapMs: 2_007 },
      { atMs: 2_050, ...get, gapMs: 2_047 },
      { atMs: 3_000, ...get, target: '/v1/pets?limit=1', fault: 'truncated' },
      { atMs: 3_997, ...get, target: '/v1/pets?limit=2', status: 429, answerHeaders: date },
      { atMs: 4_000, ...get, target: '/v1/pets?limit=3', left: true },
    ),
    12,
  );
  const shown = lanes.map(({ label, attempts }) => [label, ...attempts.map(({ word }) => word)]);
  assert.deepEqual(shown, [
    ['GET /v1/pets', '200', '200'],
    ['POST /v1/pets', 'cut off'],
    ['POST /v1/pets', '201'],
    ['POST /v1/pets', '503', '201'],
    ['POST /v1/pets', '503'],
    ['GET /v1/pets?limit=1', 'cut off'],
    ['GET /v1/pets?limit=2', '429'],
    ['GET /v1/pets?limit=3', 'left'],
  ]);
  assert.deepEqual(
    lanes[3]?.attempts.map(({ toldUntilMs, before }) => [toldUntilMs, before?.word]),
    [
      [2_033, undefined],
      [undefined, '503'],
    ],
  );
  assert.equal(lanes[6]?.attempts[0]?.toldUntilMs, 5_000);
  const few = lanesOf(
    sent(...Array.from({ length: 5 }, (_, i) => ({ atMs: i, ...get, operation: `o${i}` }))),
    3,
  );
  assert.deepEqual(
    few.map(({ label, attempts }) => [label, attempts.length]),
    [
      ['GET /v1/pets', 1],
      ['GET /v1/pets', 1],
      ['3 other requests', 3],
    ],
  );
});
