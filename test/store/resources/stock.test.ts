import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fetchChecked, startPetstore } from '../../support/petstore.ts';

test('64 clients place 1,000 orders on a stock of 100: exactly 100 are accepted', async (t) => {
  const store = await startPetstore(t);
  const origin = await store.listen();
  await store.call('PATCH', '/inventory/1', { body: { quantity: 100 } });
  let left = 1000;
  const statuses: number[] = [];
  const stocks: number[] = [];
  const client = async () => {
    while (left-- > 0) {
      const answer = await fetchChecked(origin, 'POST', '/store/orders', {
        key: store.key,
        body: { petId: 1 },
      });
      statuses.push(answer.status);
      if (answer.status === 409) assert.equal(answer.body.code, 'insufficient_stock');
      if (statuses.length % 50 === 0) {
        stocks.push((await fetchChecked(origin, 'GET', '/inventory/1', { key: store.key })).body.quantity);
      }
    }
  };
  await Promise.all(Array.from({ length: 64 }, client));
  assert.equal(statuses.length, 1000);
  assert.equal(statuses.filter((status) => status === 201).length, 100);
  assert.equal(statuses.filter((status) => status === 409).length, 900);
  assert.ok(stocks.every((stock, i) => stock >= 0 && stock <= (stocks[i - 1] ?? 100)));
  assert.deepEqual((await store.call('GET', '/inventory/1')).body, {
    petId: 1,
    quantity: 0,
    status: 'pending',
  });
});

test('orders that are created and cancelled concurrently leave the stock unchanged', async (t) => {
  const store = await startPetstore(t);
  const origin = await store.listen();
  const client = async () => {
    for (let i = 0; i < 5; i++) {
      const { body } = await fetchChecked(origin, 'POST', '/store/orders', {
        key: store.key,
        body: { petId: 13, quantity: 2 },
      });
      await fetchChecked(origin, 'PATCH', `/store/orders/${body.id}`, {
        key: store.key,
        body: { quantity: 1 },
      });
      await fetchChecked(origin, 'DELETE', `/store/orders/${body.id}`, { key: store.key });
    }
  };
  const before = await store.call('GET', '/inventory/13');
  await Promise.all(Array.from({ length: 8 }, client));
  assert.deepEqual((await store.call('GET', '/inventory/13')).body, before.body);
});
