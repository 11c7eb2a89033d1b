import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Petstore, startPetstore } from '../support/petstore.ts';
import { statusesOf } from '../support/values.ts';

const resources = ['/pets/1', '/categories/1', '/store/orders/2', '/inventory/1'];
const lists = [
  ...['/pets', '/pets?id=1', '/pets?id=4711', '/categories?limit=2', '/store/orders'],
  ...['/inventory?status=sold', '/store/events', '/store/events?after=1&type=pet.deleted'],
  ...['/store/webhooks', '/store/webhooks/1/deliveries'],
];

const etagOf = async (store: Petstore, path: string) =>
  (await store.call('GET', path)).headers.etag as string;

/** A store with a webhook and an event besides the seeded data. */
async function startFilled(t: TestContext): Promise<Petstore> {
  const store = await startPetstore(t);
  const body = { url: 'https://example.com/hooks' };
  assert.equal((await store.call('POST', '/store/webhooks', { body })).status, 201);
  await store.call('POST', '/categories', { body: { name: 'Dragons' } });
  return store;
}

/** The header fields that a 304 repeats from the 200: those of RFC 9110, section 15.4.5, and those for the position in a list. */
const kept = ['etag', 'cache-control', 'vary', 'link', 'last-event-id'];

for (const path of [...resources, ...lists]) {
  test(`GET ${path} with the current ETag returns 304 without a body`, async (t) => {
    const store = await startFilled(t);
    const { headers } = await store.call('GET', path);
    const etag = headers.etag as string;
    assert.match(etag, /^"[^"]+"$/);
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await store.call(method, path, { headers: { 'if-none-match': tag } });
        assert.equal(answer.status, 304, tag);
        assert.equal(answer.text, '');
        for (const name of kept) assert.equal(answer.headers[name], headers[name], name);
      }
    }
    assert.equal((await store.call('GET', path, { headers: { 'if-none-match': '"other"' } })).status, 200);
  });
}

const changes: [string, string, unknown][] = [
  ['PUT', '/pets/1', { name: 'Zed', categoryId: 1 }],
  ['PATCH', '/pets/1', { name: 'Zed' }],
  ['DELETE', '/pets/4', undefined],
  ['PUT', '/categories/1', { name: 'Zed' }],
  ['PATCH', '/store/orders/2', { shipDate: '2026-01-01T00:00:00Z' }],
  ['DELETE', '/store/orders/2', undefined],
  ['PATCH', '/inventory/1', { quantity: 9 }],
];

for (const [method, path, body] of changes) {
  test(`${method} ${path} succeeds only if If-Match names the current ETag`, async (t) => {
    const store = await startPetstore(t);
    const etag = await etagOf(store, path);
    const before = await store.content();
    for (const tag of ['"stale"', `W/${etag}`]) {
      const refused = await store.call(method, path, { body, headers: { 'if-match': tag } });
      assert.equal(refused.body.code, 'precondition_failed');
    }
    assert.equal(await store.content(), before);
    const done = await store.call(method, path, { body, headers: { 'if-match': `"stale", ${etag}` } });
    assert.ok(done.status === 200 || done.status === 204, done.text);
    if (method !== 'DELETE') {
      assert.notEqual(done.headers.etag, etag);
      const again = await store.call(method, path, { body, headers: { 'if-match': etag } });
      assert.equal(again.status, 412);
    }
  });
}

test('If-Match: * requires only that the resource exists', async (t) => {
  const store = await startPetstore(t);
  const headers = { 'if-match': '*' };
  assert.equal((await store.call('PATCH', '/pets/1', { body: {}, headers })).status, 200);
  assert.equal((await store.call('PATCH', '/pets/4711', { body: {}, headers })).status, 404);
});

test('a change whose If-None-Match matches is refused', async (t) => {
  const store = await startPetstore(t);
  const etag = await etagOf(store, '/pets/1');
  for (const tag of ['*', etag]) {
    const options = { body: { name: 'Zed', categoryId: 1 }, headers: { 'if-none-match': tag } };
    assert.equal((await store.call('PUT', '/pets/1', options)).body.code, 'precondition_failed');
  }
});

test('preconditions are ignored where they do not apply', async (t) => {
  const store = await startPetstore(t);
  const ifMatch = { 'if-match': 'junk' };
  const headers = { ...ifMatch, 'if-none-match': 'junk' };
  for (const path of ['/pets', '/pets/1'])
    assert.equal((await store.call('GET', path, { headers: ifMatch })).status, 200);
  assert.equal((await store.call('POST', '/categories', { body: { name: 'Dragons' }, headers })).status, 201);
});

test('of clients that change the same version one succeeds, and the others get 412', async (t) => {
  const store = await startPetstore(t);
  const etag = await etagOf(store, '/pets/1');
  const attempts = await Promise.all(
    ['A', 'B', 'C', 'D'].map((name) =>
      store.call('PATCH', '/pets/1', { body: { name }, headers: { 'if-match': etag } }),
    ),
  );
  assert.deepEqual(statusesOf(attempts).sort(), [200, 412, 412, 412]);
});

test('the ETag of an inventory entry changes when an order takes stock', async (t) => {
  const store = await startPetstore(t);
  const etag = await etagOf(store, '/inventory/1');
  await store.call('POST', '/store/orders', { body: { petId: 1 } });
  assert.notEqual(await etagOf(store, '/inventory/1'), etag);
});

test('a list of one pet by its id has the ETag of the pet, and a change accepts it', async (t) => {
  const store = await startPetstore(t);
  const body = { name: 'Zed', categoryId: 1 };
  const created = await store.call('POST', '/pets', { body });
  const alone = ['/pets?id=21', '/pets?id=21&limit=1', '/pets?id=21&status=available&categoryId=1'];
  const changes = [
    await store.call('PUT', '/pets/21', { body: { ...body, name: 'Zoe' } }),
    await store.call('PATCH', '/pets/21', { body: { name: 'Zed' } }),
  ];
  assert.equal(changes[1]?.headers.etag, created.headers.etag);
  for (const path of [...alone, '/pets/21'])
    assert.equal(await etagOf(store, path), created.headers.etag, path);
  const patch = () =>
    store.call('PATCH', '/pets/21', { body: { name: 'Zoe' }, headers: { 'if-match': tag } });
  const tag = await etagOf(store, '/pets?id=21');
  assert.equal((await patch()).headers.etag, changes[0]?.headers.etag);
  assert.equal((await patch()).status, 412);
  assert.equal(await etagOf(store, '/pets?id=21'), changes[0]?.headers.etag);
});

test('any other list has an ETag of its own', async (t) => {
  const store = await startPetstore(t);
  const pet = await etagOf(store, '/pets/1');
  const { link } = (await store.call('GET', '/pets?limit=1')).headers;
  const cursor = /cursor=([^>]+)/.exec(link as string)?.[1] as string;
  const empty = await etagOf(store, '/store/orders?petId=4711');
  for (const query of ['id=4711', 'id=1&status=sold', 'id=1&categoryId=2', `id=1&cursor=${cursor}`]) {
    const path = `/pets?${query}`;
    const { text, headers } = await store.call('GET', path);
    assert.deepEqual([text, headers.etag], ['[]\n', empty], path);
  }
  for (const path of ['/pets?id=1&id=1', '/pets?id=1&id=4711', '/pets?limit=1'])
    assert.notEqual(await etagOf(store, path), pet, path);
});

test('the ETag of a page changes with its items, and with the header fields of its position', async (t) => {
  const store = await startPetstore(t);
  const last = '/pets?limit=20';
  const unfound = '/store/events?type=order.cancelled';
  for (const path of [last, unfound]) {
    const before = await store.call('GET', path);
    await store.call('POST', '/pets', { body: { name: 'Zed', categoryId: 1 } });
    const headers = { 'if-none-match': before.headers.etag as string };
    const after = await store.call('GET', path, { headers });
    assert.equal(after.status, 200, path);
    assert.equal(after.text, before.text, 'the items are the same');
    assert.notEqual(after.headers.etag, before.headers.etag);
  }
  const before = await etagOf(store, last);
  await store.call('PATCH', '/pets/7', { body: { name: 'Zoe' } });
  assert.notEqual(await etagOf(store, last), before);
});
