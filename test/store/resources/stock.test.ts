import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fetchChecked, type JsonAnswer, startPetstore } from '../../support/petstore.ts';
import { statusesOf } from '../../support/values.ts';

/** A listening store, and its requests over real sockets. */
async function start(t: TestContext) {
  const store = await startPetstore(t);
  const origin = await store.listen();
  return (method: string, path: string, body?: object) =>
    fetchChecked(origin, method, path, { key: store.key, body });
}

test('64 clients place 1,000 orders on a stock of 100: exactly 100 are accepted', async (t) => {
  const call = await start(t);
  await call('PATCH', '/inventory/1', { quantity: 100 });
  let left = 1000;
  const answers: JsonAnswer[] = [];
  const stocks: number[] = [];
  const client = async () => {
    while (left-- > 0) {
      answers.push(await call('POST', '/store/orders', { petId: 1 }));
      if (answers.length % 50 === 0) stocks.push((await call('GET', '/inventory/1')).body.quantity);
    }
  };
  await Promise.all(Array.from({ length: 64 }, client));
  assert.deepEqual(statusesOf(answers).sort(), [...Array(100).fill(201), ...Array(900).fill(409)]);
  assert.ok(answers.every(({ status, body }) => status === 201 || body.code === 'insufficient_stock'));
  assert.ok(stocks.every((stock, i) => stock >= 0 && stock <= (stocks[i - 1] ?? 100)));
  const { body: item } = await call('GET', '/inventory/1');
  assert.deepEqual(item, { petId: 1, quantity: 0, status: 'pending' });
});

test('orders that are created and cancelled concurrently leave the stock unchanged', async (t) => {
  const call = await start(t);
  const client = async () => {
    for (let i = 0; i < 5; i++) {
      const { body } = await call('POST', '/store/orders', { petId: 13, quantity: 2 });
      await call('PATCH', `/store/orders/${body.id}`, { quantity: 1 });
      await call('DELETE', `/store/orders/${body.id}`);
    }
  };
  const before = await call('GET', '/inventory/13');
  await Promise.all(Array.from({ length: 8 }, client));
  assert.deepEqual((await call('GET', '/inventory/13')).body, before.body);
});
