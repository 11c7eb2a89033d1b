import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventTypes } from '../../../src/store/webhooks/schema.ts';
import { addCategory } from '../../support/dispatching.ts';
import { isOfStore, readEvents } from '../../support/history.ts';
import { proveHistories } from '../../support/history-proof.ts';
import { type CallOptions, type JsonAnswer, type Petstore, startPetstore } from '../../support/petstore.ts';
import { testDatabaseUrl } from '../../support/storage.ts';
import { idsOf, numbers } from '../../support/values.ts';

/** Enough for most types of events. `npm run proof -- history` makes more, with other seeds. */
const histories = 15;
const seed = 20_261_121;

test('each change that a GET shows has one event, and the events add up to the lists', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const missing = new Set(eventTypes.filter(isOfStore));
  // More resources need more histories until each event has occurred.
  for (let round = 0; missing.size > 0 && round < 5; round++)
    for (const type of (await proveHistories(store, histories, seed + round)).keys()) missing.delete(type);
  assert.deepEqual([...missing], []);
});

/** Starts with a category and a pet with one unit in stock. */
async function start(t: TestContext) {
  const store = await startPetstore(t, { seed: false });
  await addCategory(store);
  await store.call('POST', '/pets', { body: { name: 'Smaug', categoryId: 1 } });
  const events = () => readEvents((path) => store.call('GET', path));
  let position = 2;
  /** Sends a request, and returns each new event as its type and, for an update, its previous values. */
  const eventsOf = async (method: string, path: string, options: CallOptions = {}, status?: number) => {
    const answer = await store.call(method, path, options);
    assert.equal(answer.status < 400 ? undefined : answer.status, status, answer.text);
    const made = (await events()).slice(position);
    position += made.length;
    return made.map(({ type, previous }) => (previous ? [type, previous] : [type]));
  };
  const orders = (body: object, headers: Record<string, string> = {}) =>
    eventsOf('POST', '/store/orders', { body, headers });
  return { store, events, eventsOf, orders };
}

/** The events of a stock whose change also changes the status, with the previous values. */
const itemAndPet = (status: string, quantity: object = {}) => [
  ['inventory.updated', { ...quantity, status }],
  ['pet.updated', { status }],
];
const soldOut = itemAndPet('available', { quantity: 1 });

test('an order for the last unit gives its own event first, then that of the stock, then that of the pet', async (t) => {
  const { orders, events } = await start(t);
  assert.deepEqual(await orders({ petId: 1 }), [['order.placed'], ...soldOut]);
  const [, , placed, item, pet] = await events();
  assert.deepEqual(placed?.data, { id: 1, petId: 1, quantity: 1, complete: false });
  assert.deepEqual(item?.data, { petId: 1, quantity: 0, status: 'pending' });
  assert.deepEqual(pet?.data, { id: 1, name: 'Smaug', categoryId: 1, status: 'pending' });
});

const shipDate = '2026-12-24T12:00:00Z';

type Sent = [method: string, path: string, body: object | undefined, ...events: unknown[][]];

/** Requests one after the other, each with its events. */
const changes: [guarantee: string, ...requests: Sent[]][] = [
  [
    'an order that leaves stock changes no status, and one without a pet changes no stock',
    ['PATCH', '/inventory/1', { quantity: 5 }, ['inventory.updated', { quantity: 1 }]],
    ['POST', '/store/orders', { petId: 1 }, ['order.placed'], ['inventory.updated', { quantity: 5 }]],
    ['POST', '/store/orders', {}, ['order.placed']],
    ['PATCH', '/store/orders/2', { complete: true }, ['order.completed']],
  ],
  [
    'an order that is created complete gives order.placed, and not order.completed',
    ['POST', '/store/orders', { petId: 1, complete: true }, ['order.placed'], ...soldOut],
  ],
  [
    'fulfilling an order gives order.completed, whatever else changes with it',
    ['PATCH', '/inventory/1', { quantity: 2 }, ['inventory.updated', { quantity: 1 }]],
    ['POST', '/store/orders', { petId: 1 }, ['order.placed'], ['inventory.updated', { quantity: 2 }]],
    ['PATCH', '/store/orders/1', { quantity: 2, shipDate, complete: true }, ['order.completed'], ...soldOut],
  ],
  [
    'completing the last open order of a pet without stock makes it sold, and cancelling makes it available',
    ['POST', '/store/orders', { petId: 1 }, ['order.placed'], ...soldOut],
    ['DELETE', '/store/orders/1', undefined, ['order.cancelled'], ...itemAndPet('pending', { quantity: 0 })],
    ['POST', '/store/orders', { petId: 1 }, ['order.placed'], ...soldOut],
    ['PATCH', '/store/orders/2', { complete: true }, ['order.completed'], ...itemAndPet('pending')],
    // Its completed order stays as it is.
    ['DELETE', '/pets/1', undefined, ['pet.deleted']],
  ],
  [
    'a new status gives an event of the pet and one of its stock, first that of the one in the request',
    ['PATCH', '/pets/1', { status: 'pending' }, ...itemAndPet('available').reverse()],
    ['PATCH', '/inventory/1', { quantity: 1 }, ...itemAndPet('pending')],
  ],
  [
    'a pet that moves to another category changes neither category nor stock',
    ['POST', '/categories', { name: 'Worms' }, ['category.created']],
    ['PATCH', '/pets/1', { categoryId: 2 }, ['pet.updated', { categoryId: 1 }]],
    ['DELETE', '/categories/1', undefined, ['category.deleted']],
  ],
  [
    'previous shows null for a property that was absent',
    [
      'PUT',
      '/categories/1',
      { name: 'Dragons', description: '' },
      ['category.updated', { description: null }],
    ],
    ['PUT', '/categories/1', { name: 'Dragons' }, ['category.updated', { description: '' }]],
    ['POST', '/store/orders', { shipDate }, ['order.placed']],
    ['PATCH', '/store/orders/1', { shipDate: null }, ['order.updated', { shipDate }]],
  ],
  [
    'a request that changes nothing gives no event',
    ['POST', '/store/orders', { shipDate }, ['order.placed']],
    ['PUT', '/categories/1', { name: 'Dragons' }],
    ['PUT', '/pets/1', { name: 'Smaug', categoryId: 1 }],
    ['PATCH', '/pets/1', {}],
    ['PATCH', '/inventory/1', { quantity: 1 }],
    ['PATCH', '/store/orders/1', { quantity: 1, complete: false }],
    ['PATCH', '/store/orders/1', { shipDate: '2026-12-24T13:00:00.0+01:00' }],
  ],
];

for (const [guarantee, ...requests] of changes) {
  test(guarantee, async (t) => {
    const { eventsOf } = await start(t);
    for (const [method, path, body, ...events] of requests)
      assert.deepEqual(await eventsOf(method, path, { body }), events, `${method} ${path}`);
  });
}

test('a refused request gives no event, however late it is refused', async (t) => {
  const { eventsOf, orders } = await start(t);
  const refused = async (status: number, method: string, path: string, body?: object, headers = {}) =>
    assert.deepEqual(await eventsOf(method, path, { body, headers }, status), [], `${method} ${path}`);
  await refused(400, 'POST', '/pets', { name: 'Smaug', categoryId: 2 });
  await refused(400, 'PATCH', '/pets/1', { categoryId: 2 });
  await refused(412, 'PATCH', '/pets/1', { name: 'Fafnir' }, { 'if-match': '"other"' });
  await refused(404, 'PATCH', '/inventory/2', { quantity: 5 });
  await refused(409, 'DELETE', '/categories/1');
  await refused(409, 'POST', '/store/orders', { petId: 1, quantity: 2 });
  await orders({ petId: 1 });
  await refused(409, 'DELETE', '/pets/1');
  await refused(409, 'PATCH', '/store/orders/1', { quantity: 2, complete: true });
  await eventsOf('PATCH', '/inventory/1', { body: { quantity: 2_147_483_647 } });
  await refused(409, 'DELETE', '/store/orders/1');
  const complete = { body: { complete: true } };
  assert.deepEqual(await eventsOf('PATCH', '/store/orders/1', complete), [['order.completed']]);
  await refused(409, 'PATCH', '/store/orders/1', { quantity: 2 });
});

test('a request repeated with its Idempotency-Key gives no event', async (t) => {
  const { orders, events } = await start(t);
  const place = (requestId: string) =>
    orders({ quantity: 2 }, { 'idempotency-key': 'a', 'x-request-id': requestId });
  assert.deepEqual(await place('first'), [['order.placed']]);
  assert.deepEqual(await place('second'), []);
  assert.equal((await events()).at(-1)?.requestId, 'first');
});

/** Sends concurrent requests that share a commit, in two workspaces. */
function atOnce(store: Petstore, key: string): Promise<JsonAnswer[]> {
  const requests = Array.from({ length: 60 }, (_, n) => {
    const own = n % 2 ? { key } : {};
    // The first pet of each workspace sells out.
    return n % 3
      ? store.call('POST', '/store/orders', { body: { petId: 1 }, ...own })
      : store.call('POST', '/categories', { body: { name: `Kind ${n}` }, ...own });
  });
  return Promise.all(requests);
}

test('each of the writes that share a commit has its event in the history of its own workspace, unless it is refused', async (t) => {
  const { store } = await start(t);
  const { key } = await store.addWorkspace('second', true);
  await store.holdLimits();
  const { commits } = store.db.counts;
  const answers = await atOnce(store, key);
  if (!testDatabaseUrl) assert.equal(store.db.counts.commits - commits, 1);
  const refused = answers.filter(({ status }) => status === 409);
  assert.ok(refused.length > 10);
  const requestIds: unknown[] = [];
  for (const own of [{}, { key }]) {
    const events = await readEvents((path) => store.call('GET', path, own));
    assert.deepEqual(idsOf(events), numbers(events.length));
    requestIds.push(...events.map(({ requestId }) => requestId));
  }
  for (const { status, headers } of answers)
    assert.equal(requestIds.includes(headers['x-request-id']), status === 201);
});

test('a write whose events cannot be stored is undone, and leaves no gap', async (t) => {
  const { store, events } = await start(t);
  const setLast = (last: number) =>
    store.db.write(
      (sql) => sql`update sequences set last_id = ${last} where workspace_id = 1 and kind = 'events'`,
    );
  const before = await store.content();
  await setLast(Number.MAX_SAFE_INTEGER);
  const answer = await store.call('POST', '/pets', { body: { name: 'Fafnir', categoryId: 1 } });
  assert.equal(answer.status, 500);
  await setLast(2);
  assert.equal(await store.content(), before);
  assert.equal((await store.call('DELETE', '/pets/1')).status, 204);
  assert.deepEqual(
    (await events()).map(({ id, type }) => [id, type]),
    [
      [1, 'category.created'],
      [2, 'pet.created'],
      [3, 'pet.deleted'],
    ],
  );
});
