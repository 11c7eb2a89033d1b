import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import * as compare from '../../src/grade/compare/compare.ts';
import { lists, type OtherChange, type StoreState } from '../../src/grade/compare/state.ts';
import { storeResultOf } from '../../src/grade/compare/store-result.ts';
import { exampleOf } from '../../src/reference/description/schemas.ts';
import { numbers } from '../support/values.ts';

/** A small store: Rex is Dog 1, Nemo is Fish 2, of whom 2 are ordered. */
const store = (): StoreState => ({
  categories: [
    { id: 1, name: 'Dogs', description: 'Loyal.' },
    { id: 2, name: 'Fish' },
  ],
  pets: [
    { id: 1, name: 'Rex', categoryId: 1, status: 'available' },
    { id: 2, name: 'Nemo', categoryId: 2, status: 'available' },
  ],
  orders: [{ id: 1, petId: 2, quantity: 2, shipDate: '2026-02-01T09:00:00Z', complete: false }],
  inventory: [
    { petId: 1, quantity: 2, status: 'available' },
    { petId: 2, quantity: 40, status: 'available' },
  ],
  webhooks: [{ id: 1, url: 'https://shop.example/events', enabled: true }],
});

interface Known {
  initial?: StoreState;
  variation?: compare.Variation;
  others?: OtherChange[];
}

/** The reported differences of the second state from the first, without histories. */
const differenceOf = (base: StoreState, run: StoreState, { initial, variation, others = [] }: Known = {}) =>
  compare
    .differencesOf(
      storeResultOf(base, initial),
      { ...storeResultOf(run, initial), others },
      { ...(initial && { initial: storeResultOf(initial, initial) }), ...(variation && { variation }) },
    )
    .map(({ what }) => what);

const variationOf = (base: StoreState, others: StoreState[], initial?: StoreState) =>
  compare.variationOf(
    storeResultOf(base, initial),
    others.map((other) => storeResultOf(other, initial)),
    initial && storeResultOf(initial, initial),
  );

const inWords = (variation: compare.Variation, base: StoreState) =>
  compare.variationInWords(variation, storeResultOf(base, undefined));

type Change = (state: StoreState) => void;

const changed = (...changes: Change[]): StoreState => {
  const state = store();
  for (const change of changes) change(state);
  return state;
};

type List = 'categories' | 'pets' | 'orders' | 'inventory' | 'webhooks';

/** Changes properties of the row at an index. */
const set =
  <L extends List>(list: L, index: number, fields: Partial<StoreState[L][number]>): Change =>
  (state) =>
    void Object.assign(state[list][index] as object, fields);
const add =
  <L extends List>(list: L, row: StoreState[L][number]): Change =>
  (state) =>
    void (state[list] as object[]).push(row);
const remove =
  (list: List, index: number): Change =>
  (state) =>
    void state[list].splice(index, 1);
const all =
  (...changes: Change[]): Change =>
  (state) => {
    for (const change of changes) change(state);
  };
const addPet = (id: number, name: string, categoryId = 1, quantity = 1) =>
  all(
    add('pets', { id, name, categoryId, status: 'available' }),
    add('inventory', { petId: id, quantity, status: 'available' }),
  );
const addOrder = (id: number, petId: number | undefined, quantity: number) =>
  add('orders', { id, ...(petId && { petId }), quantity, complete: false });
const setStock = (index: number, quantity: number) => set('inventory', index, { quantity });
const removePet = (index: number) => all(remove('pets', index), remove('inventory', index));
/** Increases all ids, as after other rows were created and removed. */
const shiftIds: Change = (state) => {
  for (const row of [...state.categories, ...state.pets, ...state.orders, ...state.webhooks])
    row.id = (row.id ?? 0) + 100;
  for (const pet of state.pets) pet.categoryId += 100;
  for (const row of [...state.orders, ...state.inventory]) if (row.petId) row.petId += 100;
};
const reverse: Change = (state) => {
  for (const rows of Object.values(state)) rows.reverse();
};

const shipped = (shipDate: string) => set('orders', 0, { shipDate });
const otherDogs = add('categories', { id: 3, name: 'Dogs', description: 'Other dogs.' });
const longText = (last: string) => set('categories', 0, { description: `${'a'.repeat(60)}${last}` });
const twoPets = (a: string, b: string) => [addPet(3, a), addPet(4, b)];

/** The changes of a run, the reported differences, and the changes without faults. */
const cases: [run: Change[], reported: string[], base?: Change[]][] = [
  // Equal content.
  [[], []],
  [[shiftIds], []],
  [[reverse], []],
  [twoPets('B', 'A'), [], twoPets('A', 'B')],
  [[...twoPets('B', 'A'), addOrder(2, 4, 1)], [], [...twoPets('A', 'B'), addOrder(2, 3, 1)]],
  // More and fewer rows.
  [twoPets('Smaug', 'Smaug'), ['two pets Smaug instead of one'], [addPet(3, 'Smaug')]],
  [[], ['no pet Smaug instead of one'], [addPet(3, 'Smaug')]],
  [[addPet(3, 'Smaug')], ['one pet Smaug instead of none']],
  [
    [...twoPets('Smaug', 'Smaug'), addPet(5, 'Fafnir')],
    ['two pets Smaug instead of one'],
    twoPets('Smaug', 'Fafnir'),
  ],
  [
    [addOrder(2, 2, 2), addOrder(3, 2, 2), addOrder(4, 2, 2)],
    ['four orders of 2 Nemo instead of two'],
    [addOrder(2, 2, 2)],
  ],
  [[remove('orders', 0)], ['no order of 2 Nemo instead of one']],
  [[addOrder(2, undefined, 1)], ['one order of 1 without a pet instead of none']],
  [
    [add('webhooks', { id: 2, url: 'https://shop.example/events', enabled: true })],
    ['two webhooks to https://shop.example/events instead of one'],
  ],
  // A changed row is reported, and rows that refer to it are not.
  [[setStock(0, 3)], ['pet Rex has stock 3 instead of 2']],
  [
    [set('pets', 0, { status: 'sold' }), setStock(0, 0)],
    ['pet Rex has status sold instead of available, stock 0 instead of 2'],
  ],
  [[set('pets', 0, { name: 'Rexy' })], ['pet Rex has name Rexy instead of Rex']],
  [[set('pets', 1, { name: 'Marlin' })], ['pet Nemo has name Marlin instead of Nemo']],
  [[set('pets', 0, { categoryId: 2 })], ['pet Rex has category Fish instead of Dogs']],
  [
    [set('categories', 0, { description: 'Faithful.' })],
    ['category Dogs has description "Faithful." instead of "Loyal."'],
  ],
  [
    [({ categories }) => void delete categories[0]?.description],
    ['category Dogs has no description instead of "Loyal."'],
  ],
  [[set('categories', 1, { description: '' })], ['category Fish has description "" instead of none']],
  [[set('orders', 0, { complete: true })], ['order of 2 Nemo is complete instead of open']],
  [[set('orders', 0, { quantity: 5 })], ['order of 2 Nemo has quantity 5 instead of 2']],
  [
    [shipped('2026-02-02T09:00:00Z')],
    ['order of 2 Nemo has shipDate 2026-02-02T09:00:00Z instead of 2026-02-01T09:00:00Z'],
  ],
  [[set('orders', 0, { petId: 1 })], ['order of 2 Nemo has pet Rex instead of Nemo']],
  // Rows are found by name, though ids have changed.
  [
    [addPet(3, 'Fafnir', 1, 7)],
    ['no pet Smaug instead of one', 'pet Fafnir has stock 7 instead of 1'],
    twoPets('Smaug', 'Fafnir'),
  ],
  // Two rows with the same name are still two.
  [
    [otherDogs, addPet(3, 'Smaug', 1)],
    ['pet Smaug has a different category, also named Dogs'],
    [otherDogs, addPet(3, 'Smaug', 3)],
  ],
  [
    [addPet(3, 'Rex', 2), addOrder(5, 3, 1)],
    ['order of 1 Rex has a different pet, also named Rex'],
    [addPet(3, 'Rex', 2), addOrder(2, 1, 1)],
  ],
  // Texts that are equal as far as they are shown.
  [
    [longText('c')],
    [`category Dogs has a different description (equal in the part shown): "${'a'.repeat(60)}…"`],
    [longText('b')],
  ],
  // Control characters are escaped for a terminal.
  [[addPet(3, 'a\u001b[31m')], ['one pet a\\u001b[31m instead of none']],
];

test('states are compared by content, in both directions, and differences are described in sentences', () => {
  for (const [run, reported, base = []] of cases) {
    const [before, after] = [changed(...base), changed(...run)];
    assert.deepEqual(differenceOf(before, after), reported);
    assert.equal(differenceOf(after, before).length, reported.length, reported.join());
  }
});

test('a duplicated row is reported in every list', () => {
  for (const { name, properties } of lists.filter(({ properties }) => 'id' in properties)) {
    const example = exampleOf(Type.Object(properties)) as object;
    const withRows = (...ids: number[]) => {
      const empty = Object.fromEntries(lists.map((list) => [list.name, []]));
      return { ...empty, [name]: ids.map((id) => ({ ...example, id })) } as unknown as StoreState;
    };
    const reported = differenceOf(withRows(1), withRows(1, 2));
    assert.match(reported.join(), new RegExp(`^two ${name} .* instead of one$`));
  }
});

function another(value: unknown) {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  return Array.isArray(value) ? value.slice(1) : `${value}2`;
}

test('a difference in any writable property is reported', () => {
  for (const { name, properties, written } of lists)
    for (const property of written) {
      const item = exampleOf(Type.Object(properties)) as Record<string, unknown>;
      const withFirst = (first: object) =>
        changed((state) => void (state[name] as object[]).splice(0, 1, first));
      const run = withFirst({ ...item, [property]: another(item[property]) });
      assert.equal(
        differenceOf(withFirst(item), run).length,
        1,
        `"grade" does not compare ${property} of ${name}: src/grade/compare/rows.ts must read it`,
      );
    }
});

test('an existing row is reported as changed, however many of its properties changed', () => {
  const initial = changed(addPet(3, 'Smaug'));
  const [base, run] = [
    changed(addPet(3, 'A', 2, 9)),
    changed(addPet(3, 'B', 1, 8), ({ categories }) => categories.reverse()),
  ];
  assert.deepEqual(differenceOf(base, run, { initial }), [
    'pet Smaug has name B instead of A, category Dogs instead of Fish, stock 8 instead of 9',
  ]);
  assert.deepEqual(differenceOf(base, run), ['no pet A instead of one', 'one pet B instead of none']);
});

test('only the first of many differences are reported, with the number of the others', () => {
  for (const [count, last] of [
    [50, '30 more differences'],
    [21, '1 more difference'],
  ] as const) {
    const pets = numbers(count, 3).map((id) => addPet(id, `Pet ${id}`));
    const reported = differenceOf(changed(...pets), store());
    assert.deepEqual([reported.length, reported.at(-1)], [21, last]);
  }
});

test('values that vary without faults are reported and not compared, and all others are compared', () => {
  const named = (name: string, ...more: Change[]) => changed(addPet(3, name), addOrder(2, 3, 1), ...more);
  const base = named('Smaug-1f');
  const variation = variationOf(base, [named('Smaug-77')]);
  assert.deepEqual(inWords(variation, base), ['name of pet Smaug-1f']);
  const difference = (run: StoreState) => differenceOf(base, run, { variation });
  assert.deepEqual(difference(named('Smaug-a0')), []);
  assert.deepEqual(difference(named('Smaug-a0', addPet(4, 'Smaug-a0'))), [
    'two pets Smaug-a0 instead of one',
  ]);
  assert.deepEqual(difference(changed(addPet(3, 'Smaug-a0'))), ['no order of 1 Smaug-1f instead of one']);
  assert.deepEqual(difference(named('Smaug-a0', setStock(2, 5))), ['pet Smaug-1f has stock 5 instead of 1']);
  assert.deepEqual(difference(named('Smaug-a0', setStock(0, 5))), ['pet Rex has stock 5 instead of 2']);
  assert.deepEqual(difference(store()), [
    'no pet Smaug-1f instead of one',
    'no order of 1 Smaug-1f instead of one',
  ]);
});

test('rows whose names vary are distinguished by the rows that refer to them', () => {
  const two = (a: string, b: string, ...ids: [number, number]) =>
    changed(addPet(3, a), addPet(4, b), addOrder(2, ids[0], 1), addOrder(3, ids[1], 5));
  const base = two('x1', 'x2', 3, 4);
  const variation = variationOf(base, [two('x3', 'x4', 3, 4)]);
  assert.deepEqual(differenceOf(base, two('x5', 'x6', 3, 4), { variation }), []);
  assert.deepEqual(differenceOf(base, two('x5', 'x6', 4, 3), { variation }), []);
});

test('if the number of added rows varies, they are not counted, but all other differences are reported', () => {
  const initial = store();
  const base = changed(addPet(3, 'A'), addPet(4, 'B'));
  const variation = variationOf(base, [changed(addPet(3, 'A'))], initial);
  assert.deepEqual(inWords(variation, base), ['which pets the program adds']);
  const difference = (run: StoreState) => differenceOf(base, run, { initial, variation });
  assert.deepEqual(difference(store()), []);
  assert.deepEqual(difference(changed(addPet(3, 'A'), setStock(0, 9))), ['pet Rex has stock 9 instead of 2']);
  assert.deepEqual(difference(changed(addOrder(2, 1, 1))), ['one order of 1 Rex instead of none']);
  assert.deepEqual(difference(changed(removePet(0))), ['pet Rex was deleted instead of kept']);
});

test('if the removed rows vary, they are not counted, but added rows are', () => {
  const initial = store();
  const base = changed(removePet(0));
  const variation = variationOf(base, [changed(removePet(1))], initial);
  assert.deepEqual(inWords(variation, base), ['which pets the program deletes', 'pet of order of 2 Nemo']);
  assert.deepEqual(differenceOf(base, store(), { initial, variation }), []);
  assert.deepEqual(differenceOf(base, changed(addPet(3, 'A')), { initial, variation }), [
    'one pet A instead of none',
  ]);
});

test('a row whose properties mostly vary is still required, and is not mistaken for an existing row', () => {
  const initial = store();
  const named = (name: string, ...more: Change[]) =>
    changed(
      remove('categories', 1),
      add('categories', { id: 3, name, description: `Made by ${name}.` }),
      set('pets', 1, { categoryId: 3 }),
      ...more,
    );
  const base = named('a1');
  const variation = variationOf(base, [named('b2')], initial);
  assert.deepEqual(inWords(variation, base), ['name, description of category a1']);
  const difference = (run: StoreState) => differenceOf(base, run, { initial, variation });
  assert.deepEqual(difference(named('c3')), []);
  assert.deepEqual(difference(store()), [
    'no category a1 instead of one',
    'category Fish was not deleted',
    'pet Nemo has category Fish instead of a1',
  ]);
  const twice = add('categories', { id: 4, name: 'd4', description: 'Made by d4.' });
  assert.deepEqual(difference(named('c3', twice)), ['two categories added instead of one, such as d4']);
});

test('a row recreated with random properties is not mistaken for the original row', () => {
  const initial = store();
  const anew = (description: string) =>
    changed(set('categories', 1, { id: 3, description }), set('pets', 1, { categoryId: 3 }));
  const variation = variationOf(anew('1f'), [anew('77')], initial);
  const difference = differenceOf(anew('1f'), store(), { initial, variation });
  assert.ok(difference.includes('category Fish is the old one instead of a new one'), difference.join());
});

test('rows with random names are distinguished by their other properties, in any order', () => {
  const two = (a: string, b: string, isTurned: boolean) =>
    changed(
      addPet(isTurned ? 4 : 3, a),
      addPet(isTurned ? 3 : 4, b, 2, 7),
      ({ pets, inventory }) => isTurned && [pets, inventory].forEach((rows) => void rows.reverse()),
    );
  const base = two('a1', 'b1', false);
  const variation = variationOf(base, [two('a2', 'b2', true)], store());
  assert.deepEqual(inWords(variation, base), ['name of pet a1', 'name of pet b1']);
});

const other = (
  kind: OtherChange['kind'],
  property: OtherChange['property'],
  before: string | undefined,
  after: string,
): OtherChange => ({ kind, id: 1, property, before, after });
const sign = ' (another writer)';
const renamedRex = other('pet', 'name', 'Rex', `Rex${sign}`);
const renamedAgain = other('pet', 'name', `Rex${sign}`, 'Rex (another writer 2)');
const renamedDogs = other('category', 'name', 'Dogs', `Dogs${sign}`);
const oneMore = other('pet', 'stock', '2', '3');
const later = other('order', 'shipDate', '2026-02-01T09:00:00Z', '2026-02-02T09:00:00Z');

const named = (name: string) => set('pets', 0, { name });
const markedNemo = set('pets', 1, { name: `Nemo${sign}` });
const pending = set('pets', 0, { status: 'pending' });

/** The other writer's changes, the client's changes without and with them, and the reported difference. */
const besideOthers: [OtherChange[], base: Change[], run: Change[], reported?: string][] = [
  // The client keeps it, overwrites it, or builds on it.
  [[renamedRex], [], [named(`Rex${sign}`)]],
  [[renamedRex], [], []],
  [[renamedRex], [named('Rexy')], [named('Rexy')]],
  [[renamedRex], [named('Old Rex')], [named(`Old Rex${sign}`)]],
  [[renamedRex], [pending], [pending, named(`Rex${sign}`)]],
  // The client's own change is still required.
  [[renamedRex], [pending], [named(`Rex${sign}`)], 'pet Rex has status available instead of pending'],
  // The other writer did not change another pet.
  [[renamedRex], [], [markedNemo], 'pet Nemo has name Nemo (another writer) instead of Nemo'],
  // The other writer changed it twice.
  [[renamedRex, renamedAgain], [], [named('Rex (another writer 2)')]],
  [[renamedDogs], [], [set('categories', 0, { name: `Dogs${sign}` })]],
  // The client sets, keeps, or changes the new stock, or decides again. The status follows the stock.
  [[oneMore], [setStock(0, 7)], [setStock(0, 7)]],
  [[oneMore], [setStock(0, 7)], [setStock(0, 8)]],
  [[oneMore], [setStock(0, 4)], [setStock(0, 6)]],
  [[oneMore], [setStock(0, 0), set('pets', 0, { status: 'sold' })], [setStock(0, 1)]],
  // The ship date.
  [[later], [shipped('2026-02-01T09:00:00Z')], [shipped('2026-02-02T09:00:00Z')]],
  [[later], [shipped('2026-05-01T09:00:00Z')], [shipped('2026-05-01T09:00:00Z')]],
  [[later], [shipped('2026-02-08T09:00:00Z')], [shipped('2026-02-09T09:00:00Z')]],
];

test("another writer's changes do not count against the client, and its own omissions do", () => {
  for (const [others, base, run, reported] of besideOthers)
    assert.deepEqual(differenceOf(changed(...base), changed(...run), { others }), reported ? [reported] : []);
});

test('comparing large states takes time in proportion to their size', () => {
  const count = 10_000;
  const large = (quantity: number, name?: string) =>
    changed(...numbers(count, 3).map((id) => addPet(id, name ?? String(id), 1, quantity)));
  const began = process.cpuUsage();
  assert.deepEqual(differenceOf(large(1), large(1)), []);
  assert.equal(differenceOf(large(1, 'Same'), large(2, 'Same')).length, 21);
  assert.equal(differenceOf(large(1), store()).length, 21);
  assert.ok(process.cpuUsage(began).user < 10_000_000);
});
