import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Petstore, startPetstore } from '../../support/petstore.ts';

/** The stock of a pet, and the status that the pet and its inventory entry share. */
const stockOf = async (store: Petstore, petId: number) => {
  const { quantity, status } = (await store.call('GET', `/inventory/${petId}`)).body;
  assert.equal((await store.call('GET', `/pets/${petId}`)).body.status, status);
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

type Step = [method: string, path: string, body: object | undefined, code: number | string, stock: unknown[]];

/** A pet, and requests. Each has the status or the error code of its response, and the stock afterwards. A new order has the id 9. */
const stocks: [guarantee: string, petId: number, ...steps: Step[]][] = [
  [
    'an order takes its units from stock, one by default',
    1,
    ['POST', '/store/orders', { petId: 1, quantity: 2 }, 201, [2, 'available']],
    ['POST', '/store/orders', { petId: 1 }, 201, [1, 'available']],
  ],
  [
    'an order for more than the stock changes nothing',
    2,
    ['POST', '/store/orders', { petId: 2, quantity: 3 }, 'insufficient_stock', [2, 'available']],
    ['GET', '/store/orders/9', undefined, 'not_found', [2, 'available']],
  ],
  [
    'stock sets the status: available above 0, pending while orders are open, then sold',
    2,
    ['POST', '/store/orders', { petId: 2, quantity: 2 }, 201, [0, 'pending']],
    ['PATCH', '/store/orders/9', { quantity: 1 }, 200, [1, 'available']],
    ['PATCH', '/store/orders/9', { quantity: 2, complete: true }, 200, [0, 'sold']],
    ['PATCH', '/inventory/2', { quantity: 5 }, 200, [5, 'available']],
  ],
  [
    'a larger quantity takes only the difference from stock',
    2,
    ['POST', '/store/orders', { petId: 2 }, 201, [1, 'available']],
    ['PATCH', '/store/orders/9', { quantity: 3 }, 'insufficient_stock', [1, 'available']],
    ['PATCH', '/store/orders/9', { quantity: 2 }, 200, [0, 'pending']],
  ],
  [
    'a cancelled order returns its units',
    3,
    ['GET', '/store/orders/2', undefined, 200, [0, 'pending']],
    ['DELETE', '/store/orders/2', undefined, 204, [1, 'available']],
    ['GET', '/store/orders/2', undefined, 'not_found', [1, 'available']],
  ],
  [
    'units cannot return to a stock that would exceed its maximum',
    10,
    ['PATCH', '/inventory/10', { quantity: 2147483647 }, 200, [2147483647, 'available']],
    ['DELETE', '/store/orders/5', undefined, 'conflict', [2147483647, 'available']],
  ],
  [
    'an order placed as complete is sold at once',
    7,
    ['POST', '/store/orders', { petId: 7, complete: true }, 201, [0, 'sold']],
  ],
  [
    'a pet and its inventory entry share one status',
    1,
    ['PATCH', '/pets/1', { status: 'pending' }, 200, [4, 'pending']],
    ['PATCH', '/inventory/1', { quantity: 0 }, 200, [0, 'sold']],
  ],
];

for (const [guarantee, petId, ...steps] of stocks) {
  test(guarantee, async (t) => {
    const store = await startPetstore(t);
    for (const [method, path, body, expected, stock] of steps) {
      const answer = await store.call(method, path, { body });
      assert.equal(typeof expected === 'number' ? answer.status : answer.body.code, expected, answer.text);
      assert.deepEqual(await stockOf(store, petId), stock, `${method} ${path}`);
    }
  });
}

test('a complete order cannot be changed or cancelled; equal values return any order unchanged, without an event', async (t) => {
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
  const changes = [
    { shipDate: null },
    { quantity: null },
    { petId: 2 },
    { quantity: 3 },
    { complete: false },
  ];
  for (const body of [...changes, { complete: true, quantity: 3 }])
    assert.equal((await store.call('PATCH', path, { body })).body.code, 'order_complete');
  assert.equal((await store.call('DELETE', path)).body.code, 'order_complete');
  assert.equal((await store.call('PATCH', '/store/orders/2', { body: {} })).status, 200);
  assert.equal(await store.content(), before);
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
  const nulls = { id: 'x', quantity: null, complete: null };
  const { body } = await store.call('PATCH', '/store/orders/3', { body: nulls });
  assert.deepEqual([body.id, body.quantity, body.complete], [3, 1, false]);
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
    const path = `/store/orders/${placed.body.id}`;
    const { body } = await store.call('PATCH', path, { body: { shipDate: null } });
    assert.ok(!('shipDate' in body));
  }
});
