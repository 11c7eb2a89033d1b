import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPetstore } from '../support/petstore.ts';

test('HEAD returns what GET returns, without the body', async (t) => {
  const store = await startPetstore(t);
  for (const path of [
    '/pets',
    '/pets?limit=1',
    '/pets/1',
    '/categories/1',
    '/store/orders',
    '/inventory/1',
    '/pets/4711',
  ]) {
    const get = await store.call('GET', path);
    const head = await store.call('HEAD', path);
    assert.equal(head.status, get.status);
    for (const name of ['content-length', 'content-type', 'etag', 'link'])
      assert.equal(head.headers[name], get.headers[name], name);
  }
});

test('OPTIONS lists the methods of a path, whatever its body', async (t) => {
  const store = await startPetstore(t);
  for (const [path, methods, body, type] of [
    ['/pets', 'GET, HEAD, POST, OPTIONS', '{', 'nonsense'],
    ['/inventory/1', 'GET, HEAD, PATCH, OPTIONS', 'x'.repeat(70_000), 'text/plain'],
  ] as const) {
    const answer = await store.call('OPTIONS', path, { body, headers: { 'content-type': type } });
    assert.deepEqual([answer.status, answer.headers.allow], [204, methods]);
  }
});

test('a browser can send requests from any origin without the key, and read every header it needs', async (t) => {
  const store = await startPetstore(t);
  const preflight = await store.call('OPTIONS', '/pets/1', {
    key: null,
    headers: {
      origin: 'https://shop.example',
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'authorization,content-type,if-match',
    },
  });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers['access-control-allow-origin'], '*');
  assert.match(preflight.headers['access-control-allow-methods'] as string, /PATCH/);
  assert.equal(
    preflight.headers['access-control-allow-headers'],
    'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Traceparent, X-API-Key, X-Request-Id',
  );
  const keyed = { body: { name: 'Dragons' }, headers: { 'idempotency-key': 'k' } };
  const answers = [
    await store.call('GET', '/pets?limit=1'),
    await store.call('GET', '/pets/1'),
    await store.call('POST', '/categories', keyed),
    await store.call('POST', '/categories', keyed),
    await store.call('GET', '/pets', { key: null }),
    await store.call('DELETE', '/pets'),
  ];
  // Safelisted by the Fetch standard, of the transport, or about CORS itself.
  const exempt =
    /^(access-control-.*|cache-control|content-length|content-type|connection|date|keep-alive|vary|x-content-type-options)$/;
  for (const { headers } of answers) {
    const exposed = (headers['access-control-expose-headers'] as string).toLowerCase().split(', ');
    for (const name of Object.keys(headers)) assert.ok(exempt.test(name) || exposed.includes(name), name);
  }
});
