import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passedOf } from '../../src/grade/card/trials.ts';
import type { OtherChange, StoreState } from '../../src/grade/compare/state.ts';
import { type StoreResult, storeResultOf } from '../../src/grade/compare/store-result.ts';
import { claims, readGoal } from '../../src/grade/goal/goal-file.ts';
import { judgeByGoal } from '../../src/grade/goal/goal-outcome.ts';
import type { FaultRun, Grade, Verdict } from '../../src/grade/grade.ts';
import { guides } from '../../src/reference/description/guides.ts';
import { textOf } from '../support/tree.ts';
import { carefulGrade } from './grades.ts';

const goalOf = (wanted: unknown, more: object = {}) =>
  readGoal(JSON.stringify({ goal: 'x', wanted, ...more }));
const wantedTexts = (wanted: string[]) => `{"goal": "x", "wanted": [${wanted}]}`;
const nemo = { resource: 'orders', where: { petId: 13 } };

test('an invalid goal file is refused with a pointer to each mistake, and the allowed values', () => {
  const mistakes: [text: string, message: RegExp][] = [
    ['', /^is not JSON: /],
    ['\u001b[2J', /^is not JSON: .*\\u001b/],
    ['[]', /^is not a goal: # must be an object/],
    ['{}', /#\/goal must be a string of 1 to 8000 characters.*; it is missing. #\/wanted must be a list/],
    ['{"goal": "a\\u0000b", "wanted": []}', /#\/goal must be .* without the null character/],
    ['{"goal": "x", "wanted": [], "wants": 1}', /# must not have "wants"; it takes goal, says, wanted/],
    ['{"goal": "x", "wanted": [], "__proto__": {}}', /# must not have "__proto__"/],
    ['{"goal": "x", "wanted": {}}', /#\/wanted must be a list of at most 100 objects/],
    [wantedTexts(Array(101).fill('{}')), /#\/wanted must be a list of at most 100 objects/],
    [wantedTexts(Array(50).fill('{}')), /and 45 more problems$/],
  ];
  const ofOne: [wanted: string, message: RegExp][] = [
    ['1', /#\/wanted\/0 must be an object/],
    [
      '{}',
      /#\/wanted\/0\/resource must be one of pets, categories, orders, inventory, webhooks; it is missing/,
    ],
    ['{"resource": "pet", "where": {}}', /#\/wanted\/0\/resource must be one of pets, categories,/],
    ['{"resource": "__proto__", "where": {}}', /#\/wanted\/0\/resource must be one of pets/],
    ['{"resource": "pets"}', /#\/wanted\/0\/where must be an object/],
    [
      '{"resource": "pets", "where": {"nam": "Rex"}}',
      /#\/wanted\/0\/where must not have "nam"; it takes id, name, categoryId, status/,
    ],
    ['{"resource": "pets", "where": {"__proto__": {}}}', /where must not have "__proto__"/],
    [
      '{"resource": "pets", "where": {"name": {"min": 1}, "status": "new"}}',
      /#\/wanted\/0\/where\/name must be a string.*#\/wanted\/0\/where\/status must be one of available, pending, sold/,
    ],
    ['{"resource": "pets", "where": {"name": null}}', /where\/name must be a string/],
    [
      '{"resource": "orders", "where": {}, "fields": {"quantity": 0}}',
      /fields\/quantity must be an integer from 1 /,
    ],
    ['{"resource": "orders", "where": {}, "fields": null}', /#\/wanted\/0\/fields must be an object/],
    ['{"resource": "orders", "where": {}, "count": -1}', /#\/wanted\/0\/count must be an integer from 0 /],
    ['{"resource": "orders", "where": {"shipDate": "soon"}}', /shipDate must be an RFC 3339 date-time/],
  ];
  for (const [one, message] of ofOne) mistakes.push([wantedTexts([one]), message]);
  for (const [text, message] of mistakes) assert.throws(() => readGoal(text), { message });
  const says: [says: string, wanted: object[], message: RegExp][] = [
    [
      'done {orders.id}',
      [],
      /#\/says has {orders\.id}, so "wanted" must name orders exactly once, with the count 1/,
    ],
    ['done {orders.id}', [nemo, nemo], /must name orders exactly once/],
    ['done {orders.id}', [{ ...nemo, count: 2 }], /with the count 1/],
    [
      'done {orders.name}',
      [nemo],
      /has {orders\.name}, but orders have only id, petId, quantity, shipDate, complete/,
    ],
    ['{orders.id} ', [nemo], /must have text besides its placeholders/],
  ];
  for (const [text, wanted, message] of says)
    assert.throws(() => goalOf(wanted, { says: text }), { message });
});

test('the goal of the examples can be read', () => {
  const text = textOf('examples/agents/goal.json');
  const { wanted, says } = readGoal(text);
  assert.deepEqual(
    wanted.map(({ list, count }) => `${list.name} ${count}`),
    ['orders 1', 'inventory 1'],
  );
  assert.deepEqual(says?.[0], 'done: order ');
  const guide = guides('https://pets.example/v1').find(({ name }) => name === 'Agents')?.description ?? '';
  const shown = /^ {4}\{\n {6}"goal"[\s\S]*?^ {4}\}$/m.exec(guide)?.[0] ?? '';
  assert.deepEqual(JSON.parse(shown), JSON.parse(text), 'the guide shows it');
});

test('only whole words count as a claim of success, whatever values they contain', () => {
  const claimed = (text: string, words: string) => claims(words, goalOf([nemo], { says: text }).says ?? []);
  for (const words of ['done', 'Done.', 'abandoned, then done', 'not undone but done!'])
    assert.ok(claimed('done', words), words);
  for (const words of ['', 'abandoned', 'undone', 'done4']) assert.ok(!claimed('done', words), words);
  for (const words of ['done: order 7', 'All DONE: Order 812, bye', 'done: order none'])
    assert.ok(claimed('done: order {orders.id}', words), words);
  assert.ok(!claimed('done: order {orders.id}', 'undone: order 7'));
  assert.ok(claimed('order{orders.id} sent', 'order7 sent'));
  assert.ok(!claimed('order{orders.id} sent', 'order7 sentinel'));
});

/** A small store, before and after some change. */
function store(change: (state: StoreState) => void = () => {}): StoreState {
  const state: StoreState = {
    categories: [{ id: 1, name: 'Dogs' }],
    pets: [{ id: 1, name: 'Rex', categoryId: 1, status: 'available' }],
    orders: [{ id: 1, petId: 1, quantity: 2, shipDate: '2026-02-01T09:00:00.000Z', complete: false }],
    inventory: [{ petId: 1, quantity: 2, status: 'available' }],
    webhooks: [],
  };
  change(state);
  return state;
}

const before = storeResultOf(store(), store());
const setFirst = (list: 'pets' | 'orders' | 'inventory', fields: object) => (state: StoreState) =>
  Object.assign(state[list][0] as object, fields);
const deviationsOf = (wanted: unknown, run: StoreResult) =>
  judgeByGoal(goalOf(wanted), before, run, run).differences.map(({ kind, what }) => `${kind}: ${what}`);
const after = (change?: (state: StoreState) => void, others: OtherChange[] = []): StoreResult => ({
  ...storeResultOf(store(change), store()),
  others,
});

test('data that no predicate covers must stay unchanged', () => {
  const renamed = after(setFirst('pets', { name: 'Max' }));
  assert.deepEqual(deviationsOf([], after()), []);
  assert.deepEqual(deviationsOf([], renamed), ['other: pet Rex has name Max instead of Rex']);
  const wanted = [{ resource: 'pets', where: { id: 1 }, fields: { name: 'Max' } }];
  assert.deepEqual(deviationsOf(wanted, renamed), []);
  const stillRex = 'undone: pets where id is 1: name is "Rex", wanted "Max"';
  assert.deepEqual(deviationsOf(wanted, after()), [stillRex]);
  const sold = after(setFirst('pets', { name: 'Max', status: 'sold' }));
  assert.deepEqual(deviationsOf(wanted, sold), ['other: pet Rex has status sold instead of available']);
  const open = [{ resource: 'orders', where: { complete: false }, count: 0 }];
  const completed = after(setFirst('orders', { complete: true }));
  const cancelled = after(({ orders }) => orders.pop());
  assert.deepEqual(deviationsOf(open, completed), [], 'a property that the predicate names');
  assert.deepEqual(deviationsOf(open, cancelled), [], 'a row may go if fewer are wanted');
  assert.deepEqual(deviationsOf(open, after()), [
    'undone: orders where complete is false: 1 found, 0 wanted',
  ]);
  const same = [{ resource: 'orders', where: { shipDate: '2026-02-01T10:00:00+01:00' } }];
  assert.deepEqual(deviationsOf(same, after()), []);
  assert.deepEqual(deviationsOf(same, cancelled), [
    'other: orders where shipDate is "2026-02-01T10:00:00+01:00": 0 found, 1 wanted',
    'other: order of 2 Rex was deleted instead of kept',
  ]);
  const twice = after(({ orders }) => {
    for (const id of [2, 3]) orders.push({ id, petId: 1, quantity: 1, complete: false });
  });
  const one = [{ resource: 'orders', where: { quantity: 1, shipDate: null } }];
  assert.deepEqual(deviationsOf(one, twice), [
    'twice: orders where quantity is 1 and shipDate is absent: 2 found, 1 wanted',
  ]);
});

test("another writer's changes do not count against a program, and its own omissions do", () => {
  const other = (property: OtherChange['property'], before: string, after: string): OtherChange => ({
    ...{ kind: 'pet', id: 1, property, before, after },
  });
  const name = 'Rex (another writer)';
  const left = after(setFirst('pets', { name }), [other('name', 'Rex', name)]);
  assert.deepEqual(deviationsOf([], left), []);
  assert.deepEqual(deviationsOf([{ resource: 'pets', where: { name: 'Rex' } }], left), []);
  assert.deepEqual(deviationsOf([{ resource: 'pets', where: { id: 1 }, fields: { name: 'Max' } }], left), [
    'undone: pets where id is 1: name is "Rex", wanted "Max"',
  ]);
  const stock = [{ resource: 'inventory', where: { petId: 1 }, fields: { quantity: 7 } }];
  const decided = (quantity: number) =>
    after(setFirst('inventory', { quantity }), [other('stock', '2', '3')]);
  assert.deepEqual(deviationsOf(stock, decided(8)), [], 'it decided again');
  assert.deepEqual(deviationsOf(stock, decided(3)), [
    'undone: inventory where petId is 1: quantity is 2, wanted 7',
  ]);
});

test('pass^k is an unbiased estimate from the trials that reached the fault, averaged over its places', () => {
  const runs = (name: string, verdicts: Verdict[]) =>
    verdicts.map((verdict, i) => ({ name: `${name}, trial ${i + 1}`, trial: i + 1, verdict }) as FaultRun);
  const [s, f, n] = ['survived', 'did-it-twice', 'not-reached'] as const;
  const grade = {
    ...carefulGrade,
    goal: { text: 'x', trials: 5 },
    baseline: { ...carefulGrade.baseline, trials: runs('without faults', [s, s, s, s, s]) },
    faults: [
      {
        ...{ fault: 'reset', required: true, verdict: f },
        runs: [...runs('reset, first use', [s, s, f, s, s]), ...runs('reset, last use', [s, s, n, n, n])],
      },
      { fault: 'banned', required: true, verdict: n, runs: runs('banned', [n, n, n, n, n]) },
    ],
  } as Grade;
  const rounded = passedOf(grade).map(({ passHat, ...rest }) => {
    return { ...rest, passHat: passHat.map((chance) => Number(chance.toFixed(3))) };
  });
  assert.deepEqual(rounded, [
    { name: 'without faults', reached: 5, passed: 5, passHat: [1, 1, 1, 1, 1] },
    { name: 'reset', reached: 7, passed: 6, passHat: [0.9, 0.8, 0.4, 0.2, 0] },
    { name: 'all faults', reached: 7, passed: 6, passHat: [0.9, 0.8, 0.4, 0.2, 0] },
  ]);
});
