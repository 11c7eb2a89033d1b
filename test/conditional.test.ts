import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPetstore } from './support/petstore.ts';

const resources = ['/pets/1', '/categories/1', '/store/orders/2', '/inventory/1'];

for (const path of resources) {
  test(`GET ${path} with the current ETag answers 304 without a body`, async (t) => {
    const store = await startPetstore(t);
    const { headers } = await store.call('GET', path);
    const etag = headers.etag as string;
    assert.match(etag, /^"[^"]+"$/);
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await store.call(method, path, { headers: { 'if-none-match': tag } });
        assert.equal(answer.status, 304, tag);
        assert.equal(answer.headers.etag, etag);
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
  test(`${method} ${path} happens only while If-Match names the current ETag`, async (t) => {
    const store = await startPetstore(t);
    const etag = (await store.call('GET', path)).headers.etag as string;
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

test('If-Match: * asks only that the resource exists', async (t) => {
  const store = await startPetstore(t);
  const headers = { 'if-match': '*' };
  assert.equal((await store.call('PATCH', '/pets/1', { body: {}, headers })).status, 200);
  assert.equal((await store.call('PATCH', '/pets/4711', { body: {}, headers })).status, 404);
});

test('a change that If-None-Match forbids is refused', async (t) => {
  const store = await startPetstore(t);
  const etag = (await store.call('GET', '/pets/1')).headers.etag as string;
  for (const tag of ['*', etag]) {
    const options = { body: { name: 'Zed', categoryId: 1 }, headers: { 'if-none-match': tag } };
    assert.equal((await store.call('PUT', '/pets/1', options)).body.code, 'precondition_failed');
  }
});

test('preconditions are of no matter where they do not apply', async (t) => {
  const store = await startPetstore(t);
  const headers = { 'if-match': 'junk', 'if-none-match': 'junk' };
  assert.equal((await store.call('GET', '/pets', { headers })).status, 200);
  assert.equal((await store.call('POST', '/categories', { body: { name: 'Dragons' }, headers })).status, 201);
});

test('two clients that change the same version: one wins, the other is told', async (t) => {
  const store = await startPetstore(t);
  const etag = (await store.call('GET', '/pets/1')).headers.etag as string;
  const attempts = await Promise.all(
    ['A', 'B', 'C', 'D'].map((name) =>
      store.call('PATCH', '/pets/1', { body: { name }, headers: { 'if-match': etag } }),
    ),
  );
  assert.deepEqual(attempts.map(({ status }) => status).sort(), [200, 412, 412, 412]);
});

test('the ETag of an inventory entry moves when an order takes stock', async (t) => {
  const store = await startPetstore(t);
  const etag = (await store.call('GET', '/inventory/1')).headers.etag;
  await store.call('POST', '/store/orders', { body: { petId: 1 } });
  assert.notEqual((await store.call('GET', '/inventory/1')).headers.etag, etag);
});
