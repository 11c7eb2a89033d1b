import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, assertLimitHeaders } from '../support/description.ts';
import { exchange } from '../support/exchange.ts';
import { type Petstore, startListening, startPetstore } from '../support/petstore.ts';

/** Sends a GET for a target, with the key and these field lines. */
const get = (store: Petstore, target: string, fields = 'Host: x\r\n') =>
  exchange(store, `GET ${target} HTTP/1.1\r\n${fields}X-API-Key: ${store.key}\r\nConnection: close\r\n\r\n`);

test('a request without exactly one valid Host gets 400', async (t) => {
  const store = await startListening(t);
  for (const hosts of ['', 'Host: a\r\nHost: b\r\n', 'Host: a b\r\n', 'Host: a/b\r\n']) {
    const answer = await get(store, '/v1/pets', hosts);
    assert.equal(answer.status, 400, hosts);
    assertError('Host', answer);
    assertLimitHeaders('Host', answer);
    assert.match(answer.body.message, /Host/);
  }
  for (const host of ['a', 'a.example:8080', '127.0.0.1:', '[::1]:8080', ''])
    assert.equal((await get(store, '/v1/pets', `Host: ${host}\r\n`)).status, 200, host);
});

test('repeated single-value fields are refused, and no value is chosen', async (t) => {
  const store = await startListening(t);
  const content = '{"name":"Zed","categoryId":1}';
  const key = `Authorization: Bearer ${store.key}`;
  const json = 'Content-Type: application/json';
  for (const [fields, status, message] of [
    [[key, json], 201, undefined],
    [[key, 'Authorization: Bearer x', json], 401, /Authorization must be sent once/],
    [[key, key, json], 401, /Authorization must be sent once/],
    [[key, json, 'Content-Type: text/plain'], 415, /Content-Type must be sent once/],
    [[key, json, 'Transfer-Encoding: gzip, chunked'], 400, /Transfer-Encoding/],
  ] as const) {
    const isChunked = fields.some((field) => field.startsWith('Transfer-Encoding'));
    const length = isChunked ? [] : [`Content-Length: ${content.length}`];
    const head = ['POST /v1/pets HTTP/1.1', 'Host: x', 'Connection: close', ...fields, ...length, '', ''];
    const body = isChunked ? `${content.length.toString(16)}\r\n${content}\r\n0\r\n\r\n` : content;
    const answer = await exchange(store, head.join('\r\n') + body);
    assert.equal(answer.status, status, fields.join());
    if (message) assert.match(answer.body.message, message);
  }
});

test('a request target of another form gets 400, or 404 outside the API', async (t) => {
  const store = await startListening(t);
  for (const target of ['/v1/pets#x', '/v1/pets?limit=1#x', '/v1/petz#', '*v1/pets', 'http://x/v1/pets#x']) {
    const answer = await get(store, target);
    assert.equal(answer.status, 400, answer.text);
    assertError(target, answer);
    assertLimitHeaders(target, answer);
    assert.match(answer.body.message, /request target/);
  }
  for (const target of ['/healthz#x', '/#/../healthz']) assert.equal((await get(store, target)).status, 404);
});

test('an absolute-form target is reduced to its path, which outside the API is used as written', async (t) => {
  const store = await startListening(t);
  const head = `Host: x\r\nX-API-Key: ${store.key}\r\nConnection: close\r\n\r\n`;
  const ask = (method: string, path: string, scheme = 'http') =>
    exchange(store, `${method} ${scheme}://pets.example${path} HTTP/1.1\r\n${head}`);
  for (const [status, method, path, scheme] of [
    [200, 'GET', '/v1/pets/1'],
    [405, 'DELETE', '/v1/pets'],
    [204, 'OPTIONS', ''],
    [200, 'GET', '/healthz'],
    [200, 'GET', '/healthz?x', 'HTTP'],
    [404, 'GET', '/health%7a'],
    [404, 'GET', '//healthz'],
    [404, 'GET', '/HEALTHZ'],
  ] as const)
    assert.equal((await ask(method, path, scheme)).status, status, `${method} ${path}`);
  assert.equal((await ask('OPTIONS', '?/v1/pets')).headers.allow, 'get, head, options');
  const undecodable = await ask('GET', '/v1/pets/%E0%');
  assert.equal(undecodable.status, 400);
  assertLimitHeaders('undecodable', undecodable);
});

test('a percent-encoded API path is the same path, and one with a double slash at its beginning is not', async (t) => {
  const store = await startPetstore(t);
  const ask = (method: string, path: string) => store.send(method, path);
  assert.equal((await ask('GET', '/%76%31/%70ets')).status, 200);
  assert.equal((await ask('POST', '/v1/pets%2F1')).status, 404);
  assert.equal((await ask('OPTIONS', '/%76%31/%70ets')).headers.allow, 'GET, HEAD, POST, OPTIONS');
  const document = await ask('POST', '/v1/openapi%2Ejson');
  assert.equal(document.headers.allow, 'GET, HEAD, OPTIONS');
  assert.ok(!('x-ratelimit-limit' in document.headers), 'it is not counted');
  assertLimitHeaders('undecodable', await ask('GET', '/%76%31/%E0%'));
  for (const method of ['GET', 'DELETE', 'OPTIONS']) {
    const { status, body } = await ask(method, '//v1/pets');
    assert.equal(status, 404);
    assert.match(body.message, /mean \/v1\/pets\?/);
  }
});

test('a path outside the API is used as written, so that no other spelling bypasses a rule', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const spellings = [
    ...['/%6detrics', '/metric%73', '/%2Fmetrics', '//metrics', '/metrics/', '/METRICS', '/metrics%20'],
    ...['/metrics;x', '/health%7a', '/healthz%20', '/ready%7A', '/refer%65nce', '/reference%2Fpage.js'],
    ...['/reference/page%2Ejs', `/reference/${'x'.repeat(27)}/page%2Ejs`],
  ];
  for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
    for (const path of spellings) {
      const { status } = await store.send(method, path, { key: null });
      assert.equal(status, 404, `${method} ${path}`);
    }
  }
  const messageOf = async (path: string) => (await store.send('GET', path, { key: null })).body.message;
  assert.match(await messageOf('/%6detrics'), /mean \/metrics\?/);
  assert.match(await messageOf('/guides/events'), /mean \/guides\/events\.md\?/);
  assert.match(await messageOf('/docs'), /\/llms\.txt/);
  assert.equal((await store.send('GET', '/metrics?name=x', { key: null })).status, 200);
  assert.equal((await store.send('GET', '/v1/openapi%2Ejson', { key: null })).status, 200);
});
