import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertTouched, assertUntouched, endRehearsal, performedOf, rehearse } from '../../support/lab.ts';
import { type JsonAnswer, startPetstore } from '../../support/petstore.ts';

const shownOf = ({ status, headers, text }: JsonAnswer) => [status, headers.etag, text];

test('stale-read returns the state before the last change or removal, with its ETag, and then the current state', async (t) => {
  const store = await startPetstore(t);
  const dated = { petId: 1, shipDate: '2027-01-01T00:00:00.000Z' };
  const order = `/store/orders/${(await store.call('POST', '/store/orders', { body: dated })).body.id}`;
  const smaug = { name: 'Smaug', categoryId: 1 };
  const pet = `/pets/${(await store.call('POST', '/pets', { body: smaug })).body.id}`;
  for (const [path, method, target, body] of [
    ['/pets/2', 'PATCH', '/pets/2', { name: 'Smaug', status: 'pending' }],
    ['/pets/2', 'PUT', '/pets/2', { name: 'Fafnir', categoryId: 2 }],
    ['/pets?id=2', 'PATCH', '/pets/2', { name: 'Ladon' }],
    ['/pets?limit=5', 'PATCH', '/pets/3', { name: 'Ladon' }],
    ['/pets?id=2&id=5', 'PATCH', '/pets/5', { name: 'Ladon' }],
    ['/categories/1', 'PUT', '/categories/1', { name: 'Dragons' }],
    ['/inventory/2', 'PATCH', '/inventory/2', { quantity: 0 }],
    ['/inventory', 'PATCH', '/inventory/2', { quantity: 3 }],
    ['/inventory/1', 'POST', '/store/orders', { petId: 1, quantity: 1 }],
    // The date is removed and set again, at its place among the properties.
    [order, 'PATCH', order, { shipDate: null }],
    [order, 'PATCH', order, { quantity: 2 }],
    [order, 'PATCH', order, { complete: true }],
    [pet, 'DELETE', pet],
  ] as const) {
    const before = await store.call('GET', path);
    const changed = await store.call(method, target, { body });
    assert.ok(changed.status < 300, changed.text);
    const after = await store.call('GET', path);
    assert.notDeepEqual(shownOf(after), shownOf(before), path);
    const rehearsal = await rehearse(store, ['stale-read']);
    const stale = await store.call('GET', path);
    assertTouched(stale, rehearsal, 'stale-read');
    assert.deepEqual(shownOf(stale), shownOf(before), path);
    const again = await store.call('GET', path);
    assertUntouched(again);
    assert.deepEqual(shownOf(again), shownOf(after), path);
    assert.deepEqual(await performedOf(store, rehearsal.id), [1]);
    await endRehearsal(store, rehearsal.id);
  }
});

test('a stale read honours If-None-Match, and its ETag cannot be used for a change', async (t) => {
  const store = await startPetstore(t);
  const { headers } = await store.call('GET', '/pets/2');
  const etag = headers.etag as string;
  await store.call('PATCH', '/pets/2', { body: { name: 'Smaug' } });
  await rehearse(store, [{ fault: 'stale-read', times: 2 }]);
  const unchanged = await store.call('GET', '/pets/2', { headers: { 'if-none-match': etag } });
  assert.deepEqual([unchanged.status, unchanged.headers.etag], [304, etag]);
  const stale = await store.call('GET', '/pets/2');
  const written = await store.call('PATCH', '/pets/2', {
    body: { name: `${stale.body.name} the Golden` },
    headers: { 'if-match': stale.headers.etag as string },
  });
  assert.equal(written.status, 412);
});

test('stale-read waits for a read of a changed resource', async (t) => {
  const store = await startPetstore(t);
  const { id } = await rehearse(store, ['stale-read']);
  const { body } = await store.call('POST', '/pets', { body: { name: 'Smaug', categoryId: 1 } });
  // Created, never changed, filtered, missing, seeded: the responses are current.
  await store.call('PATCH', '/pets/3', { body: { name: 'Ladon' } });
  await store.call('DELETE', `/pets/${body.id}`);
  const order = await store.call('POST', '/store/orders', { body: { petId: 5 } });
  for (const path of [
    `/store/orders/${order.body.id}`,
    '/pets/1',
    '/pets?status=available',
    '/pets/999',
    '/pets?id=1',
    `/inventory/${body.id}`,
    '/store/webhooks',
  ])
    assertUntouched(await store.call('GET', path));
  assert.deepEqual(await performedOf(store, id), [0]);
  assert.equal((await store.call('GET', '/pets/3')).body.name, 'Luna');
});

test('stale-read shows nothing from before a reset', async (t) => {
  const store = await startPetstore(t);
  await store.call('PATCH', '/pets/1', { body: { name: 'Smaug' } });
  await store.call('PATCH', '/pets/1', { body: { name: 'Bella' } });
  const { body } = await store.call('POST', '/pets', { body: { name: 'Ladon', categoryId: 1 } });
  await store.call('DELETE', `/pets/${body.id}`);
  assert.equal((await store.send('POST', '/lab/workspace/reset')).status, 200);
  await rehearse(store, [{ fault: 'stale-read', times: 9 }]);
  for (const path of ['/pets/1', '/pets', `/pets/${body.id}`]) assertUntouched(await store.call('GET', path));
});

test('stale-read shows the ids of large-ids', async (t) => {
  const store = await startPetstore(t);
  await store.call('PATCH', '/pets/2', { body: { name: 'Smaug' } });
  const rehearsal = await rehearse(store, ['large-ids', 'stale-read']);
  const stale = await store.call('GET', '/pets/2');
  assertTouched(stale, rehearsal, 'large-ids', 'stale-read');
  assert.match(stale.text, /"id":10000000000000005,"name":"Rex"/);
});
