import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPetstore } from '../../support/petstore.ts';
import { statusesOf } from '../../support/values.ts';

test('a created pet has an id, a Location and the values of the request', async (t) => {
  const store = await startPetstore(t);
  const pet = { name: 'Zed', categoryId: 2, status: 'pending' };
  const created = await store.call('POST', '/pets', { body: pet });
  assert.deepEqual([created.status, created.body], [201, { id: 21, ...pet }]);
  assert.equal(created.headers.location, 'http://localhost:8080/v1/pets/21');
  const got = await store.call('GET', '/pets/21');
  assert.deepEqual(got.body, created.body);
  assert.equal(got.headers.etag, created.headers.etag);
});

test('a pet without a status is available; a request may send a whole Pet, and its id is ignored', async (t) => {
  const store = await startPetstore(t);
  const sent = { id: 'x', name: 'Zed', categoryId: 1, unknown: 'x' };
  const { body } = await store.call('POST', '/pets', { body: sent });
  assert.deepEqual(body, { id: 21, name: 'Zed', categoryId: 1, status: 'available' });
  const replaced = await store.call('PUT', '/pets/21', { body: { ...body, name: 'Zeta' } });
  assert.deepEqual(replaced.body, { ...body, name: 'Zeta' });
});

test('a pet with an unknown category uses up no id, and does not affect concurrent pets', async (t) => {
  const store = await startPetstore(t);
  const create = (categoryId: number) => store.call('POST', '/pets', { body: { name: 'Zed', categoryId } });
  const answers = await Promise.all([create(1), create(4711), create(2)]);
  assert.deepEqual(statusesOf(answers), [201, 400, 201]);
  assert.deepEqual([answers[0].body.id, answers[2].body.id].sort(), [21, 22]);
  assert.equal((await create(1)).body.id, 23);
});

test('a new pet has an inventory entry: one unit, none when it is sold', async (t) => {
  const store = await startPetstore(t);
  for (const [status, quantity] of [
    ['available', 1],
    ['pending', 1],
    ['sold', 0],
  ]) {
    const pet = await store.call('POST', '/pets', { body: { name: 'Zed', categoryId: 1, status } });
    const item = await store.call('GET', `/inventory/${pet.body.id}`);
    assert.deepEqual(item.body, { petId: pet.body.id, quantity, status });
  }
});

test('PUT replaces every field, and an absent status becomes available', async (t) => {
  const store = await startPetstore(t);
  const replaced = await store.call('PUT', '/pets/4', { body: { name: 'Barnaby', categoryId: 3 } });
  assert.deepEqual(replaced.body, { id: 4, name: 'Barnaby', categoryId: 3, status: 'available' });
  const { body: item } = await store.call('GET', '/inventory/4');
  assert.deepEqual(item, { petId: 4, quantity: 0, status: 'available' });
});

for (const mediaType of ['application/merge-patch+json', 'application/json; charset=UTF-8']) {
  test(`PATCH as ${mediaType} changes the given fields and leaves the others`, async (t) => {
    const store = await startPetstore(t);
    const headers = { 'content-type': mediaType };
    const patched = await store.call('PATCH', '/pets/1', { body: { status: 'sold' }, headers });
    assert.deepEqual(patched.body, { id: 1, name: 'Bella', categoryId: 1, status: 'sold' });
    const reset = await store.call('PATCH', '/pets/1', { body: { status: null, name: 'Bello' }, headers });
    assert.deepEqual(reset.body, { id: 1, name: 'Bello', categoryId: 1, status: 'available' });
  });
}

test('a pet with an open order cannot be removed; after the order is complete it can, and the order stays', async (t) => {
  const store = await startPetstore(t);
  const refused = await store.call('DELETE', '/pets/3');
  assert.equal(refused.body.code, 'conflict');
  assert.match(refused.body.message, /Order 2/);
  await store.call('PATCH', '/store/orders/2', { body: { complete: true } });
  const removed = await store.call('DELETE', '/pets/3');
  assert.equal(removed.status, 204);
  assert.equal((await store.call('GET', '/pets/3')).status, 404);
  assert.equal((await store.call('GET', '/inventory/3')).status, 404);
  assert.equal((await store.call('GET', '/store/orders/2')).body.petId, 3);
});

test('names of 200 characters are kept unchanged, in every script', async (t) => {
  const store = await startPetstore(t);
  for (const name of [
    '🐶'.repeat(200),
    'Ж'.repeat(200),
    ' a ',
    "O'Neil; drop table pets",
    'line\nbreak',
    '\u202eabc',
  ]) {
    const pet = await store.call('POST', '/pets', { body: { name, categoryId: 1 } });
    assert.equal(pet.status, 201);
    assert.equal((await store.call('GET', `/pets/${pet.body.id}`)).body.name, name);
  }
});

test('a description may be empty and have 2,000 characters', async (t) => {
  const store = await startPetstore(t, { seed: false });
  for (const description of ['', 'ä'.repeat(2000)]) {
    const { status, body } = await store.call('POST', '/categories', { body: { name: 'Dogs', description } });
    assert.deepEqual([status, body.description], [201, description]);
  }
});

test('a category with pets cannot be removed', async (t) => {
  const store = await startPetstore(t);
  assert.equal((await store.call('DELETE', '/categories/6')).body.code, 'conflict');
  await store.call('DELETE', '/pets/19');
  await store.call('PATCH', '/pets/20', { body: { categoryId: 5 } });
  assert.equal((await store.call('DELETE', '/categories/6')).status, 204);
});
