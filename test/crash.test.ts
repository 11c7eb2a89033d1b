import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fetchChecked, type JsonAnswer } from './support/petstore.ts';
import { ampleKey, type Service, startService } from './support/service.ts';
import { temporaryStorage } from './support/storage.ts';

test('an answered write survives kill -9 at once after the answer', async (t) => {
  const folder = await temporaryStorage(t);
  for (let round = 0; round < 3; round++) {
    const service = await startService(t, folder);
    const key = ampleKey(folder);
    const body = { name: `Phoenix ${round}`, categoryId: 3 };
    const created = await fetchChecked(service.origin, 'POST', '/pets', { key, body });
    await service.stop('SIGKILL');
    const restarted = await startService(t, folder);
    const found = await fetchChecked(restarted.origin, 'GET', `/pets/${created.body.id}`, { key });
    assert.deepEqual(found.body, created.body);
    await restarted.stop('SIGKILL');
  }
});

test('kill -9 under load: what was answered is there, what was not is wholly there or wholly absent', async (t) => {
  const folder = await temporaryStorage(t);
  const service = await startService(t, folder, { LOG_LEVEL: 'warn' });
  const key = ampleKey(folder);
  const stockBefore = (await fetchChecked(service.origin, 'GET', '/inventory/13', { key })).body.quantity;
  await fetchChecked(service.origin, 'PATCH', '/inventory/13', { key, body: { quantity: 1_000_000 } });
  assert.equal(stockBefore, 28);

  const answered: JsonAnswer[] = [];
  const client = async () => {
    for (;;) {
      const answer = await fetchChecked(service.origin, 'POST', '/store/orders', {
        key,
        body: { petId: 13, quantity: 2 },
      });
      assert.equal(answer.status, 201);
      answered.push(answer);
    }
  };
  const clients = Array.from({ length: 32 }, () => client().catch(onlyDisconnected));
  while (answered.length < 200) await new Promise((resolve) => setTimeout(resolve, 5));
  await service.stop('SIGKILL');
  await Promise.all(clients);

  const restarted = await startService(t, folder, { LOG_LEVEL: 'warn' });
  const orders = await allOrders(restarted, key);
  for (const { body } of answered) assert.deepEqual(orders.get(body.id), body);
  // Each order stands with its units gone from stock, or not at all.
  const held = [...orders.values()].filter((order) => order.id > 8).length * 2;
  const stock = (await fetchChecked(restarted.origin, 'GET', '/inventory/13', { key })).body.quantity;
  assert.equal(stock, 1_000_000 - held);
});

function onlyDisconnected(error: Error): void {
  if (!(error instanceof TypeError)) throw error;
}

interface StoredOrder {
  id: number;
}

async function allOrders({ origin }: Service, key: string): Promise<Map<number, StoredOrder>> {
  const orders = new Map<number, StoredOrder>();
  for (let path: string | undefined = '/store/orders?petId=13&limit=100'; path; ) {
    const page: JsonAnswer = await fetchChecked(origin, 'GET', path, { key });
    for (const order of page.body) orders.set(order.id, order);
    path = /\/v1(\S+)>; rel="next"/.exec(page.headers.link ?? '')?.[1];
  }
  return orders;
}
