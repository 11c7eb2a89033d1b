import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Petstore, startPetstore } from '../../support/petstore.ts';

const stockOf = async (store: Petstore, petId: number) => {
  const { quantity, status } = (await store.call('GET', `/inventory/${petId}`)).body;
  return [quantity, status];
};

test('an order may be empty', async (t) => {
  const store = await startPetstore(t);
  const placed = await store.call('POST', '/store/orders', { body: {} });
  assert.equal(placed.status, 201);
  assert.deepEqual(placed.body, { id: 9, quantity: 1, complete: false });
  assert.equal(placed.headers.location, 'http://localhost:8080/v1/store/orders/9');
  assert.deepEqual((await store.call('GET', '/store/orders/9')).body, placed.body);
});

test('an order takes its units from stock, one by default', async (t) => {
  const store = await startPetstore(t);
  await store.call('POST', '/store/orders', { body: { petId: 1, quantity: 2 } });
  assert.deepEqual(await stockOf(store, 1), [2, 'available']);
  await store.call('POST', '/store/orders', { body: { petId: 1 } });
  assert.deepEqual(await stockOf(store, 1), [1, 'available']);
});

test('an order for more than the stock changes nothing', async (t) => {
  const store = await startPetstore(t);
  const refused = await store.call('POST', '/store/orders', { body: { petId: 2, quantity: 3 } });
  assert.equal(refused.status, 409);
  assert.equal(refused.body.code, 'insufficient_stock');
  assert.deepEqual(await stockOf(store, 2), [2, 'available']);
  assert.equal((await store.call('GET', '/store/orders/9')).status, 404);
});

test('stock sets the status: available above 0, pending while orders are open, then sold', async (t) => {
  const store = await startPetstore(t);
  const { id } = (await store.call('POST', '/store/orders', { body: { petId: 2, quantity: 2 } })).body;
  assert.deepEqual(await stockOf(store, 2), [0, 'pending']);
  assert.equal((await store.call('GET', '/pets/2')).body.status, 'pending');
  await store.call('PATCH', `/store/orders/${id}`, { body: { quantity: 1 } });
  assert.deepEqual(await stockOf(store, 2), [1, 'available']);
  await store.call('PATCH', `/store/orders/${id}`, { body: { quantity: 2, complete: true } });
  assert.deepEqual(await stockOf(store, 2), [0, 'sold']);
  await store.call('PATCH', '/inventory/2', { body: { quantity: 5 } });
  assert.deepEqual(await stockOf(store, 2), [5, 'available']);
});

test('a larger quantity takes only the difference from stock', async (t) => {
  const store = await startPetstore(t);
  const { id } = (await store.call('POST', '/store/orders', { body: { petId: 2 } })).body;
  const refused = await store.call('PATCH', `/store/orders/${id}`, { body: { quantity: 3 } });
  assert.equal(refused.body.code, 'insufficient_stock');
  assert.deepEqual(await stockOf(store, 2), [1, 'available']);
  assert.equal((await store.call('GET', `/store/orders/${id}`)).body.quantity, 1);
});

test('a cancelled order returns its units', async (t) => {
  const store = await startPetstore(t);
  assert.deepEqual(await stockOf(store, 3), [0, 'pending']);
  assert.equal((await store.call('DELETE', '/store/orders/2')).status, 204);
  assert.deepEqual(await stockOf(store, 3), [1, 'available']);
  assert.equal((await store.call('GET', '/store/orders/2')).status, 404);
});

test('a complete order cannot be changed', async (t) => {
  const store = await startPetstore(t);
  const before = await store.content();
  for (const body of [{ quantity: 2 }, { complete: false }, { complete: true, quantity: 2 }, { petId: 2 }]) {
    assert.equal((await store.call('PATCH', '/store/orders/1', { body })).body.code, 'order_complete');
  }
  assert.equal((await store.call('DELETE', '/store/orders/1')).body.code, 'order_complete');
  assert.equal(await store.content(), before);
});

test('a change to equal values returns the order unchanged, complete or not, and gives no event', async (t) => {
  const store = await startPetstore(t);
  const { body: open } = await store.call('POST', '/store/orders', {
    body: { petId: 1, quantity: 2, shipDate: '2026-12-24T13:00:00+01:00' },
  });
  const path = `/store/orders/${open.id}`;
  await store.call('PATCH', path, { body: { complete: true } });
  const { body: complete, headers } = await store.call('GET', path);
  const before = await store.content();
  for (const body of [
    { complete: true },
    {},
    { petId: 1, quantity: 2, complete: true },
    { shipDate: '2026-12-24T12:00:00Z' },
    { shipDate: '2026-12-24T13:00:00+01:00' },
  ]) {
    for (const conditions of [{}, { 'if-match': headers.etag as string }]) {
      const again = await store.call('PATCH', path, { body, headers: conditions });
      assert.deepEqual([again.status, again.body], [200, complete]);
      assert.equal(again.headers.etag, headers.etag);
    }
    const stale = await store.call('PATCH', path, { body, headers: { 'if-match': '"other"' } });
    assert.equal(stale.body.code, 'precondition_failed');
  }
  for (const body of [{ shipDate: null }, { quantity: null }, { petId: 2 }])
    assert.equal((await store.call('PATCH', path, { body })).body.code, 'order_complete');
  assert.equal((await store.call('PATCH', '/store/orders/2', { body: {} })).status, 200);
  assert.equal(await store.content(), before);
});

test('an order placed as complete is sold at once', async (t) => {
  const store = await startPetstore(t);
  const placed = await store.call('POST', '/store/orders', { body: { petId: 7, complete: true } });
  assert.equal(placed.body.complete, true);
  assert.deepEqual(await stockOf(store, 7), [0, 'sold']);
});

test('the pet of an order cannot change, but a request may repeat it', async (t) => {
  const store = await startPetstore(t);
  for (const petId of [2, null]) {
    const refused = await store.call('PATCH', '/store/orders/5', { body: { petId } });
    assert.equal(refused.body.code, 'invalid_request');
    assert.match(refused.body.message, /petId/);
  }
  const order = (await store.call('GET', '/store/orders/5')).body;
  const same = await store.call('PATCH', '/store/orders/5', { body: order });
  assert.deepEqual(same.body, order);
});

test('an id in a patch is ignored, and null resets a field to its default', async (t) => {
  const store = await startPetstore(t);
  const patched = await store.call('PATCH', '/store/orders/3', {
    body: { id: 'x', quantity: null, complete: null },
  });
  assert.deepEqual([patched.body.id, patched.body.quantity, patched.body.complete], [3, 1, false]);
  assert.deepEqual(await stockOf(store, 13), [39, 'available']);
});

test('a ship date is returned as the same instant in UTC, and null removes it', async (t) => {
  const store = await startPetstore(t);
  const cases = [
    ['2026-03-01T00:30:00+01:00', '2026-02-28T23:30:00Z'],
    ['2026-03-01t12:00:00.123456789z', '2026-03-01T12:00:00.123456789Z'],
    ['2026-03-01T12:00:00.500Z', '2026-03-01T12:00:00.5Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['2024-02-29T12:00:00-00:00', '2024-02-29T12:00:00Z'],
  ];
  for (const [shipDate, expected] of cases) {
    const placed = await store.call('POST', '/store/orders', { body: { shipDate } });
    assert.equal(placed.body.shipDate, expected);
    const cleared = await store.call('PATCH', `/store/orders/${placed.body.id}`, {
      body: { shipDate: null },
    });
    assert.ok(!('shipDate' in cleared.body));
  }
});

test('units cannot return to a stock that would exceed its maximum', async (t) => {
  const store = await startPetstore(t);
  await store.call('PATCH', '/inventory/10', { body: { quantity: 2147483647 } });
  const refused = await store.call('DELETE', '/store/orders/5');
  assert.equal(refused.body.code, 'conflict');
  assert.deepEqual(await stockOf(store, 10), [2147483647, 'available']);
});
