import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { nth } from '../../src/foundation/words.ts';
import { comparedWith, readCard, toData } from '../../src/grade/card/data.ts';
import { toJunit } from '../../src/grade/card/junit.ts';
import { toHtml } from '../../src/grade/card/page.ts';
import { maxSummaryLines } from '../../src/grade/card/text.ts';
import { cutNote } from '../../src/grade/compare/printed-lines.ts';
import type { Grade } from '../../src/grade/grade.ts';
import { type ReadCase, readJunit } from '../support/junit.ts';
import { whyNo } from '../support/programs.ts';
import {
  brokenGrade,
  cardOf,
  carefulGrade,
  carelessGrade,
  carelessRun,
  flat,
  gradeOf,
  hopelessGrade,
  hostile,
  hostileGrade,
  requests,
  runOf,
  shown,
} from './grades.ts';

/** The row of a run under a fault that differs from one that survives. */
const rowOf = (fault: string, given: Parameters<typeof runOf>[1]) => {
  const [row] = cardOf(gradeOf(fault, runOf(fault, given))).rows;
  return row as NonNullable<typeof row>;
};

const textOf = (grade: Grade, isVerbose = false) => shown(cardOf(grade), isVerbose);

test('a card says that the output was the same only if all of it was compared', () => {
  const sentenceOf = (notCompared: string[]) => cardOf({ ...carefulGrade, notCompared }).sentence;
  assert.match(sentenceOf(['name of pet Smaug']), /made the same changes and standard output, and/);
  assert.match(sentenceOf([cutNote]), /made the same changes, and/);
});

test('the summary starts with the worst problem, and shows its use, its requests and what to change', () => {
  const text = textOf(carelessGrade);
  const [title, counts] = text.split('\n');
  const { length } = carelessGrade.faults;
  assert.equal(title, 'Report card of node examples/careless.mjs');
  assert.equal(counts, `${length + 4} runs: 2 without faults, ${length + 2} under ${length} faults.`);
  assert.match(
    flat(cardOf(carelessGrade)),
    /✗ did it twice: two pets Smaug instead of one \(lost-answer at the 1st createPet and in 1 more run\) #2 \+0\.01 s cut off fault 9f8b7c6d… POST \/v1\/pets #3 \+0\.12 s 201 1a2b3c4d… POST \/v1\/pets The service Committed request #2, .* A good client .* Fix Make the key once/,
  );
  const heads = [...text.matchAll(/^[✗!] {2}([^:]+):/gm)].map(([, title]) => title);
  assert.deepEqual(heads, [
    ...['did it twice', 'did it twice', 'did something else', 'idempotency.no-blind-post-retry'],
    ...['retry-after.obeyed', 'ban.stops', 'updates.not-lost', 'hung'],
  ]);
  assert.match(text, /^6 more: --verbose$/m);
  assert.match(
    text,
    /^Timeouts .*delay, first use: did not give up; slow, first use: gave up after 5\.0\n? *s$/m,
  );
  assert.match(text, /^Refused .*#3 POST \/v1\/store\/orders: 422 validation_failed$/m);
  assert.match(
    flat(cardOf(carelessGrade)),
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
  const breaking = gradeOf('conflict', runOf('conflict', { checks: carelessRun('conflict').checks }));
  const card = cardOf({ ...breaking, verdict: 'failed' });
  const [row] = card.rows;
  assert.deepEqual([row?.rank, row?.word, card.problems[0]?.rank], ['survived', 'survived', 'must-fix']);
  for (const text of [shown(card, true), shown(cardOf(carelessGrade), true)])
    assert.doesNotMatch(text, /^[✗!].* survived/m);
  assert.doesNotMatch(toHtml(card), /class="chip (?:must|should)-fix">survived/);
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
  assert.match(changeOf('stream-pieces', 'hung'), /^Read the stream with a parser for Server-Sent Events\./);
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
  const lost = carelessRun('lost-answer');
  const grade = gradeOf('reset', { ...lost, place: 'first' }, { ...lost, place: 'last' });
  const { problems } = cardOf(grade);
  const counted = problems.map(({ title, alsoAt }) => `${title} ${alsoAt.length}`);
  const [twice, check] = ['did it twice 1', 'idempotency.no-blind-post-retry 1'];
  assert.deepEqual(counted, [twice, twice, check, 'if-match.sent 0']);
});

test('a check that fails without faults is counted once', () => {
  const failing = carelessRun('lost-answer').checks.filter(
    ({ name }) => name === 'idempotency.no-blind-post-retry',
  );
  const grade = gradeOf('reset', runOf('reset', { checks: failing }));
  const card = cardOf({ ...grade, baseline: { ...grade.baseline, checks: failing } });
  assert.deepEqual([card.rows[0]?.findings, card.problems.length], [[], 1]);
  assert.match(flat(card), /✗ idempotency\.no-blind-post-retry: .* \(without faults\)/);
});

test('a fault is not listed as survived while one of its runs broke a required rule', () => {
  const { checks } = carelessRun('lost-answer');
  const card = cardOf(gradeOf('reset', runOf('reset', { checks })));
  assert.equal(card.rows[0]?.verdict, 'survived');
  assert.doesNotMatch(flat(card), /Survived /);
  assert.match(toHtml(card), /class="must-fix" href="#reset" title="reset: broke a rule"/);
});

test('advice is one line, and no finding', () => {
  const checks = runOf('reset').checks.map((check) => ({
    ...check,
    result: check.name === 'limits.foreseen' ? ('failed' as const) : ('passed' as const),
  }));
  const graded = gradeOf('reset', runOf('reset', { checks }));
  const card = cardOf({ ...graded, baseline: { ...graded.baseline, checks: [] } });
  assert.deepEqual([card.problems, card.rows[0]?.findings], [[], []]);
  assert.match(
    flat(card),
    /Survived 1 fault: reset Advice limits\.foreseen: Read .* See the guide “Rate limits”\./,
  );
});

test('page and JSON list all printed lines that were excused, and why, and the text the first three', () => {
  const excused = [1, 2, 3, 4, 5].map((n) => `printed "${n} tries" instead of "0 tries": it counts requests`);
  const card = cardOf(gradeOf('reset', runOf('reset', { excused })));
  assert.match(
    flat(card),
    /Excused reset, first use: printed "1 tries".* "3 tries" .* and 2 more lines: --json/,
  );
  assert.doesNotMatch(flat(card), /"4 tries"/);
  assert.deepEqual(toData(card).faults[0]?.runs[0]?.excused, excused);
  assert.match(toHtml(card), /<li>printed &quot;5 tries&quot; instead of/);
});

test('the card of a program that survives everything says so', () => {
  const text = textOf(carefulGrade);
  assert.match(
    flat(cardOf(carefulGrade)),
    /Verdict: passed It survived every required fault that it reached, made the same changes and standard output/,
  );
  assert.match(text, /^Not tried {2}1 fault: sunset$/m);
  assert.doesNotMatch(text, /Fix|Run again|✗|!/);
});

test('a program without anything to compare is reported in all forms', () => {
  const grade = { ...carefulGrade, baseline: { ...carefulGrade.baseline, nothingToCompare: true } };
  const sentence = 'Nothing to compare, so a survived run only means exit status 0.';
  const card = cardOf(grade);
  for (const text of [flat(card), toJunit(card), toHtml(card)]) assert.ok(text.includes(sentence));
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
  const forms = [flat(card), toJunit(card), toHtml(card), JSON.stringify(toData(card))];
  const keys = ['9f8b7c6d…', '1a2b3c4d…'];
  const parts = [...keys, 'Committed request #2', 'Make the key once', 'at the 1st createPet'];
  for (const form of forms) {
    for (const part of parts) assert.ok(form.includes(part), part);
    assert.ok(!form.includes('9f8b7c6d-'));
  }
});

test('program output is shown without control characters and secrets', () => {
  const forms = {
    text: textOf(hostileGrade, true),
    json: JSON.stringify(toData(cardOf(hostileGrade))),
    junit: toJunit(cardOf(hostileGrade)),
    page: toHtml(cardOf(hostileGrade)),
  };
  for (const [form, text] of Object.entries(forms)) {
    assert.ok(!text.includes('pet_aaa'), form);
    if (form !== 'json') assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\u202e]/u, form);
  }
  assert.ok(forms.text.includes('\\u001b[31m\\u202e'));
  const data = readCard(forms.json);
  const [lost] = data.faults.find(({ fault }) => fault === 'lost-answer')?.runs ?? [];
  assert.equal(lost?.findings[0]?.what, hostile);
});

test('a page runs no script, loads nothing, and shows the output of a program as text', () => {
  const page = toHtml(cardOf(hostileGrade));
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
  const page = toHtml(cardOf(gradeOf('reset', ...runs)));
  assert.ok(page.length < 3_000_000, String(page.length));
  assert.equal(page.match(/class="mark fine guilty"/g)?.length, 2);
  assert.match(page, /<title>#999 at 4\.99 s: POST /);
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
  const checkCount = carelessRun('reset').checks.length;
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
  assert.deepEqual(
    find('conflict, first use').content.map(([tag]) => tag),
    ['system-out'],
  );
  assert.deepEqual(find('updates.not-lost').content[0]?.slice(0, 2), ['failure', 'check']);
  assert.match(find('updates.not-lost').content[0]?.[3] as string, /\nIn: conflict, first use$/);
  assert.match(find('pages.to-the-end').content[0]?.[2] as string, /^Recommended only: 1 list was not read/);
  assert.match(
    find('slow, first use').content[0]?.[2] as string,
    /^Recommended only: reported the failure, but exited with 0: printed "store: down".*; gave up after 5\.0 s/,
  );
  const unreached = ['skipped', null, 'not tried: the fault was never performed'];
  assert.deepEqual(find('sunset').content[0]?.slice(0, 3), unreached);
  // It silently left other data in the store, which no level excuses.
  assert.deepEqual(find('small-pages').content[0]?.slice(0, 2), ['failure', 'did-something-else']);
  assert.match(find('stale-connection, first use').content[0]?.[2] as string, /^Recommended only: failed/);
  assert.equal(careful?.counts.failures, '0');
  const [only, ...others] = broken?.cases ?? [];
  assert.deepEqual([only?.name, only?.content[0]?.[0], others], ['without faults', 'failure', []]);
  assert.equal(odd?.counts.tests, tests);
});
