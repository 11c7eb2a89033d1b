import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { cardPage } from '../../scripts/generate/card.ts';
import { nth } from '../../src/foundation/words.ts';
import { toCard } from '../../src/grade/card/card.ts';

import { comparedWith, readCard, toData } from '../../src/grade/card/data.ts';
import { toJunit } from '../../src/grade/card/junit.ts';
import { toPage } from '../../src/grade/card/page.ts';
import { maxSummaryLines, toText } from '../../src/grade/card/text.ts';
import {
  type FaultRun,
  type Grade,
  type Progress,
  type Verdict,
  withoutFaults,
} from '../../src/grade/grade.ts';
import { progressOn, type Screen } from '../../src/grade/progress.ts';
import { attemptsOf, lanesOf } from '../../src/lab/recordings/timeline-layout.ts';
import {
  brokenGrade,
  carefulGrade,
  carelessGrade,
  gradeOf,
  hopelessGrade,
  hostile,
  hostileGrade,
  requests,
  runOf,
} from '../support/grades.ts';
import { type ReadCase, readJunit } from '../support/junit.ts';
import { whyNo } from '../support/programs.ts';

const lines = {
  again: (selector?: string) =>
    `petstore grade ${selector ? `--fault ${selector} ` : ''}-- node examples/careless.mjs`,
  about: (fault: string) => `petstore lab faults ${fault}`,
};

const cardOf = (grade: Grade, atMs = Date.parse('2026-06-01T12:00:00Z')) => toCard(grade, atMs, lines);

/** A card for a terminal with this many columns. */
function shown(card: ReturnType<typeof cardOf>, isVerbose = false, width = 80): string {
  const { columns } = process.stdout;
  process.stdout.columns = width;
  try {
    return toText(card, { isVerbose });
  } finally {
    process.stdout.columns = columns;
  }
}
const textOf = (grade: Grade, isVerbose = false) => shown(cardOf(grade), isVerbose);

const run = (fault: string, place = 0) =>
  carelessGrade.faults.find((one) => one.fault === fault)?.runs[place] as FaultRun;

/** The row of a run under a fault that differs from one that survives. */
const rowOf = (fault: string, given: Parameters<typeof runOf>[1]) => {
  const [row] = cardOf(gradeOf(fault, runOf(fault, given))).rows;
  return row as NonNullable<typeof row>;
};

/** A text without line breaks. */
const flat = (text: string) => text.replaceAll(/\s+/g, ' ');

test('the summary starts with the worst problem, and shows its use, its requests and what to change', () => {
  const text = textOf(carelessGrade);
  const [title, counts] = text.split('\n');
  const { length } = carelessGrade.faults;
  assert.equal(title, 'Report card of node examples/careless.mjs');
  assert.equal(counts, `${length + 4} runs: 2 without faults, ${length + 2} under ${length} faults.`);
  assert.match(
    flat(text),
    /✗ did it twice: two pets Smaug instead of one \(lost-answer at the 1st createPet and in 1 more run\) #2 \+0\.01 s cut off fault 9f8b7c6d… POST \/v1\/pets #3 \+0\.12 s 201 1a2b3c4d… POST \/v1\/pets The service Committed request #2, .* A good client Sends .* Fix Make the key once/,
  );
  const heads = [...text.matchAll(/^[✗!] {2}([^:]+):/gm)].map(([, title]) => title);
  assert.deepEqual(heads, [
    ...['did it twice', 'did it twice', 'did something else', 'idempotency.no-blind-post-retry'],
    ...['retry-after.obeyed', 'ban.stops', 'updates.not-lost', 'hung', 'failed (exit status 1)'],
  ]);
  assert.match(text, /^5 more: --verbose$/m);
  assert.match(
    text,
    /^Timeouts .*delay, first use: never gave up; slow, first use: gave up after 5\.0\n? *s$/m,
  );
  assert.match(text, /^Refused .*#3 POST \/v1\/store\/orders: 422 validation_failed$/m);
  assert.match(
    flat(text),
    /Verdict: failed Not survived: 4 of \d+ required faults \(5 runs\)\. Required checks failed: 4\./,
  );
  assert.match(text, /\nRun again: petstore grade --fault lost-answer:operation=createPet,after=0 -- node/);
});

test('the summary has at most 40 lines, whatever the program and the terminal', () => {
  for (const grade of [carelessGrade, hopelessGrade, hostileGrade, brokenGrade, carefulGrade])
    for (const width of [20, 80, 200]) {
      const changed = comparedWith(toData(cardOf(carefulGrade)), cardOf(grade));
      const text = shown(changed, false, width);
      assert.ok(text.split('\n').length <= maxSummaryLines, text);
    }
  const text = textOf(hopelessGrade);
  for (const line of text.split('\n').slice(0, -1)) assert.ok(line.length <= 82, line);
  assert.match(text, /^\d+ more: --verbose$/m);
});

test('a verbose card has every run and every finding, and ends with the summary', () => {
  const text = textOf(carelessGrade, true);
  assert.ok(text.endsWith(textOf(carelessGrade)));
  const [table = '', ...blocks] = text.split('\n\n');
  const names = table.split('\n').flatMap((line) => /^\S {2}([a-z-]+(?:, \w+ use)?)/.exec(line)?.[1] ?? []);
  const { rows } = cardOf(carelessGrade);
  assert.equal(names.join(), rows.map(({ name }) => name).join());
  for (const { name, findings } of rows) {
    const block = blocks.find((one) => one.startsWith(`${name}: `)) ?? '';
    for (const { title, evidence } of findings) {
      assert.ok(block.includes(title), `${name}: ${title}`);
      for (const { id } of evidence) assert.match(block, new RegExp(` #${id} `));
    }
  }
  const { length } = rows.flatMap(({ findings }) => findings);
  assert.ok(length >= 14, String(length));
  assert.match(text, /^without faults\n! {2}if-match\.sent: 1 of 1 changes/m);
  assert.match(
    text,
    / {2}Ended {3}exit status 1 after 0\.7 s\n {2}Output {6}at ask .*\n.*\n {10}Error: 429 rate_limited\n/,
  );
});

test('no row of a card says both that a run survived and that it must be fixed', () => {
  const breaking = gradeOf('conflict', runOf('conflict', { checks: run('conflict').checks }));
  const card = cardOf({ ...breaking, verdict: 'failed' });
  const [row] = card.rows;
  assert.deepEqual([row?.rank, row?.word, card.problems[0]?.rank], ['survived', 'survived', 'must-fix']);
  for (const text of [shown(card, true), shown(cardOf(carelessGrade), true)])
    assert.doesNotMatch(text, /^[✗!].* survived/m);
  assert.doesNotMatch(toPage(card), /class="chip (?:must|should)-fix">survived/);
});

test('a finding names the faulted use by its own requests', () => {
  const namesOf = (fault: string, given: Parameters<typeof runOf>[1]) =>
    rowOf(fault, { ...given, verdict: 'did-it-twice' }).findings.map(({ where }) => where);
  const twice = (...requests: string[]) => ({ kind: 'twice' as const, what: 'two', requests });
  const post = { atMs: 1, method: 'POST', target: '/v1/pets', operation: 'createPet' };
  const sent = requests(
    { atMs: 0, target: '/v1/pets', operation: 'listPets', fault: 'reset' },
    { ...post, fault: 'near-limit reset' },
  );
  const strikes = [
    { operation: 'listPets', after: 0 },
    { operation: 'createPet', after: 3 },
  ];
  const middle = { place: 'middle' as const, strikes, requests: sent };
  assert.deepEqual(namesOf('reset', { ...middle, deviations: [twice('2')] }), ['reset at the 4th createPet']);
  assert.deepEqual(namesOf('reset', { ...middle, deviations: [twice('1', '2')] }), ['reset, middle use']);
  assert.deepEqual(namesOf('reset', { ...middle, deviations: [twice()] }), ['reset, middle use']);
  assert.deepEqual(namesOf('banned', { strikes: [{ after: 7 }], deviations: [twice()] }), [
    'banned at the 8th request',
  ]);
  assert.deepEqual(namesOf('small-pages', { deviations: [twice('1')] }), ['small-pages']);
  assert.equal([1, 2, 3, 4, 11, 12, 21, 113].map(nth).join(), '1st,2nd,3rd,4th,11th,12th,21st,113th');
});

test('the command of a row repeats the run with every parameter of its fault', () => {
  const again = (fault: string, given: Parameters<typeof runOf>[1]) =>
    rowOf(fault, given).again.replace(/^petstore grade --fault | --.*/g, '');
  const odd = { shape: 'zero', times: 3 };
  assert.equal(
    again('retry-after-odd', { strikes: [{ operation: 'createPet', after: 3, ...odd }] }),
    'retry-after-odd:shape=zero,times=3,operation=createPet,after=3',
  );
  const strikes = ['createPet', 'listPets'].map((operation) => ({ operation, after: 0, ...odd }));
  assert.equal(again('retry-after-odd', { strikes }), 'retry-after-odd:shape=zero,times=3');
  assert.equal(again('near-limit', { strikes: [{ remaining: 7 }] }), 'near-limit:remaining=7');
  assert.equal(again('delay', { strikes: [{ after: 2, delayMs: 900 }] }), 'delay:delayMs=900,after=2');
});

test('the advice for a failed or hung program comes from a required check, or fits the fault', () => {
  const changeOf = (fault: string, verdict: 'failed' | 'hung', ...failing: string[]) => {
    const checks = runOf(fault).checks.map((check) =>
      failing.includes(check.name) ? { ...check, result: 'failed' as const } : check,
    );
    const graded = gradeOf(fault, runOf(fault, { verdict, exitStatus: 1, checks }));
    const card = cardOf({ ...graded, baseline: { ...graded.baseline, checks: [] } });
    return card.rows[0]?.findings[0]?.change ?? '';
  };
  const { advice = '' } = runOf('reset').checks.find(({ name }) => name === 'retry.same-body') ?? {};
  assert.equal(changeOf('lost-answer', 'failed', 'failures.retried', 'retry.same-body'), advice);
  assert.match(changeOf('same-page', 'hung', 'connections.reused'), /^Make sure that the program ends: /);
  assert.match(changeOf('no-answer', 'hung'), /^Set a timeout for each request /);
  assert.match(changeOf('stream-cut', 'hung'), /^Save the `id` of an event only /);
});

test('a repeated DELETE that got 404 is the evidence of the failure, with the attempt before it', () => {
  const removal = { method: 'DELETE', target: '/v1/pets/1', operation: 'deletePet' };
  const sent = requests(
    { atMs: 0, ...removal, isCut: true, fault: 'lost-answer' },
    { atMs: 90, ...removal, status: 404, retryOf: '1' },
  );
  const given = { verdict: 'failed' as const, exitStatus: 1, requests: sent, checks: [] };
  const [finding] = rowOf('lost-answer', given).findings;
  assert.equal(finding?.evidence.map(({ id }) => id).join(), '1,2');
  assert.match(finding?.change ?? '', /^Treat 404 after a repeated DELETE as success/);
  assert.doesNotMatch(finding?.service ?? '', /proxies are configured/);
});

test('a program that hung although the service responded fails, and the card says what it left undone', () => {
  const undone = { kind: 'undone' as const, what: 'no pet Siskin', requests: [], isWarning: true as const };
  const hung = { verdict: 'hung' as const, exitStatus: undefined, tookMs: 62_000, deviations: [undone] };
  const { required, rank, happened, findings } = rowOf('stream-cut', { ...hung, mayWaitLong: false });
  assert.deepEqual([required, rank], [false, 'must-fix']);
  assert.equal(happened, 'did not end within 62 s, with work not done: no pet Siskin');
  assert.equal(findings.map(({ kind }) => kind).join(), 'hung');
  assert.equal(rowOf('no-answer', { ...hung, mayWaitLong: true }).rank, 'should-fix');
});

test('the card says after how many failures a program gave up as it may, and what it printed last', () => {
  const gaveUp = rowOf('internal-error', { exitStatus: 1, performed: 6, lastLines: ['Error: 500'] });
  assert.deepEqual([gaveUp.word, gaveUp.happened], ['survived', 'gave up after 6 failures']);
  const silent = rowOf('reset', { verdict: 'failed', exitStatus: 1, lastLines: [], checks: [] });
  assert.deepEqual([silent.word, silent.happened], ['failed (exit status 1)', 'it printed nothing']);
});

test('equal findings of several faults are one problem', () => {
  const lost = run('lost-answer');
  const grade = gradeOf('reset', { ...lost, place: 'first' }, { ...lost, place: 'last' });
  const { problems } = cardOf(grade);
  const counted = problems.map(({ title, alsoAt }) => `${title} ${alsoAt.length}`);
  const [twice, check] = ['did it twice 1', 'idempotency.no-blind-post-retry 1'];
  assert.deepEqual(counted, [twice, twice, check, 'if-match.sent 0']);
});

test('a check that fails without faults is counted once', () => {
  const failing = run('lost-answer').checks.filter(({ name }) => name === 'idempotency.no-blind-post-retry');
  const grade = gradeOf('reset', runOf('reset', { checks: failing }));
  const card = cardOf({ ...grade, baseline: { ...grade.baseline, checks: failing } });
  assert.deepEqual([card.rows[0]?.findings, card.problems.length], [[], 1]);
  assert.match(flat(shown(card)), /✗ idempotency\.no-blind-post-retry: .* \(without faults\)/);
});

test('the card of a program that survives everything says so', () => {
  const text = textOf(carefulGrade);
  assert.match(
    flat(text),
    /Verdict: passed It survived every required fault that it reached, made no other changes/,
  );
  assert.match(text, /^Not reached {2}1 fault: sunset$/m);
  assert.doesNotMatch(text, /Fix|Run again|✗|!/);
});

test('a program without anything to compare is reported in all forms', () => {
  const grade = { ...carefulGrade, baseline: { ...carefulGrade.baseline, nothingToCompare: true } };
  const sentence = 'Nothing to compare, so a survived run only means exit status 0.';
  const card = cardOf(grade);
  for (const text of [flat(shown(card)), toJunit(card), toPage(card)]) assert.ok(text.includes(sentence));
  assert.equal(toData(card).baseline.nothingToCompare, true);
  assert.ok(!textOf(carefulGrade).includes('Nothing'));
});

test('the card of a program that fails without faults shows only that', () => {
  assert.equal(
    textOf(brokenGrade),
    [
      'Report card of node examples/careless.mjs\n1 run without faults.',
      'Ended   exit status 1 after 61 ms\nOutput  TypeError: url is undefined',
      'Verdict: failed  Without faults the program exits with 1, not with 0.',
    ].join('\n\n'),
  );
});

test('each report format names the cause of a deviation', () => {
  const card = cardOf(carelessGrade);
  const forms = [flat(shown(card)), toJunit(card), toPage(card), JSON.stringify(toData(card))];
  const parts = [
    '9f8b7c6d…',
    '1a2b3c4d…',
    'Committed request #2',
    'Make the key once',
    'at the 1st createPet',
  ];
  for (const form of forms) for (const part of parts) assert.ok(form.includes(part), part);
  for (const form of forms) assert.ok(!form.includes('9f8b7c6d-'));
});

test('program output is shown without control characters and secrets', () => {
  const forms = {
    text: textOf(hostileGrade, true),
    json: JSON.stringify(toData(cardOf(hostileGrade))),
    junit: toJunit(cardOf(hostileGrade)),
    page: toPage(cardOf(hostileGrade)),
  };
  for (const [form, text] of Object.entries(forms)) {
    assert.ok(!text.includes('pet_aaa'), form);
    if (form !== 'json') assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\u202e]/u, form);
  }
  assert.ok(forms.text.includes('\\u001b[31m\\u202e'));
  const data = readCard(forms.json);
  const lost = data.faults.find(({ fault }) => fault === 'lost-answer');
  assert.equal(lost?.runs[0]?.findings[0]?.what, hostile);
});

test('a page runs no script, loads nothing, and shows the output of a program as text', () => {
  const page = toPage(cardOf(hostileGrade));
  assert.doesNotMatch(page, /<(?:script|img|link|iframe|object|base|form)\b/i);
  assert.doesNotMatch(page, /\b(?:src|style|on\w+)=(?!x onerror|alert)["']/i);
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
  const hash = createHash('sha256').update(style).digest('base64');
  assert.match(page, /<meta http-equiv="Content-Security-Policy" content="default-src &apos;none&apos;; /);
  assert.ok(page.includes(`style-src &apos;sha256-${hash}&apos;`));
  assert.doesNotMatch(style, /url\(|@import/);
});

test('the page of a program with many requests stays small, and shows the requests of its mistakes', () => {
  const post = { method: 'POST', target: '/v1/pets', operation: 'createPet', status: 201 };
  const many = requests(...Array.from({ length: 1_000 }, (_, i) => ({ atMs: 5 * i, ...post })));
  const twice = { kind: 'twice' as const, what: 'two pets', requests: ['998', '999'] };
  const wrong = { verdict: 'did-it-twice' as const, deviations: [twice] };
  const runs = Array.from({ length: 60 }, (_, i) =>
    runOf('reset', { place: i + 1, requests: many, ...(i === 0 && wrong) }),
  );
  const page = toPage(cardOf(gradeOf('reset', ...runs)));
  assert.ok(page.length < 3_000_000, String(page.length));
  assert.equal(page.match(/class="mark fine guilty"/g)?.length, 2);
  assert.match(page, /<title>#999 at 4\.99 s: POST /);
});

test('the JSON has every run, in the order of the catalogue, and matches its schema', () => {
  const data = toData(cardOf(carelessGrade));
  assert.deepEqual(readCard(JSON.stringify(data)), JSON.parse(JSON.stringify(data)));
  const { command, verdict, runCount, faults, baseline } = data;
  assert.deepEqual([command, verdict, runCount], [carelessGrade.command, 'failed', carelessGrade.runCount]);
  assert.deepEqual(
    faults.map(({ fault, verdict, runs }) => [fault, verdict, runs.length]),
    carelessGrade.faults.map(({ fault, verdict, runs }) => [fault, verdict, runs.length]),
  );
  assert.deepEqual(baseline.refused, carelessGrade.baseline.refused);
  const [lost, middle] = faults.find(({ fault }) => fault === 'lost-answer')?.runs ?? [];
  const { name, place, rank, verdict: twice } = lost ?? {};
  assert.equal([name, place, rank, twice].join(), 'lost-answer, first use,first,must-fix,did-it-twice');
  assert.equal(middle?.again, lines.again('lost-answer:operation=createPet,after=3'));
  assert.deepEqual(middle?.strikes, [{ operation: 'createPet', after: 3, parameters: {} }]);
  const { kind, where, requests: ids } = lost?.findings[0] ?? {};
  assert.deepEqual([kind, where, ids], ['did-it-twice', 'lost-answer at the 1st createPet', ['2', '3']]);
  const { idempotencyKey, method, status, ...more } = lost?.requests[2] ?? {};
  assert.deepEqual([idempotencyKey, method, status], ['1a2b3c4d…', 'POST', 201]);
  assert.ok(!('headers' in more) && !('body' in more));
  const refused = faults.find(({ fault }) => fault === 'rate-limited')?.runs[0]?.requests[0];
  assert.deepEqual([refused?.status, refused?.retryAfter], [429, '2']);
  const gaveUp = faults.flatMap(({ runs }) => runs).map(({ gaveUpAfterMs }) => gaveUpAfterMs);
  assert.deepEqual(
    gaveUp.filter((ms) => ms !== undefined),
    [5_012, null],
  );
});

test('the page about the JSON is generated from its schema', () => {
  const page = readFileSync(new URL('../../docs/grade-card.md', import.meta.url), 'utf8');
  assert.equal(page, cardPage(), 'Run "npm run generate".');
});

/** The card of runs under lost-answer and reset, with a check. */
const cardWith = (
  lost: Parameters<typeof runOf>[1],
  resets: Parameters<typeof runOf>[1][],
  result: 'passed' | 'failed' | 'not_observed',
) => {
  const graded = gradeOf('lost-answer', runOf('lost-answer', lost));
  const reset = gradeOf('reset', ...resets.map((given) => runOf('reset', given)));
  const [check] = graded.baseline.checks;
  const checks = [{ ...(check as NonNullable<typeof check>), result }];
  const faults = [...graded.faults, ...reset.faults].map((fault) => ({
    ...fault,
    runs: fault.runs.map((run) => ({ ...run, checks })),
  }));
  return cardOf({ ...graded, faults, baseline: { ...graded.baseline, checks: [] } });
};

test('a comparison says what became better, worse, new and gone', () => {
  const last = { place: 'last' as const };
  const before = cardWith({ verdict: 'did-it-twice' }, [{}, last], 'failed');
  const after = cardWith(
    { verdict: 'survived' },
    [{ verdict: 'failed', exitStatus: 2 }, { place: 'middle' }],
    'passed',
  );
  const earlier = readCard(JSON.stringify(toData(before)));
  const card = comparedWith(earlier, after);
  const { since, before: verdict, ...changes } = card.changes ?? {};
  assert.deepEqual([since, verdict], [earlier.at, earlier.verdict]);
  const check = after.grade.faults[0]?.runs[0]?.checks[0]?.name;
  assert.deepEqual(changes, {
    better: [
      { name: 'lost-answer, first use', before: 'did it twice', now: 'survived' },
      { name: check, before: 'failed', now: 'passed' },
    ],
    worse: [{ name: 'reset, first use', before: 'survived', now: 'failed (exit status 2)' }],
    new: [{ name: 'reset, middle use', now: 'survived' }],
    gone: [{ name: 'reset, last use', before: 'survived' }],
  });
  assert.match(
    flat(shown(card)),
    /Since 2026-06-01 12:00 UTC: passed → passed\. worse 1: reset, first use: survived → failed \(exit status 2\) better 2: lost-answer, first use: did it twice → survived; .* new 1: reset, middle use: survived gone 1: reset, last use: survived/,
  );
  assert.match(toPage(card), /<h3>Worse .*<b>reset, first use<\/b>: survived → failed \(exit status 2\)/s);
  assert.deepEqual(toData(card).changes, card.changes);
  assert.deepEqual(readCard(JSON.stringify(toData(card))).changes, card.changes);
  const same = comparedWith(earlier, before);
  assert.match(flat(shown(same)), /Since .* UTC: passed → passed\. No run and no check changed\./);
});

test('a result that is missing in one card counts as new or gone, not as better or worse', () => {
  const seen = cardWith({ verdict: 'did-it-twice' }, [{}], 'failed');
  const unseen = cardWith({ verdict: 'not-reached' }, [{}], 'not_observed');
  const lose = comparedWith(toData(seen), unseen).changes;
  assert.deepEqual([lose?.better, lose?.worse, lose?.new, lose?.gone.length], [[], [], [], 2]);
  const find = comparedWith(toData(unseen), seen).changes;
  assert.deepEqual([find?.better, find?.worse, find?.new.length, find?.gone], [[], [], 2, []]);
});

/** The card of an agent whose trials under reset had these verdicts. */
function cardOfTrials(...verdicts: Verdict[]) {
  const isOne = verdicts.length === 1;
  const numbered = (name: string, i: number) => ({
    name: isOne ? name : `${name}, trial ${i + 1}`,
    ...(!isOne && { trial: i + 1 }),
  });
  const calm = verdicts.map((_, i) =>
    runOf(withoutFaults, { place: 'whole', strikes: [], ...numbered(withoutFaults, i) }),
  );
  const resets = verdicts.map((verdict, i) =>
    runOf('reset', { verdict, ...numbered('reset, first use', i) }),
  );
  const graded = gradeOf('reset', ...resets);
  const goal = { text: 'Order 2 of Nemo.', trials: verdicts.length };
  return cardOf({ ...graded, goal, baseline: { ...graded.baseline, trials: calm } });
}

test('trials are compared by their pass rates, also with a single run', () => {
  const one = toData(cardOfTrials('survived'));
  const alike = comparedWith(one, cardOfTrials('survived', 'survived')).changes;
  assert.deepEqual([alike?.better, alike?.worse], [[], []]);
  const less = comparedWith(one, cardOfTrials('survived', 'did-it-twice')).changes;
  assert.deepEqual(
    [less?.better, less?.worse],
    [[], [{ name: 'reset, first use', before: '1 of 1', now: '1 of 2' }]],
  );
});

test('a comparison omits faults that only one card has, and says so', () => {
  const one = cardOf(gradeOf('reset', runOf('reset', { verdict: 'failed', exitStatus: 1 })));
  const card = comparedWith(toData(cardOf(carefulGrade)), one);
  const { note, worse, gone, new: added } = card.changes ?? {};
  assert.equal(note, `Left out: ${carefulGrade.faults.length - 1} faults that only one of the cards has.`);
  assert.deepEqual(worse, [{ name: 'reset, first use', before: 'survived', now: 'failed (exit status 1)' }]);
  assert.deepEqual(
    [gone, added].map((some) => some?.map(({ name }) => name).join()),
    ['ids.exact', 'if-match.sent'],
  );
  assert.match(flat(shown(card)), /UTC: passed → passed\. Left out: \d+ faults/);
  const newer = { ...toData(one), checksVersion: 99 };
  assert.match(
    comparedWith(newer, one).changes?.note ?? '',
    /^The earlier card has version 99 of the checks, this one/,
  );
});

test('a file that is not a card is refused with a sentence', () => {
  const data = toData(cardOf(carefulGrade));
  const { faults: _, ...partial } = data;
  for (const [text, message] of [
    ['', /^is not JSON: pass a card/],
    ['<xml/>', /^is not JSON/],
    ['null', /^is not a card from "petstore grade --json"$/],
    ['{"faults": []}', /^is not a card/],
    [JSON.stringify(partial), /^is not a card/],
    [
      JSON.stringify({ ...data, cardVersion: 7 }),
      /^is a card of version 7, but this program reads version 1$/,
    ],
  ] as const)
    assert.throws(() => readCard(text), { message });
});

test('JUnit has a case for each run and check, and failures only for what must be fixed', {
  skip: whyNo('python3'),
}, () => {
  const [careless, careful, broken, odd] = readJunit(
    ...[carelessGrade, carefulGrade, brokenGrade, hostileGrade].map((grade) => toJunit(cardOf(grade))),
  );
  const { tests, failures, errors } = careless?.counts ?? {};
  const { rows, problems } = cardOf(carelessGrade);
  const must = [
    ...rows.filter(({ rank }) => rank === 'must-fix'),
    ...problems.filter(({ kind, rank }) => kind === 'check' && rank === 'must-fix'),
  ];
  const checkCount = run('reset').checks.length;
  assert.deepEqual([tests, failures, errors], [1 + rows.length + checkCount, must.length, 0].map(String));
  const names = careless?.cases.map(({ level, name }) => `${level} ${name}`) ?? [];
  assert.equal(new Set(names).size, names.length);
  const find = (name: string) => careless?.cases.find((one) => one.name === name) as ReadCase;
  const { level, content } = find('lost-answer, first use');
  const [tag, type, message, details] = content[0] ?? [];
  assert.deepEqual([level, tag, type], ['petstore.required', 'failure', 'did-it-twice']);
  assert.match(message as string, /^did it twice: two pets Smaug instead of one \(\+1\)$/);
  assert.match(
    details as string,
    /^lost-answer at the 1st createPet: did it twice: two pets .*\n#2 \+0\.01 s POST \/v1\/pets, key 9f8b7c6d…: cut off \(fault\)\n#3 .*\nThe service: .*\nA good client: .*\nFix: .*\n(?:.*\n)+Run again: petstore/,
  );
  // A run that survived has passed, whatever its checks found. Checks have their own cases.
  assert.equal(
    find('conflict, first use')
      .content.map(([tag]) => tag)
      .join(),
    'system-out',
  );
  assert.deepEqual(find('updates.not-lost').content[0]?.slice(0, 2), ['failure', 'check']);
  assert.match(find('updates.not-lost').content[0]?.[3] as string, /\nIn: conflict, first use$/);
  assert.match(find('pages.to-the-end').content[0]?.[2] as string, /^Recommended only: 1 list was not read/);
  assert.match(
    find('slow, first use').content[0]?.[3] as string,
    /^survived: gave up after 5\.0 s\n.*printed something else/,
  );
  const unreached = ['skipped', null, 'not reached: the fault was never performed'];
  assert.deepEqual(find('sunset').content[0]?.slice(0, 3), unreached);
  // It silently left other data in the store, which no level excuses.
  assert.deepEqual(find('small-pages').content[0]?.slice(0, 2), ['failure', 'did-something-else']);
  assert.match(find('stale-connection, first use').content[0]?.[2] as string, /^Recommended only: failed/);
  assert.equal(careful?.counts.failures, '0');
  const [only, ...others] = broken?.cases ?? [];
  assert.deepEqual([only?.name, only?.content[0]?.[0], others], ['without faults', 'failure', []]);
  assert.equal(odd?.counts.tests, tests);
});

const steps: Progress[] = [
  { stage: 'baseline' },
  { stage: 'faults', runs: ['reset, middle use', 'delay, first use'], baseline: carelessGrade.baseline },
  { stage: 'begun', run: 'reset, middle use' },
  { stage: 'begun', run: 'delay, first use' },
  { stage: 'ended', fault: 'delay', required: true, run: run('delay') },
];

/** The text that a screen gets. */
function shownOn(screen: Pick<Screen, 'isTTY' | 'columns'>, { isVerbose = false } = {}): string {
  let shown = '';
  const reporter = progressOn({ ...screen, write: (text) => (shown += text) }, { isVerbose });
  for (const step of steps) reporter.report(step);
  reporter.showOutput('one\r\ntw', 'reset, middle use');
  reporter.showOutput('o \u001b[2J', 'reset, middle use');
  reporter.end();
  return shown;
}

test('progress is one changing line on a terminal, and a line for each run elsewhere', () => {
  const plain = shownOn({});
  assert.match(
    plain,
    /^Without faults …\n\[1\/2\] ✗ {2}delay, first use +hung +did not end within 10 s; never gave up\n$/,
  );
  const printed = 'reset, middle use: one\nreset, middle use: two \\u001b[2J\n';
  assert.equal(shownOn({ isTTY: true }, { isVerbose: true }), plain + printed);
  const states = shownOn({ isTTY: true, columns: 57 }).split('\r\u001b[2K');
  assert.deepEqual([states.length, states.at(-1)], [7, '']);
  assert.match(states[4] as string, / 0 of 2 {2}reset, middle use · de$/);
  assert.match(states[5] as string, / 1 of 2 {2}reset, middle use$/);
  for (const state of states) assert.ok(!state.includes('\n'));
});

test('an endless line is truncated', () => {
  let shown = '';
  const reporter = progressOn({ write: (text) => (shown += text) }, { isVerbose: true });
  const key = `pet_${'Ab3'.repeat(12)}`;
  reporter.showOutput(`${'x'.repeat(65_520)} ${key}`, 'reset');
  for (let left = 1_000; left > 0; left--) reporter.showOutput('y'.repeat(65_536), 'reset');
  reporter.showOutput('\nnext\nlast', 'reset');
  reporter.end();
  assert.match(shown, /^reset: x{65520} …\nreset: next\nreset: last\n$/);
});

test('attempts at the same request share a lane, with their outcomes and waits', () => {
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
      // Another pet, which is created at the same time.
      { atMs: 34, ...post, status: 503 },
      { atMs: 2_040, ...post, gapMs: 2_007, retryOf: '4' },
      { atMs: 2_050, ...get, gapMs: 2_047 },
      { atMs: 3_000, ...get, target: '/v1/pets?limit=1', fault: 'truncated' },
      { atMs: 3_997, ...get, target: '/v1/pets?limit=2', status: 429, answerHeaders: date },
      { atMs: 4_000, ...get, target: '/v1/pets?limit=3', left: true },
    ),
    12,
  );
  const words = (some: typeof lanes) =>
    some.map(({ label, attempts }) => `${label}: ${attempts.map(({ word }) => word).join(' ')}`);
  assert.deepEqual(words(lanes), [
    ...['GET /v1/pets: 200 200', 'POST /v1/pets: cut off', 'POST /v1/pets: 201', 'POST /v1/pets: 503 201'],
    ...['POST /v1/pets: 503', 'GET /v1/pets?limit=1: cut off', 'GET /v1/pets?limit=2: 429'],
    'GET /v1/pets?limit=3: aborted',
  ]);
  const [refused, retried] = lanes[3]?.attempts ?? [];
  assert.deepEqual([refused?.waitUntilMs, refused?.before], [2_033, undefined]);
  assert.deepEqual([retried?.waitUntilMs, retried?.before?.word], [undefined, '503']);
  assert.equal(lanes[6]?.attempts[0]?.waitUntilMs, 5_000);
  const five = Array.from({ length: 5 }, (_, i) => ({ atMs: i, ...get, operation: `o${i}` }));
  assert.deepEqual(words(lanesOf(sent(...five), 3)), [
    ...['GET /v1/pets: 200', 'GET /v1/pets: 200', '3 other requests: 200 200 200'],
  ]);
});
