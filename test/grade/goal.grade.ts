import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { comparedWith, readCard, toData } from '../../src/grade/card/data.ts';
import { toJunit } from '../../src/grade/card/junit.ts';
import { toHtml } from '../../src/grade/card/page.ts';
import { toText } from '../../src/grade/card/text.ts';
import { readGoal } from '../../src/grade/goal/goal-file.ts';
import type { FaultRun, Grade } from '../../src/grade/grade.ts';
import type { GradeOptions } from '../../src/grade/grade-program.ts';
import { temporaryFolder } from '../support/folder.ts';
import { grade } from '../support/grading.ts';
import { fileAt, textOf } from '../support/tree.ts';
import { cardOf, flat } from './grades.ts';

const agent = (name: string) => [process.execPath, fileAt(`examples/agents/${name}.mjs`)];
const goal = readGoal(textOf('examples/agents/goal.json'));

const judged = (command: string[], options: Partial<GradeOptions>) => grade(command, { goal, ...options });

const runsUnder = ({ faults }: Grade, name: string) => faults.find(({ fault }) => fault === name)?.runs ?? [];
const whatIn = ({ deviations }: FaultRun) => deviations.map(({ what }) => what);

test('an agent that repeats calls by their key and checks before it reports reaches its goal under every fault', async () => {
  const names = ['lost-answer', 'gateway-timeout', 'reset', 'small-pages', 'conflict', 'large-ids'];
  const graded = await judged(agent('careful'), { faults: names, trials: 2 });
  const { verdict, baseline, faults, runCount, goal } = graded;
  for (const { fault, runs } of faults)
    assert.deepEqual(
      runs.map(({ verdict, trial }) => [verdict, trial]),
      [1, 2].map((trial) => ['survived', trial]),
      fault,
    );
  assert.deepEqual([verdict, goal?.trials, runCount], ['passed', 2, 2 + 2 * names.length]);
  assert.deepEqual(
    baseline.trials?.map(({ goalReached, lastWords }) => [goalReached, lastWords]),
    Array(2).fill([true, 'done: order 9, 26 left']),
  );
  const text = toText(cardOf(graded));
  assert.match(text, /^without faults +2 of 2 +1\.00 +1\.00$/m);
  assert.match(text, /^all faults +12 of 12 +1\.00 +1\.00$/m);
});

test('an agent that orders twice and always says "done" is found, and its words are quoted', async () => {
  const graded = await judged(agent('careless'), { faults: ['lost-answer', 'rate-limited'], trials: 2 });
  assert.equal(graded.verdict, 'failed');
  assert.ok(graded.baseline.trials?.every(({ verdict }) => verdict === 'survived'));
  for (const run of runsUnder(graded, 'lost-answer')) {
    assert.equal(run.verdict, 'did-it-twice');
    assert.deepEqual(whatIn(run), [
      'orders where petId is 13 and quantity is 2: 2 found, 1 wanted',
      'said "done: order 10, 26 left", but the goal is not reached',
    ]);
    assert.equal(run.deviations[0]?.requests.length, 2);
    assert.match(run.deviations[0]?.service ?? '', /^Committed request \d+, then cut the connection\.$/);
  }
  for (const run of runsUnder(graded, 'rate-limited')) {
    assert.equal(run.verdict, 'left-undone');
    assert.match(
      whatIn(run).at(-1) ?? '',
      /^said "done: order undefined, NaN left", but the goal is not reached/,
    );
  }
  const card = cardOf(graded);
  const text = flat(card);
  assert.match(
    text,
    /did it twice: orders where petId is 13 and quantity is 2: 2 found, 1 wanted \(lost-answer at/,
  );
  assert.match(text, /printed something else: said "done: order .*, but the goal is not reached/);
  assert.match(
    text,
    /PASSED PASS\^1 PASS\^2 without faults 2 of 2 1\.00 1\.00 all faults 0 of 4 0\.00 0\.00/,
  );
  assert.match(toJunit(card), /name="lost-answer, first use, trial 2"[\s\S]*?<failure type="did-it-twice"/);
  assert.match(toHtml(card), /<td>without faults<\/td><td>2 of 2<\/td><td>1\.00<\/td>/);
  const data = readCard(JSON.stringify(toData(card)));
  assert.deepEqual(data.goal?.passed[1], { name: 'rate-limited', reached: 2, passed: 0, passHat: [0, 0] });
  const right = await judged(agent('careful'), { faults: ['lost-answer'], trials: 2 });
  const { better } = comparedWith(data, cardOf(right)).changes ?? {};
  assert.deepEqual(
    better?.filter(({ name }) => name.startsWith('lost-answer')),
    [{ name: 'lost-answer, first use', before: '0 of 2', now: '2 of 2' }],
  );
  const other = { ...data, goal: undefined } as unknown as typeof data;
  assert.match(comparedWith(other, card).changes?.note ?? '', /have different goals/);
});

const missed = 'Without faults the program does not reach the goal.';

/** A JavaScript program with `send(method, path, body)`, `done` of the goal, and `tries`, its number of requests. */
function program(t: Parameters<typeof temporaryFolder>[0], source: string): string[] {
  const file = join(temporaryFolder(t), 'agent.mjs');
  writeFileSync(
    file,
    `const { PETSTORE_BASE_URL: api, PETSTORE_API_KEY: key, PETSTORE_GOAL: goal } = process.env;
    async function send(method, path, body) {
      const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' };
      const answer = await fetch(api + path, { method, headers, body: JSON.stringify(body) });
      return answer.ok && answer.status !== 204 ? answer.json() : undefined;
    }
    const order = (quantity = 2) => send('POST', '/store/orders', { petId: 13, quantity, complete: true });
    ${source}`,
  );
  return [process.execPath, file];
}

test('without faults each trial is judged: its claims must be true, and nothing else may change', async (t) => {
  const done = "console.log('Done: order ' + id + ', 26 left')";
  const cases: [source: string, verdict: string, what: string[]][] = [
    [`const { id } = await order(); ${done}`, 'survived', []],
    [
      "const { id } = await order(); console.log('x\\n\\u001b[1mI am done: order ' + id + ', 26 left.\\u001b[0m\\n')",
      'survived',
      [],
    ],
    [
      `const { id } = await order(); await send('DELETE', '/categories/7'); ${done}`,
      'did-something-else',
      [
        'category Amphibians was deleted instead of kept',
        'said "Done: order 9, 26 left", but the goal is not reached',
      ],
    ],
    [
      `const { id } = await order(); await send('PATCH', '/inventory/1', { quantity: 9 }); process.exitCode = 1`,
      'did-something-else',
      ['pet Bella has stock 9 instead of 4'],
    ],
    [
      "await order(); console.log('done: order 9, 260 left')",
      'printed-something-else',
      ['said "done: order 9, 260 left", but the store says "done: order 9, 26 left"'],
    ],
    [
      "await order(); console.log('I could not.')",
      'printed-something-else',
      ['said "I could not.", but the store says "done: order 9, 26 left"'],
    ],
    ["await send('GET', '/pets'); console.log('I could not.')", 'failed', []],
    ["await send('GET', '/pets'); console.log(goal); process.exit(3)", 'failed', []],
    ['await order(); process.exit(3)', 'failed', []],
    // A resource that was created and removed leaves nothing.
    [
      `const { id: first } = await send('POST', '/pets', { name: 'x', categoryId: 1 });
       await send('DELETE', '/pets/' + first); const { id } = await order(); ${done}`,
      'survived',
      [],
    ],
    [
      "await order(); console.log('done: order 9'.repeat(100_000)); console.error('x'.repeat(3_000_000))",
      'printed-something-else',
      [`said "${'done: order 9'.repeat(16).slice(0, 200)}…", but the store says "done: order 9, 26 left"`],
    ],
  ];
  const graded = await Promise.all(
    cases.map(([source]) => judged(program(t, source), { faults: ['lost-answer'], atOnce: 2 })),
  );
  for (const [i, [source, verdict, what]] of cases.entries()) {
    const { baseline, faults } = graded[i] as Grade;
    const [run] = baseline.trials as [FaultRun];
    assert.deepEqual([run.verdict, whatIn(run)], [verdict, what], source);
    if (verdict === 'survived') assert.equal(baseline.problem, undefined);
    else assert.deepEqual([baseline.problem, faults], [missed, []]);
  }
  const inVain = toText(cardOf(graded[8] as Grade), { isVerbose: true });
  assert.match(inVain, /failed \(exit status 3\): .*the goal is reached, though/);
  assert.match(toText(cardOf(graded[6] as Grade)), /failed \(its last line says so\): I could not\./);
});

test('an agent that hangs, or reaches its goal only sometimes, is reported; a fault that never occurred does not count', async (t) => {
  const endless = program(t, 'await order(); setInterval(() => {}, 1e6)');
  const hangs = (await judged(endless, { timeoutMs: 2_500 })).baseline;
  assert.deepEqual([hangs.trials?.length, hangs.trials?.[0]?.verdict, hangs.problem], [1, 'hung', missed]);
  const seen = join(temporaryFolder(t), 'seen');
  const sometimes = await judged(
    program(
      t,
      `const { existsSync, writeFileSync } = await import('node:fs');
       const isFirst = !existsSync('${seen}');
       writeFileSync('${seen}', '');
       if (isFirst) await send('GET', '/pets');
       else console.log('done: order ' + (await order()).id + ', 26 left');`,
    ),
    { faults: [{ fault: 'reset', operation: 'listPets' }, 'small-pages'], trials: 3 },
  );
  const { baseline, faults } = sometimes;
  assert.deepEqual([baseline.problem, sometimes.verdict], [undefined, 'failed']);
  assert.deepEqual(
    baseline.operations.map(({ operation }) => operation).sort(),
    ['listPets', 'placeOrder'],
    'what any trial uses',
  );
  const reached = faults.flatMap(({ runs }) => runs.map(({ verdict }) => verdict));
  assert.deepEqual(new Set(reached), new Set(['not-reached']));
  const { passed } = cardOf(sometimes);
  assert.deepEqual(passed, [{ name: 'without faults', reached: 3, passed: 2, passHat: [2 / 3, 1 / 3, 0] }]);
});
