import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createPetstore } from '../../src/client/index.ts';
import { performedOf, rehearse } from '../support/lab.ts';
import { answer, refusal, startScripted } from '../support/scripted-server.ts';
import { numbers } from '../support/values.ts';
import { startReal } from './real-store.ts';

async function start(t: TestContext) {
  const { access, ...real } = await startReal(t);
  return { ...real, petstore: createPetstore(access) };
}

/** A change that adds a mark to a name. */
const marked = ({ name }: { name: string }) => ({ name: `${name}!` });

test("a change runs again after somebody else's change, and keeps that change", async (t) => {
  const { store, petstore } = await start(t);
  await rehearse(store, [{ fault: 'conflict', times: 3 }]);
  const seen: string[] = [];
  const pet = await petstore.changePet(1, ({ name }) => {
    seen.push(name);
    return { name: `${name}!` };
  });
  assert.equal(pet.name, 'Bella (another writer 3)!');
  const other = 'Bella (another writer';
  assert.deepEqual(seen, ['Bella', `${other})`, `${other} 2)`, `${other} 3)`]);
  assert.equal((await petstore.changeCategory(1, marked)).name, 'Dogs (another writer 3)!');
});

test('it gives up when others keep changing the same resource', async (t) => {
  const { store, petstore } = await start(t);
  await rehearse(store, [{ fault: 'conflict', times: 100 }]);
  let decisions = 0;
  const change = petstore.changePet(1, () => ({ name: `Bella ${++decisions}` }));
  await assert.rejects(change, { code: 'precondition_failed' });
  assert.equal(decisions, 10);
});

test('nothing is sent if there is no change or no resource', async (t) => {
  const { petstore, calls } = await start(t);
  assert.equal((await petstore.changePet(1, () => undefined)).name, 'Bella');
  await assert.rejects(
    petstore.changePet(999, () => ({ name: 'Nobody' })),
    { code: 'not_found', status: 404 },
  );
  assert.deepEqual(new Set(calls), new Set(['GET /v1/pets']));
});

test('a change that was based on a stale read runs again', async (t) => {
  const order = { id: 9, quantity: 1, complete: false };
  const { store, got } = await startScripted(t, [
    answer(200, order, { etag: '"old"' }),
    refusal(412, 'precondition_failed'),
    // The history has no change with this request id.
    answer(200, [], { 'last-event-id': '4' }),
    answer(200, []),
    answer(200, { ...order, quantity: 2 }, { etag: '"new"' }),
    answer(200, { ...order, quantity: 3 }),
  ]);
  const changed = await store.changeOrder(9, ({ quantity = 0 }) => ({ quantity: quantity + 1 }));
  assert.equal(changed.quantity, 3);
  assert.deepEqual([got.at(-1)?.headers['if-match'], got.at(-1)?.body], ['"new"', '{"quantity":3}']);
});

test('a change whose response was lost is found in the history, and made once', async (t) => {
  const { store, petstore } = await start(t);
  const { id } = await rehearse(store, ['lost-answer', 'truncated']);
  const oneMore = ({ quantity = 0 }) => ({ quantity: quantity + 1 });
  assert.equal((await petstore.changePet(1, marked)).name, 'Bella!');
  const { quantity: before } = await petstore.getInventory(1);
  assert.equal((await petstore.changeInventory(1, oneMore)).quantity, before + 1);
  assert.equal((await petstore.changeCategory(1, marked)).name, 'Dogs!');
  const order = await petstore.placeOrder({ petId: 1 });
  assert.equal((await petstore.changeOrder(order.id, oneMore)).quantity, 2);
  assert.equal((await petstore.findPet(1))?.name, 'Bella!');
  assert.equal((await petstore.getInventory(1)).quantity, before - 1);
  // Both faults affected all reads and changes above that they fit.
  for (const performed of await performedOf(store, id)) assert.ok(performed >= 7);
});

test('a fulfilment whose response was lost is not refused because the order is complete', async (t) => {
  const { store, petstore } = await start(t);
  const order = await petstore.placeOrder({ petId: 1 });
  await rehearse(store, [{ fault: 'lost-answer', operation: 'updateOrder' }]);
  assert.equal((await petstore.updateOrder(order.id, { complete: true })).complete, true);
  await assert.rejects(petstore.updateOrder(order.id, { quantity: 5 }), {
    code: 'order_complete',
    mayBeDone: false,
  });
});

test("an equal change of somebody else does not count as the client's own", async (t) => {
  const { store, petstore, calls } = await start(t);
  const pet = await petstore.findPet(1);
  // The first attempt does not arrive, and meanwhile the other one makes the change.
  await rehearse(store, [
    { fault: 'reset', operation: 'updatePet' },
    { fault: 'conflict', operation: 'updatePet' },
  ]);
  const change = petstore.updatePet(1, { name: 'Bella (another writer)' }, { ifMatch: pet as object });
  await assert.rejects(change, { code: 'precondition_failed', mayBeDone: true });
  assert.ok(calls.includes('HEAD /v1/store/events/stream'));
});

test("with a caller's request id a lost change is an error, since other requests may have the same id", async (t) => {
  const { store, petstore } = await start(t);
  const pet = await petstore.findPet(1);
  await rehearse(store, [{ fault: 'lost-answer', operation: 'updatePet' }]);
  const options = { ifMatch: pet as object, requestId: 'job-1' };
  await assert.rejects(petstore.updatePet(1, { name: 'Bella!' }, options), {
    code: 'precondition_failed',
    mayBeDone: true,
  });
});

test('it also finds its change in a long history', async (t) => {
  const { store, petstore } = await start(t);
  for (let round = 0; round < 30; round++)
    await Promise.all(numbers(40).map((i) => petstore.updateInventory(2, { quantity: round * 40 + i })));
  const lost = { fault: 'lost-answer', operation: 'updatePet' };
  await rehearse(store, [lost]);
  assert.equal((await petstore.changePet(1, marked)).name, 'Bella!');
  await rehearse(store, ['large-ids', lost]);
  const [pet] = await Array.fromAsync(petstore.listPets({ limit: 1 }));
  assert.equal((await petstore.changePet(pet?.id ?? 0, marked)).name, 'Bella!!');
});

test('a removal that the platform sent twice succeeds, one of an unknown resource does not', async (t) => {
  const { access } = await startReal(t);
  // Browsers, Deno and Bun do this after a reset.
  const twice: typeof globalThis.fetch = async (url, init) => {
    await (await fetch(url, init)).text();
    return fetch(url, init);
  };
  const petstore = createPetstore({ ...access, fetch: twice });
  const category = await petstore.createCategory({ name: 'Dragons' });
  assert.equal((await petstore.changeCategory(category.id, marked)).name, 'Dragons!');
  assert.equal(await petstore.deleteCategory(category.id), undefined);
  await assert.rejects(petstore.deleteCategory(category.id), { code: 'not_found' });
  const { id } = await petstore.placeOrder({});
  assert.equal(await petstore.cancelOrder(id), undefined);
});
