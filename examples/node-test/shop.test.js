import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
// docs/from-code.md says how to install it.
import { startPetstore } from 'petstore-lab';
import { Shop } from './shop.js';

let store;
let shop;

before(async () => {
  store = await startPetstore({ plan: 'free' });
  shop = new Shop(store);
});
beforeEach(() => store.reset());
after(() => store.stop());

test('an order takes from the stock', async () => {
  const { id, status } = await shop.order(1, 2);
  assert.deepEqual({ id, status }, { id: 9, status: 201 });
  assert.equal(await shop.stock(1), 2);
});

test('an order whose response is lost is placed once', async () => {
  await store.rehearse([{ fault: 'lost-answer', operation: 'placeOrder' }]);
  const { id, status } = await shop.order(1, 2, () => {});
  assert.deepEqual({ id, status }, { id: 9, status: 201 });
  assert.equal(await shop.stock(1), 2);
});

test('the client waits for a used-up limit, without real waiting', async () => {
  for (let i = 0; i < 60; i++) await shop.stock(1);
  const waitsMs = [];
  const { status } = await shop.order(1, 1, async (ms) => {
    waitsMs.push(ms);
    await store.clock.advance(ms);
  });
  assert.equal(status, 201);
  assert.equal(waitsMs.length, 1);
  assert.ok(waitsMs[0] <= 60_000);
});

test('the client passes its report card', async () => {
  const recording = await store.record();
  const rehearsal = await store.rehearse([{ fault: 'rate-limited', retryAfterSeconds: 30 }]);
  await shop.order(1, 1, (ms) => store.clock.advance(ms));
  assert.equal(await rehearsal.performed('rate-limited'), 1);
  const { verdict, checks } = await recording.report();
  assert.equal(verdict, 'passed', JSON.stringify(checks.filter(({ result }) => result === 'failed')));
});
