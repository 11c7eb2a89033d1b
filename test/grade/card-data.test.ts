import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cardPage } from '../../scripts/generate/card.ts';
import { comparedWith, readCard, toData } from '../../src/grade/card/data.ts';
import { toHtml } from '../../src/grade/card/page.ts';
import { type Verdict, withoutFaults } from '../../src/grade/grade.ts';
import { textOf } from '../support/tree.ts';
import { cardOf, carefulGrade, carelessGrade, flat, gradeOf, runOf, suggested } from './grades.ts';

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
  const runsOf = (name: string) => faults.find(({ fault }) => fault === name)?.runs ?? [];
  const [lost, middle] = runsOf('lost-answer');
  const { name, place, rank, verdict: twice } = lost ?? {};
  assert.equal([name, place, rank, twice].join(), 'lost-answer, first use,first,must-fix,did-it-twice');
  assert.equal(middle?.again, suggested.again('lost-answer:operation=createPet,after=3'));
  assert.deepEqual(middle?.strikes, [{ operation: 'createPet', after: 3, parameters: {} }]);
  const { kind, where, requests: ids } = lost?.findings[0] ?? {};
  assert.deepEqual([kind, where, ids], ['did-it-twice', 'lost-answer at the 1st createPet', ['2', '3']]);
  const { idempotencyKey, method, status, ...more } = lost?.requests[2] ?? {};
  assert.deepEqual([idempotencyKey, method, status], ['1a2b3c4d…', 'POST', 201]);
  assert.ok(!('headers' in more) && !('body' in more));
  const refused = runsOf('rate-limited')[0]?.requests[0];
  assert.deepEqual([refused?.status, refused?.retryAfter], [429, '2']);
  const gaveUp = faults.flatMap(({ runs }) =>
    runs.flatMap(({ gaveUpAfterMs: ms }) => (ms === undefined ? [] : [ms])),
  );
  assert.deepEqual(gaveUp, [5_012, null]);
});

test('the page about the JSON is generated from its schema', () => {
  assert.equal(textOf('docs/grade-card.md'), cardPage(), 'Run "npm run generate".');
});

/** The card of runs under lost-answer and reset, with a check. */
const cardWith = (
  lost: Parameters<typeof runOf>[1],
  resets: readonly Parameters<typeof runOf>[1][],
  result: 'passed' | 'failed' | 'not_observed',
) => {
  const graded = gradeOf('lost-answer', runOf('lost-answer', lost));
  const checks = graded.baseline.checks.slice(0, 1).map((check) => ({ ...check, result }));
  const runs = [lost, ...resets].map((given, i) => runOf(i ? 'reset' : 'lost-answer', { ...given, checks }));
  const faults = ['lost-answer', 'reset'].flatMap(
    (fault) => gradeOf(fault, ...runs.filter(({ label }) => label === fault)).faults,
  );
  return cardOf({ ...graded, faults, baseline: { ...graded.baseline, checks: [] } });
};

test('a comparison says what became better, worse, new and gone', () => {
  const last = { place: 'last' as const };
  const before = cardWith({ verdict: 'did-it-twice' }, [{}, last], 'failed');
  const resets = [{ verdict: 'failed', exitStatus: 2 }, { place: 'middle' }] as const;
  const after = cardWith({ verdict: 'survived' }, resets, 'passed');
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
    flat(card),
    /Since 2026-06-01 12:00 UTC: passed → passed\. worse 1: reset, first use: survived → failed \(exit status 2\) better 2: lost-answer, first use: did it twice → survived; .* new 1: reset, middle use: survived gone 1: reset, last use: survived/,
  );
  assert.match(toHtml(card), /<h3>Worse .*<b>reset, first use<\/b>: survived → failed \(exit status 2\)/s);
  assert.deepEqual(toData(card).changes, card.changes);
  assert.deepEqual(readCard(JSON.stringify(toData(card))).changes, card.changes);
  const same = comparedWith(earlier, before);
  assert.match(flat(same), /Since .* UTC: passed → passed\. No run and no check changed\./);
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
  assert.match(flat(card), /UTC: passed → passed\. Left out: \d+ faults/);
  const newer = { ...toData(one), checksVersion: 99 };
  const { note: ofVersions = '' } = comparedWith(newer, one).changes ?? {};
  assert.match(ofVersions, /^The earlier card has version 99 of the checks, this one/);
});

test('a quick card is compared in what both cards ran, so nothing seems better because it was not run', () => {
  const failing = runOf('reset').checks.map((check) =>
    check.name === 'retry.same-body' ? { ...check, result: 'failed' as const } : check,
  );
  const last = { name: 'reset, last use', place: 'last' as const };
  const whole = gradeOf(
    'reset',
    runOf('reset'),
    runOf('reset', { ...last, verdict: 'failed', checks: failing }),
  );
  const quick = { ...gradeOf('reset', runOf('reset')), isQuick: true as const };
  const { changes } = comparedWith(toData(cardOf(whole)), cardOf(quick));
  assert.deepEqual([changes?.better, changes?.worse, changes?.gone], [[], [], []]);
  assert.match(changes?.note ?? '', /The others were not run\./);
  assert.match(
    flat(cardOf(quick)),
    /Note Quick: \d+ faults, and later uses of each operation, were not run\./,
  );
});

test('a file that is not a card is refused with a sentence', () => {
  const data = toData(cardOf(carefulGrade));
  const { faults: _, ...partial } = data;
  const other = { ...data, cardVersion: 7 };
  for (const [text, message] of [
    ['', /^is not JSON: pass a card/],
    ['<xml/>', /^is not JSON/],
    ['null', /^is not a card from "petstore grade --json"$/],
    ['{"faults": []}', /^is not a card/],
    [JSON.stringify(partial), /^is not a card/],
    [JSON.stringify(other), /^is a card of version 7, but this program reads version 1$/],
  ] as const)
    assert.throws(() => readCard(text), { message });
});
