// docs/from-code.md says how to install it.
import { startPetstore } from 'petstore-lab';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Shop } from './shop.js';

let store;
let shop;

beforeAll(async () => {
  store = await startPetstore({ plan: 'free' });
  shop = new Shop(store);
});
beforeEach(() => store.reset());
afterAll(() => store.stop());

test('an order takes from the stock', async () => {
  expect(await shop.order(1, 2)).toMatchObject({ id: 9, status: 201 });
  expect(await shop.stock(1)).toBe(2);
});

test('the client waits for a used-up limit, without real waiting', async () => {
  for (let i = 0; i < 60; i++) await shop.stock(1);
  const waitsMs = [];
  const order = await shop.order(1, 1, async (ms) => {
    waitsMs.push(ms);
    await store.clock.advance(ms);
  });
  expect(order.status).toBe(201);
  expect(waitsMs).toHaveLength(1);
});

test('the client passes its report card', async () => {
  const recording = await store.record();
  await store.rehearse([{ fault: 'rate-limited', retryAfterSeconds: 30 }]);
  await shop.order(1, 1, (ms) => store.clock.advance(ms));
  expect(await recording.report()).toMatchObject({ verdict: 'passed' });
});
