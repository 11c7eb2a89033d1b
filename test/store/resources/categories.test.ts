import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPetstore } from '../../support/petstore.ts';

test('a category is created, read, replaced and removed', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const created = await store.call('POST', '/categories', { body: { name: 'Dogs', description: 'Loyal' } });
  assert.equal(created.status, 201);
  assert.deepEqual(created.body, { id: 1, name: 'Dogs', description: 'Loyal' });
  assert.equal(created.headers.location, 'http://localhost:8080/v1/categories/1');
  const replaced = await store.call('PUT', '/categories/1', { body: { name: 'Hounds' } });
  assert.deepEqual(replaced.body, { id: 1, name: 'Hounds' });
  assert.deepEqual((await store.call('GET', '/categories/1')).body, { id: 1, name: 'Hounds' });
  assert.equal((await store.call('DELETE', '/categories/1')).status, 204);
  assert.equal((await store.call('GET', '/categories/1')).status, 404);
  assert.equal((await store.call('DELETE', '/categories/1')).status, 404);
});

test('a description may be empty and have 2,000 characters', async (t) => {
  const store = await startPetstore(t, { seed: false });
  for (const description of ['', 'ä'.repeat(2000)]) {
    const { status, body } = await store.call('POST', '/categories', { body: { name: 'Dogs', description } });
    assert.equal(status, 201);
    assert.equal(body.description, description);
  }
});

test('a category with pets cannot be removed', async (t) => {
  const store = await startPetstore(t);
  const refused = await store.call('DELETE', '/categories/6');
  assert.equal(refused.body.code, 'conflict');
  await store.call('DELETE', '/pets/19');
  await store.call('PATCH', '/pets/20', { body: { categoryId: 5 } });
  assert.equal((await store.call('DELETE', '/categories/6')).status, 204);
});
