import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Petstore, startPetstore } from '../support/petstore.ts';
import { idsOf, numbers } from '../support/values.ts';

/** Ids of all items, page by page along the Link headers, and the size of each page. */
async function walk(store: Petstore, first: string): Promise<{ ids: number[]; sizes: number[] }> {
  const ids: number[] = [];
  const sizes: number[] = [];
  for (let path: string | undefined = first; path; ) {
    const page = await store.call('GET', path);
    assert.equal(page.status, 200, page.text);
    sizes.push(page.body.length);
    ids.push(...page.body.map((item: { id?: number; petId: number }) => item.id ?? item.petId));
    path = /^<http:\/\/localhost:8080\/v1(\S+)>; rel="next"$/.exec(page.headers.link ?? '')?.[1];
  }
  return { ids, sizes };
}

for (const [path, count] of [
  ['/pets', 20],
  ['/categories', 7],
  ['/store/orders', 8],
  ['/inventory', 20],
] as const) {
  test(`the pages of ${path} contain each item once, in the order of ids`, async (t) => {
    const store = await startPetstore(t);
    assert.deepEqual((await walk(store, path)).ids, numbers(count));
    const { ids, sizes } = await walk(store, `${path}?limit=3`);
    assert.deepEqual(ids, numbers(count));
    assert.ok(sizes.slice(0, -1).every((size) => size === 3));
    assert.deepEqual((await walk(store, `${path}?limit=${count}`)).sizes, [count]);
  });
}

test('a page has 20 items by default, and new or deleted rows do not shift the next page', async (t) => {
  const store = await startPetstore(t);
  await store.call('POST', '/pets', { body: { name: 'Zed', categoryId: 1 } });
  const first = await store.call('GET', '/pets');
  assert.equal(first.body.length, 20);
  await store.call('DELETE', '/pets/4');
  await store.call('POST', '/pets', { body: { name: 'Zoe', categoryId: 1 } });
  const next = /<http:\/\/localhost:8080\/v1(.*)>/.exec(first.headers.link as string)?.[1] as string;
  assert.deepEqual(idsOf((await store.call('GET', next)).body), [21, 22]);
});

test('long texts end a page early, and one item always fits', async (t) => {
  const store = await startPetstore(t);
  const body = { name: '🐉'.repeat(200), description: '🐉'.repeat(2_000) };
  for (let i = 0; i < 20; i++) assert.equal((await store.call('POST', '/categories', { body })).status, 201);
  const { ids, sizes } = await walk(store, '/categories?limit=100');
  assert.deepEqual(ids, numbers(27));
  assert.deepEqual(sizes, [12, 5, 5, 5]);
  assert.deepEqual((await walk(store, '/categories?limit=1')).sizes.length, 27);
});

test('filters narrow a list, and apply to the following pages too', async (t) => {
  const store = await startPetstore(t);
  type Pet = { id: number; status: string; categoryId: number };
  const all: Pet[] = (await store.call('GET', '/pets?limit=100')).body;
  const idsWhere = (meets: (pet: Pet) => boolean) => idsOf(all.filter(meets));
  const cases: [string, number[]][] = [
    ['/pets?status=sold&limit=2', idsWhere((pet) => pet.status === 'sold')],
    ['/pets?status=pending&limit=1', [3, 12, 18]],
    ['/pets?categoryId=2&limit=2', idsWhere((pet) => pet.categoryId === 2)],
    [
      '/pets?categoryId=1&status=available&limit=1',
      idsWhere((pet) => pet.categoryId === 1 && pet.status === 'available'),
    ],
    ['/pets?id=7&id=2&id=7&id=4711&id=-3', [2, 7]],
    ['/pets?id=3&id=12&id=1&status=pending&limit=1', [3, 12]],
    ['/pets?categoryId=4711', []],
    ['/inventory?status=sold&limit=2', idsWhere((pet) => pet.status === 'sold')],
    ['/store/orders?complete=true&limit=1', [1, 4, 7]],
    ['/store/orders?complete=false&petId=18', [6]],
    ['/store/orders?petId=4711', []],
  ];
  for (const [path, ids] of cases) assert.deepEqual((await walk(store, path)).ids, ids, path);
});

test('a request can ask for a hundred ids, and one page can return them', async (t) => {
  const store = await startPetstore(t);
  for (let i = 0; i < 5; i++) await store.call('POST', '/pets', { body: { name: 'Zed', categoryId: 1 } });
  const query = numbers(100)
    .map((id) => `id=${id}`)
    .join('&');
  assert.equal((await store.call('GET', `/pets?${query}`)).body.length, 25);
  assert.equal((await store.call('GET', `/pets?limit=7&${query}`)).body.length, 7);
  assert.equal((await store.call('GET', `/pets?id=101&${query}`)).body.code, 'invalid_request');
});
