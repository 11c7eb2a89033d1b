import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { exampleOf } from '../../src/description/schemas.ts';
import * as compare from '../../src/grade/compare/compare.ts';
import { lists, type OtherChange, type StoreState } from '../../src/grade/compare/state.ts';
import { storeResultOf } from '../../src/grade/compare/store-result.ts';

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

interface Options {
  initial?: StoreState;
  variation?: compare.Variation;
  others?: OtherChange[];
}

/** What is told of the second state beside the first, without histories. */
const differenceOf = (base: StoreState, run: StoreState, { initial, variation, others = [] }: Options = {}) =>
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
  compare.inWords(variation, storeResultOf(base, undefined));

type Change = (state: StoreState) => void;

const changed = (...changes: Change[]): StoreState => {
  const state = store();
  for (const change of changes) change(state);
  return state;
};

const addPet =
  (id: number, name: string, categoryId = 1, quantity = 1): Change =>
  ({ pets, inventory }) => {
    pets.push({ id, name, categoryId, status: 'available' });
    inventory.push({ petId: id, quantity, status: 'available' });
  };
const addOrder =
  (id: number, petId: number | undefined, quantity: number): Change =>
  ({ orders }) => {
    orders.push({ id, ...(petId && { petId }), quantity, complete: false });
  };
const setPet =
  (index: number, fields: Partial<StoreState['pets'][number]>): Change =>
  ({ pets }) => {
    Object.assign(pets[index] as object, fields);
  };
const setStock =
  (index: number, quantity: number): Change =>
  ({ inventory }) => {
    Object.assign(inventory[index] as object, { quantity });
  };
const setOrder =
  (index: number, fields: Partial<StoreState['orders'][number]>): Change =>
  ({ orders }) => {
    Object.assign(orders[index] as object, fields);
  };
const setCategory =
  (index: number, fields: Partial<StoreState['categories'][number]>): Change =>
  ({ categories }) => {
    Object.assign(categories[index] as object, fields);
  };
const removePet =
  (index: number): Change =>
  ({ pets, inventory }) => {
    pets.splice(index, 1);
    inventory.splice(index, 1);
  };
/** Adds to all ids, as where others were made before and removed. */
const shiftIds: Change = (state) => {
  for (const row of [...state.categories, ...state.pets, ...state.orders, ...state.webhooks])
    row.id = (row.id ?? 0) + 100;
  for (const pet of state.pets) pet.categoryId += 100;
  for (const row of [...state.orders, ...state.inventory]) if (row.petId) row.petId += 100;
};
const reverse: Change = (state) => {
  for (const rows of Object.values(state)) rows.reverse();
};

/** What is told of the second state beside the first. */
const cases: [base: StoreState, run: StoreState, told: string[]][] = [
  // Equal by content.
  [store(), store(), []],
  [store(), changed(shiftIds), []],
  [store(), changed(reverse), []],
  [changed(addPet(3, 'A'), addPet(4, 'B')), changed(addPet(3, 'B'), addPet(4, 'A')), []],
  [
    changed(addPet(3, 'A'), addPet(4, 'B'), addOrder(2, 3, 1)),
    changed(addPet(3, 'B'), addPet(4, 'A'), addOrder(2, 4, 1)),
    [],
  ],
  // More and less of something.
  [
    changed(addPet(3, 'Smaug')),
    changed(addPet(3, 'Smaug'), addPet(4, 'Smaug')),
    ['two pets Smaug where there was one'],
  ],
  [changed(addPet(3, 'Smaug')), store(), ['no pet Smaug where there was one']],
  [store(), changed(addPet(3, 'Smaug')), ['one pet Smaug where there was none']],
  [
    changed(addPet(3, 'Smaug'), addPet(4, 'Fafnir')),
    changed(addPet(3, 'Smaug'), addPet(4, 'Smaug'), addPet(5, 'Fafnir')),
    ['two pets Smaug where there was one'],
  ],
  [
    changed(addOrder(2, 2, 2)),
    changed(addOrder(2, 2, 2), addOrder(3, 2, 2), addOrder(4, 2, 2)),
    ['four orders of 2 Nemo where there were two'],
  ],
  [
    store(),
    changed(({ orders }) => {
      orders.length = 0;
    }),
    ['no order of 2 Nemo where there was one'],
  ],
  [store(), changed(addOrder(2, undefined, 1)), ['one order of 1 without a pet where there was none']],
  [
    store(),
    changed(({ webhooks }) => {
      webhooks.push({ id: 2, url: 'https://shop.example/events', enabled: true });
    }),
    ['two webhooks to https://shop.example/events where there was one'],
  ],
  // What has changed is told as that, and not of what refers to it.
  [store(), changed(setStock(0, 3)), ['pet Rex: stock 3 instead of 2']],
  [
    store(),
    changed(setPet(0, { status: 'sold' }), setStock(0, 0)),
    ['pet Rex: status sold instead of available, stock 0 instead of 2'],
  ],
  [store(), changed(setPet(0, { name: 'Rexy' })), ['pet Rex: name Rexy instead of Rex']],
  [store(), changed(setPet(1, { name: 'Marlin' })), ['pet Nemo: name Marlin instead of Nemo']],
  [store(), changed(setPet(0, { categoryId: 2 })), ['pet Rex: category Fish instead of Dogs']],
  [
    store(),
    changed(setCategory(0, { description: 'Faithful.' })),
    ['category Dogs: description "Faithful." instead of "Loyal."'],
  ],
  [
    store(),
    changed(({ categories }) => {
      delete categories[0]?.description;
    }),
    ['category Dogs: description none instead of "Loyal."'],
  ],
  [store(), changed(setCategory(1, { description: '' })), ['category Fish: description "" instead of none']],
  [store(), changed(setOrder(0, { complete: true })), ['order of 2 Nemo: complete instead of open']],
  [store(), changed(setOrder(0, { quantity: 5 })), ['order of 2 Nemo: quantity 5 instead of 2']],
  [
    store(),
    changed(setOrder(0, { shipDate: '2026-02-02T09:00:00Z' })),
    ['order of 2 Nemo: shipDate 2026-02-02T09:00:00Z instead of 2026-02-01T09:00:00Z'],
  ],
  [store(), changed(setOrder(0, { petId: 1 })), ['order of 2 Nemo: pet Rex instead of Nemo']],
  // Found again by name, though ids have moved.
  [
    changed(addPet(3, 'Smaug'), addPet(4, 'Fafnir')),
    changed(addPet(3, 'Fafnir', 1, 7)),
    ['no pet Smaug where there was one', 'pet Fafnir: stock 7 instead of 1'],
  ],
  // Two things of the same name are still two things.
  [
    changed(
      ({ categories }) => {
        categories.push({ id: 3, name: 'Dogs', description: 'Other dogs.' });
      },
      addPet(3, 'Smaug', 3),
    ),
    changed(
      ({ categories }) => {
        categories.push({ id: 3, name: 'Dogs', description: 'Other dogs.' });
      },
      addPet(3, 'Smaug', 1),
    ),
    ['pet Smaug: another category Dogs'],
  ],
  // A terminal gets nothing that it would obey.
  [store(), changed(addPet(3, 'a\u001b[31m')), ['one pet a\\u001b[31m where there was none']],
];

test('states are compared by what they hold, and differences are told in sentences', () => {
  for (const [base, run, told] of cases) assert.deepEqual(differenceOf(base, run), told);
});

test('a row that is doubled is told, in whichever list', () => {
  for (const { name, properties } of lists.filter(({ properties }) => 'id' in properties)) {
    const example = exampleOf(Type.Object(properties)) as object;
    const one = [{ ...example, id: 1 }];
    const [base, run] = [one, [...one, { ...example, id: 2 }]].map((rows) => {
      const empty = Object.fromEntries(lists.map((list) => [list.name, []]));
      return { ...empty, [name]: rows } as unknown as StoreState;
    });
    const told = differenceOf(base as StoreState, run as StoreState);
    assert.match(told.join(), new RegExp(`^two ${name} .* where there was one$`));
  }
});

const another = (value: unknown) =>
  typeof value === 'boolean'
    ? !value
    : typeof value === 'number'
      ? value + 1
      : Array.isArray(value)
        ? value.slice(1)
        : `${value}2`;

test('a difference in any one property that requests may write is told', () => {
  for (const { name, properties, written } of lists)
    for (const property of written) {
      const item = exampleOf(Type.Object(properties)) as Record<string, unknown>;
      const [base, run] = [item, { ...item, [property]: another(item[property]) }].map((first) => {
        const state = store();
        state[name] = [first, ...(state[name] ?? []).slice(1)];
        return state;
      });
      assert.equal(
        differenceOf(base as StoreState, run as StoreState).length,
        1,
        `"grade" does not compare ${property} of ${name}: src/grade/compare/rows.ts must read it`,
      );
    }
});

test('a difference is told the other way round as well', () => {
  for (const [base, run, told] of cases)
    assert.equal(differenceOf(run, base).length, told.length, told.join());
});

test('what was there before both is told as changed, however much of it is', () => {
  const initial = changed(addPet(3, 'Smaug'));
  const [base, run] = [
    changed(addPet(3, 'A', 2, 9)),
    changed(addPet(3, 'B', 1, 8), ({ categories }) => categories.reverse()),
  ];
  assert.deepEqual(differenceOf(base, run, { initial }), [
    'pet Smaug: name B instead of A, category Dogs instead of Fish, stock 8 instead of 9',
  ]);
  assert.deepEqual(differenceOf(base, run), [
    'no pet A where there was one',
    'one pet B where there was none',
  ]);
});

test('of many differences the first are told, and how many more there are', () => {
  const many = changed(...Array.from({ length: 50 }, (_, i) => addPet(i + 3, `Pet ${i}`)));
  const told = differenceOf(many, store());
  assert.equal(told.length, 21);
  assert.equal(told.at(-1), '30 more differences');
});

test('what differs from run to run is told and not compared, and all else is', () => {
  const named = (name: string, ...more: Change[]) => changed(addPet(3, name), addOrder(2, 3, 1), ...more);
  const base = named('Smaug-1f');
  const variation = variationOf(base, [named('Smaug-77')]);
  assert.deepEqual(inWords(variation, base), ['pet Smaug-1f: name']);
  const difference = (run: StoreState) => differenceOf(base, run, { variation });
  assert.deepEqual(difference(named('Smaug-a0')), []);
  assert.deepEqual(difference(named('Smaug-a0', addPet(4, 'Smaug-a0'))), [
    'two pets Smaug-a0 where there was one',
  ]);
  assert.deepEqual(difference(changed(addPet(3, 'Smaug-a0'))), [
    'no order of 1 Smaug-1f where there was one',
  ]);
  assert.deepEqual(difference(named('Smaug-a0', setStock(2, 5))), ['pet Smaug-1f: stock 5 instead of 1']);
  assert.deepEqual(difference(named('Smaug-a0', setStock(0, 5))), ['pet Rex: stock 5 instead of 2']);
  assert.deepEqual(difference(store()), [
    'no pet Smaug-1f where there was one',
    'no order of 1 Smaug-1f where there was one',
  ]);
});

test('rows whose names differ from run to run are told apart by what refers to them', () => {
  const two = (a: string, b: string, ...ids: [number, number]) =>
    changed(addPet(3, a), addPet(4, b), addOrder(2, ids[0], 1), addOrder(3, ids[1], 5));
  const base = two('x1', 'x2', 3, 4);
  const variation = variationOf(base, [two('x3', 'x4', 3, 4)]);
  assert.deepEqual(differenceOf(base, two('x5', 'x6', 3, 4), { variation }), []);
  assert.deepEqual(differenceOf(base, two('x5', 'x6', 4, 3), { variation }), []);
});

test('where their number differs from run to run, rows that are added are not counted, but all else is told', () => {
  const initial = store();
  const base = changed(addPet(3, 'A'), addPet(4, 'B'));
  const variation = variationOf(base, [changed(addPet(3, 'A'))], initial);
  assert.deepEqual(inWords(variation, base), ['which pets it adds']);
  const difference = (run: StoreState) => differenceOf(base, run, { initial, variation });
  assert.deepEqual(difference(store()), []);
  assert.deepEqual(difference(changed(addPet(3, 'A'), setStock(0, 9))), ['pet Rex: stock 9 instead of 2']);
  assert.deepEqual(difference(changed(addOrder(2, 1, 1))), ['one order of 1 Rex where there was none']);
  assert.deepEqual(difference(changed(removePet(0))), ['one pet Rex is gone']);
});

test('where not always the same rows are removed, these are not counted, but what is added is', () => {
  const initial = store();
  const base = changed(removePet(0));
  const variation = variationOf(base, [changed(removePet(1))], initial);
  assert.deepEqual(inWords(variation, base), ['which pets it removes', 'order of 2 Nemo: pet']);
  assert.deepEqual(differenceOf(base, store(), { initial, variation }), []);
  assert.deepEqual(differenceOf(base, changed(addPet(3, 'A')), { initial, variation }), [
    'one pet A where there was none',
  ]);
});

test('a row of which most differs from run to run is still one that must be there, and none that was there before', () => {
  const initial = store();
  const named = (name: string, ...more: Change[]) =>
    changed(
      ({ categories }) => {
        categories.splice(1, 1);
        categories.push({ id: 3, name, description: `Made by ${name}.` });
      },
      setPet(1, { categoryId: 3 }),
      ...more,
    );
  const base = named('a1');
  const variation = variationOf(base, [named('b2')], initial);
  assert.deepEqual(inWords(variation, base), ['category a1: name, description']);
  const difference = (run: StoreState) => differenceOf(base, run, { initial, variation });
  assert.deepEqual(difference(named('c3')), []);
  assert.deepEqual(difference(store()), [
    'no category a1 where there was one',
    'one category Fish is still there',
    'pet Nemo: category Fish instead of a1',
  ]);
  const twice: Change = ({ categories }) => {
    categories.push({ id: 4, name: 'd4', description: 'Made by d4.' });
  };
  assert.deepEqual(difference(named('c3', twice)), ['two categories added instead of one, such as d4']);
});

test('what was removed and made anew with something random is not found in what was never removed', () => {
  const initial = store();
  const anew = (description: string) =>
    changed(
      ({ categories }) => {
        categories[1] = { id: 3, name: 'Fish', description };
      },
      setPet(1, { categoryId: 3 }),
    );
  const variation = variationOf(anew('1f'), [anew('77')], initial);
  const difference = differenceOf(anew('1f'), store(), { initial, variation });
  assert.ok(difference.includes('one category Fish, but not the same'), difference.join());
});

test('rows of random names are told apart by what else they hold, in whichever order they are added', () => {
  const two = (a: string, b: string, isTurned: boolean) =>
    changed(
      addPet(isTurned ? 4 : 3, a),
      addPet(isTurned ? 3 : 4, b, 2, 7),
      ({ pets, inventory }) => isTurned && [pets, inventory].forEach((rows) => void rows.reverse()),
    );
  const base = two('a1', 'b1', false);
  const variation = variationOf(base, [two('a2', 'b2', true)], store());
  assert.deepEqual(inWords(variation, base), ['pet a1: name', 'pet b1: name']);
});

const other = (
  kind: OtherChange['kind'],
  property: OtherChange['property'],
  before: string | undefined,
  after: string,
): OtherChange => ({ kind, id: 1, property, before, after });
const sign = ' (another writer)';
const renamedRex = other('pet', 'name', 'Rex', `Rex${sign}`);
const renamedDogs = other('category', 'name', 'Dogs', `Dogs${sign}`);
const oneMore = other('pet', 'stock', '2', '3');
const later = other('order', 'shipDate', '2026-02-01T09:00:00Z', '2026-02-02T09:00:00Z');
const shipped = (shipDate: string) => setOrder(0, { shipDate });

/** What the other writer did, what the client leaves without it and beside it, and what is held against the client. */
const besideOthers: [OtherChange[], base: Change[], run: Change[], told: string[]][] = [
  // The client keeps it, overwrites it, or builds on it.
  [[renamedRex], [], [setPet(0, { name: `Rex${sign}` })], []],
  [[renamedRex], [], [], []],
  [[renamedRex], [setPet(0, { name: 'Rexy' })], [setPet(0, { name: 'Rexy' })], []],
  [[renamedRex], [setPet(0, { name: 'Old Rex' })], [setPet(0, { name: `Old Rex${sign}` })], []],
  [
    [renamedRex],
    [setPet(0, { status: 'pending' })],
    [setPet(0, { status: 'pending', name: `Rex${sign}` })],
    [],
  ],
  // What was its own to do is still to be done.
  [
    [renamedRex],
    [setPet(0, { status: 'pending' })],
    [setPet(0, { name: `Rex${sign}` })],
    ['pet Rex: status available instead of pending'],
  ],
  // Of another pet nothing was changed.
  [
    [renamedRex],
    [],
    [setPet(1, { name: `Nemo${sign}` })],
    ['pet Nemo: name Nemo (another writer) instead of Nemo'],
  ],
  // Twice.
  [
    [renamedRex, other('pet', 'name', `Rex${sign}`, 'Rex (another writer 2)')],
    [],
    [setPet(0, { name: 'Rex (another writer 2)' })],
    [],
  ],
  [[renamedDogs], [], [setCategory(0, { name: `Dogs${sign}` })], []],
  // Stock set again, kept, counted from, or decided anew; and the status that follows it.
  [[oneMore], [setStock(0, 7)], [setStock(0, 7)], []],
  [[oneMore], [setStock(0, 7)], [setStock(0, 8)], []],
  [[oneMore], [setStock(0, 4)], [setStock(0, 6)], []],
  [[oneMore], [setStock(0, 0), setPet(0, { status: 'sold' })], [setStock(0, 1)], []],
  // The ship date.
  [[later], [shipped('2026-02-01T09:00:00Z')], [shipped('2026-02-02T09:00:00Z')], []],
  [[later], [shipped('2026-05-01T09:00:00Z')], [shipped('2026-05-01T09:00:00Z')], []],
  [[later], [shipped('2026-02-08T09:00:00Z')], [shipped('2026-02-09T09:00:00Z')], []],
];

test('what another writer changed is not held against the client, and what it left undone is', () => {
  for (const [others, base, run, told] of besideOthers)
    assert.deepEqual(differenceOf(changed(...base), changed(...run), { others }), told);
});

test('large states are compared in time that grows with their number, whatever they hold', () => {
  const count = 10_000;
  const large = (name: (i: number) => string, quantity: number) =>
    changed(...Array.from({ length: count }, (_, i) => addPet(i + 3, name(i), 1, quantity)));
  const began = process.cpuUsage();
  assert.deepEqual(differenceOf(large(String, 1), large(String, 1)), []);
  assert.equal(
    differenceOf(
      large(() => 'Same', 1),
      large(() => 'Same', 2),
    ).length,
    21,
  );
  assert.equal(differenceOf(large(String, 1), store()).length, 21);
  assert.ok(process.cpuUsage(began).user < 10_000_000);
});
