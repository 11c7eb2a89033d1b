import assert from 'node:assert/strict';
import { text as readText } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateKey } from '../../src/access/keys/store.ts';
import type { Sql } from '../../src/db/sql.ts';
import { type ErrorCode, errorCodes } from '../../src/foundation/errors.ts';
import { labPagePaths } from '../../src/lab/serve-lab-page.ts';
import { assertError, assertLimitHeaders } from '../support/description.ts';
import { exchange } from '../support/exchange.ts';
import { fetchChecked, Petstore, startListening, startPetstore } from '../support/petstore.ts';
import { rawRequest, statusesIn } from '../support/raw-client.ts';
import { openTestStorage, temporaryStorage } from '../support/storage.ts';
import { statusesOf } from '../support/values.ts';

/** The head of a POST with a body in chunks. */
const chunkedPost = (key: string) =>
  rawRequest({ key }, 'POST', '/pets', {
    fields: { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' },
  });

const toPets = 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n';
const post = 'POST /v1/pets HTTP/1.1\r\nHost: x\r\n';

/** Requests that Node.js cannot parse, and their error codes. */
const brokenRequests: [what: string, request: string, code: ErrorCode][] = [
  ['a malformed request line', 'NONSENSE\r\n\r\n', 'invalid_request'],
  ['a space in the path', 'GET /v1/pets /1 HTTP/1.1\r\nHost: x\r\n\r\n', 'invalid_request'],
  ['an unknown method', 'FETCH /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n', 'invalid_request'],
  ['a header without a colon', `${toPets}nonsense\r\n\r\n`, 'invalid_request'],
  ['two lengths', `${post}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`, 'invalid_request'],
  [
    'a length and chunks',
    `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n`,
    'invalid_request',
  ],
  ['headers over 16 KiB', `${toPets}X-Large: ${'x'.repeat(20_000)}\r\n\r\n`, 'headers_too_large'],
  ['a path over 16 KiB', toPets.replace('pets', '1'.repeat(20_000)), 'headers_too_large'],
];

/** Framings that other software may read differently: the version, and the fields. */
const framings: [string, string][] = [
  ['1.1', 'Transfer-Encoding: identity'],
  ['1.1', 'Transfer-Encoding: IDENTITY'],
  ['1.1', 'Transfer-Encoding: identity\r\nContent-Length: 35'],
  ['1.1', 'Transfer-Encoding: identity, chunked'],
  ['1.1', 'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked'],
  ['1.1', 'Transfer-Encoding: chunked, identity'],
  ['1.1', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity'],
  ['1.1', 'Transfer-Encoding: chunked, chunked'],
  ['1.1', 'Transfer-Encoding: gzip, chunked'],
  ['1.1', 'Transfer-Encoding: deflate'],
  ['1.1', 'Transfer-Encoding: xchunked'],
  ['1.1', 'Transfer-Encoding: chunked;q=1'],
  ['1.1', 'Transfer-Encoding: "chunked"'],
  ['1.1', 'Transfer-Encoding: ,chunked'],
  ['1.1', 'Transfer-Encoding: chunked,'],
  ['1.1', 'Transfer-Encoding:'],
  ['1.1', 'Transfer-Encoding: \x0bchunked'],
  ['1.1', 'Transfer-Encoding : chunked'],
  ['1.1', 'Transfer-Encoding: chunked\r\n x'],
  ['1.0', 'Transfer-Encoding: chunked\r\nConnection: keep-alive'],
  ['1.0', 'Transfer-Encoding: identity\r\nConnection: keep-alive'],
];

test('a malformed or ambiguous request gets an Error object and changes nothing', async (t) => {
  const store = await startListening(t);
  const subtest = (name: string, check: () => Promise<void>) =>
    t.test(name, () => {
      // Each test has the full limit of its address.
      store.nowMs += 60_000;
      return check();
    });

  for (const path of ['/healthz', '/metrics', '/llms.txt', '/v1/openapi.json', '/nowhere'])
    await subtest(`${path} gets 400, and the connection closes`, async () => {
      const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n`;
      const { status, headers } = await exchange(store, request);
      assert.deepEqual([status, headers.connection], [400, 'close']);
    });

  for (const version of ['2.0', '0.9'])
    for (const path of ['/v1/pets', '/v1/nowhere', '/healthz'])
      await subtest(`${path} in HTTP/${version} gets 505, and the connection closes`, async () => {
        const head = `GET ${path} HTTP/${version}\r\nHost: x\r\nX-API-Key: ${store.key}\r\n\r\n`;
        const answer = await exchange(store, head);
        assert.deepEqual([answer.status, answer.headers.connection], [505, 'close']);
        assertError(path, answer);
      });

  for (const [version, fields] of framings)
    await subtest(
      `HTTP/${version} with ${JSON.stringify(fields)} gets 400, changes nothing, and the connection closes`,
      async () => {
        const content = '{"name":"Smuggled","categoryId":1}';
        const chunk = `${content.length.toString(16)}\r\n${content}\r\n0\r\n\r\n`;
        for (const [method, path] of [
          ['POST', '/v1/pets'],
          ['GET', '/v1/pets'],
          ['DELETE', '/v1/pets/4'],
          ['POST', '/reference'],
        ]) {
          const fieldsOfAll = `Host: x\r\nX-API-Key: ${store.key}\r\nContent-Type: application/json\r\n`;
          const hidden = `DELETE /v1/pets/4 HTTP/1.1\r\n${fieldsOfAll}\r\n`;
          const head = `${method} ${path} HTTP/${version}\r\n${fieldsOfAll}${fields}\r\n\r\n`;
          const answer = await exchange(store, head + chunk + hidden);
          assert.equal(answer.status, 400, `${method} ${path}`);
          assert.equal(answer.headers.connection, 'close');
          assert.equal(answer.text.match(/HTTP\/1\.1 /g)?.length ?? 1, 1);
        }
        assert.equal((await store.call('GET', '/pets/4')).status, 200);
        assert.doesNotMatch((await store.call('GET', '/pets?limit=100')).text, /Smuggled/);
      },
    );

  for (const [what, request, code] of brokenRequests)
    await subtest(`${what} gets ${errorCodes[code][0]} with the Error object`, async () => {
      const answer = await exchange(store, request);
      assert.equal(answer.status, errorCodes[code][0]);
      assertError(what, answer);
      assert.equal(answer.body.code, code);
      assertLimitHeaders(what, answer);
      assert.ok(answer.headers['x-request-id']);
      assert.equal(answer.headers['access-control-allow-origin'], '*');
      assert.equal(answer.headers.connection, 'close');
    });
});

test('unreadable requests count against their address, unless it may be a proxy', async (t) => {
  for (const [trustProxy, remaining] of [
    [false, [59, 58]],
    [['loopback'], [60, 60]],
  ] as const) {
    const store = await startListening(t, { seed: false, trustProxy: trustProxy && [...trustProxy] });
    for (const left of remaining) {
      const { headers } = await exchange(store, 'NONSENSE\r\n\r\n');
      assert.equal(headers['x-ratelimit-remaining'], String(left));
    }
  }
});

test('malformed bytes after requests get 400 after the responses to those requests', async (t) => {
  const store = await startListening(t);
  const create = rawRequest(store, 'POST', '/categories', { body: { name: 'Dragons' } });
  const socket = store.connect(`${create}${create}garbage\r\n\r\n`);
  socket.on('end', () => socket.end());
  assert.deepEqual(statusesIn(await readText(socket)), [201, 201, 400]);
});

test('an unknown expectation is ignored', async (t) => {
  const store = await startListening(t, { seed: false });
  const head = 'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n';
  assert.deepEqual((await exchange(store, head)).body, { status: 'alive' });
});

test('CONNECT gets the Error object', async (t) => {
  const store = await startListening(t, { seed: false });
  const answer = await exchange(store, 'CONNECT pets.example:443 HTTP/1.1\r\nHost: pets.example\r\n\r\n');
  assert.equal(answer.status, 400);
  assertError('CONNECT', answer);
});

test('the response to a request with Upgrade ends the connection, since Node.js loses what came with it', async (t) => {
  const store = await startListening(t);
  const head = `GET /v1/pets/1 HTTP/1.1\r\nHost: x\r\nX-API-Key: ${store.key}\r\n`;
  const answer = await exchange(store, `${head}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n${head}\r\n`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.connection, 'close');
});

test('a request that never ends gets 408 with the Error object, and its socket is closed', async (t) => {
  const store = await startListening(t, { seed: false, timeLimits: { headersMs: 300, checkEveryMs: 50 } });
  const answer = await exchange(store, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-Slow: ');
  assert.equal(answer.status, 408);
  assertError('slow', answer);
  assertLimitHeaders('slow', answer);
});

test('paths outside the API are read-only', async (t) => {
  const store = await startPetstore(t, { seed: false });
  for (const path of ['/healthz', '/readyz', '/metrics', '/v1/openapi.json', '/v1/openapi.yaml']) {
    const refused = await store.send('POST', path, { key: null, body: '{}' });
    assert.equal(refused.status, 405, path);
    assert.equal(refused.headers.allow, 'GET, HEAD, OPTIONS');
    const headers = { origin: 'https://shop.example', 'access-control-request-method': 'GET' };
    assert.equal((await store.send('OPTIONS', path, { key: null, headers })).status, 204, path);
    assert.equal((await store.send('HEAD', path, { key: null })).status, 200, path);
  }
});

test('web pages of other origins can read only the API and its description', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const origin = 'https://shop.example';
  const permissions = ({ headers }: { headers: Record<string, string> }) =>
    Object.keys(headers).filter((name) => name.startsWith('access-control-'));
  const preflight = { origin, 'access-control-request-method': 'GET' };
  const outside = [
    ...['/', '/healthz', '/readyz', '/metrics', '/reference', '/reference/page.js', '/nowhere', '/%E0%'],
    ...[...labPagePaths, `/lab/${'x'.repeat(27)}/page.js`],
  ];
  for (const path of outside) {
    for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS']) {
      const headers = method === 'OPTIONS' ? preflight : { origin };
      const answer = await store.send(method, path, { key: null, headers });
      assert.deepEqual(permissions(answer), [], `${method} ${path}`);
    }
  }
  for (const path of ['/v1/openapi.json', '/v1/openapi.yaml', '/v1/asyncapi.json', '/lab/openapi.json']) {
    const read = await store.send('GET', path, { key: null, headers: { origin } });
    assert.equal(read.headers['access-control-allow-origin'], '*', path);
    const asked = await store.send('OPTIONS', path, { key: null, headers: preflight });
    assert.equal(asked.headers['access-control-allow-methods'], 'GET, HEAD, OPTIONS', path);
  }
});

test('a malformed chunk in a body gets 400, or only 401 with an unknown key, and the service continues', async (t) => {
  const store = await startListening(t);
  for (const [key, status, limit] of [
    [store.key, 400, '1000000'],
    [generateKey(), 401, '60'],
  ] as const) {
    const answer = await exchange(store, chunkedPost(key), 'ZZZ\r\nnonsense\r\n');
    assert.equal(answer.status, status);
    assertError('broken chunk', answer);
    assertLimitHeaders('broken chunk', answer);
    assert.equal(answer.headers['x-ratelimit-limit'], limit, 'it is charged to its key, or its address');
  }
  assert.equal((await store.call('GET', '/pets/1')).status, 200);
});

test('a malformed chunk does not affect requests that arrived with it', async (t) => {
  const store = await startListening(t);
  const sound = rawRequest(store, 'GET', '/pets', { fields: { Connection: 'close' } });
  const broken = `${chunkedPost(store.key)}ZZZ\r\n`;
  const answers = await Promise.all(
    [sound, broken, sound, broken, sound].map((text) => exchange(store, text)),
  );
  assert.deepEqual(statusesOf(answers), [200, 400, 200, 400, 200]);
  // The test helper sends no request itself, so the last count shows that each request was counted once.
  const remaining = answers.map(({ headers }) => Number(headers['x-ratelimit-remaining']));
  assert.equal(Math.min(...remaining), 1_000_000 - answers.length);
});

test('a malformed chunk gets its response after the key was looked up, however long that takes', async (t) => {
  const folder = await temporaryStorage(t);
  const db = await openTestStorage(folder);
  const { promise: found, resolve: find } = Promise.withResolvers<void>();
  let isAsked = false;
  const read: Sql = async (...statement) => {
    isAsked = true;
    await found;
    return db.read(...statement);
  };
  const store = new Petstore({ ...db, read, write: db.write.bind(db), close: db.close.bind(db) }, folder);
  t.after(() => store.close());
  const { key } = await store.addWorkspace('first', false);
  await store.listen();
  const answered = exchange(store, `${chunkedPost(key)}ZZZ\r\n`);
  while (!isAsked) await sleep(1);
  await sleep(20);
  find();
  const answer = await answered;
  assert.equal(answer.status, 400);
  assert.equal(answer.headers['x-ratelimit-limit'], '1000000', 'it is charged to its key');
});

test('a body far over 64 KiB gets 413 that the client can read, with a length and in chunks', async (t) => {
  const store = await startPetstore(t);
  const origin = await store.listen();
  const large = JSON.stringify({ name: 'x'.repeat(5_000_000), categoryId: 1 });
  const sized = await fetchChecked(origin, 'POST', '/pets', { key: store.key, body: large });
  assert.equal(sized.body.code, 'payload_too_large');
  const streamed = await fetch(`${origin}/v1/pets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${store.key}`, 'content-type': 'application/json' },
    body: new Blob([large]).stream(),
    duplex: 'half',
  });
  assert.equal(streamed.status, 413);
  assert.equal(((await streamed.json()) as { code: string }).code, 'payload_too_large');
});

test('a body of exactly 64 KiB is read', async (t) => {
  const store = await startPetstore(t);
  const body = JSON.stringify({ name: 'Zed', categoryId: 1, extra: '' });
  const padded = body.replace('""', `"${'x'.repeat(65_536 - body.length)}"`);
  assert.equal(padded.length, 65_536);
  assert.equal((await store.call('POST', '/pets', { body: padded })).status, 201);
});

test('JSON is accepted in any spelling: escapes, odd property names, notations of numbers', async (t) => {
  const store = await startPetstore(t);
  const odd = '{"name":"a:\\"{b\\\\","categoryId":1,"x":[{"y":1},{"y":2}],"__proto__":{"y":":"}}';
  const created = await store.call('POST', '/pets', { body: odd });
  assert.equal(created.status, 201, created.text);
  assert.equal(created.body.name, 'a:"{b\\');
  for (const quantity of ['3', '30e-1', '0.3E+1', '3.000000000000000000000', '3e0']) {
    const changed = await store.call('PATCH', '/inventory/1', { body: `{"quantity":${quantity}}` });
    assert.deepEqual([changed.status, changed.body.quantity], [200, 3], changed.text);
  }
  const none = await store.call('PATCH', '/inventory/1', { body: '{"quantity":0e999999999}' });
  assert.equal(none.body.quantity, 0, none.text);
});

test('a Content-Type of an empty body is ignored', async (t) => {
  const store = await startPetstore(t);
  for (const type of ['text/plain', 'nonsense', '', ';', 'application/json']) {
    for (const length of [{}, { 'content-length': '0' }]) {
      const headers = { 'content-type': type, ...length } as Record<string, string>;
      assert.equal((await store.call('GET', '/pets/1', { headers })).status, 200);
      assert.equal((await store.call('OPTIONS', '/pets/1', { headers })).status, 204);
      const { body } = await store.call('POST', '/categories', { body: { name: 'Dragons' } });
      const removed = await store.call('DELETE', `/categories/${body.id}`, { headers });
      assert.equal(removed.status, 204, type);
      const missing = await store.call('POST', '/categories', { headers });
      assert.equal(missing.body.code, 'invalid_json', type);
    }
  }
});

test('a valid body that an operation does not use is read and ignored', async (t) => {
  const store = await startPetstore(t);
  const remove = (body: string, type: string) =>
    store.call('DELETE', '/categories/4711', { body, headers: { 'content-type': type } });
  assert.equal((await remove('{', 'text/plain')).status, 404);
  assert.equal((await remove('x'.repeat(70_000), 'text/plain')).status, 413);
  assert.equal((await remove('{', 'nonsense')).status, 415);
});

test("a caller's X-Request-Id is returned; one that is not visible ASCII of 1 to 128 characters is replaced", async (t) => {
  const store = await startPetstore(t);
  const sent = async (id: string) =>
    (await store.call('GET', '/pets/1', { headers: { 'x-request-id': id } })).headers['x-request-id'];
  assert.equal(await sent('walk-1'), 'walk-1');
  assert.equal(await sent('~'.repeat(128)), '~'.repeat(128));
  for (const id of ['', 'a b', 'x'.repeat(129), 'ä'])
    assert.match((await sent(id)) as string, /^[0-9a-f-]{36}$/);
});

test('both header fields for a key work the same', async (t) => {
  const store = await startPetstore(t);
  const { key } = store;
  for (const headers of [
    { authorization: `Bearer ${key}` },
    { authorization: `bearer   ${key}` },
    { 'x-api-key': key },
    { authorization: `Bearer ${key}`, 'x-api-key': key },
    { authorization: 'Basic eDp5', 'x-api-key': key },
  ])
    assert.equal((await store.call('GET', '/pets/1', { key: null, headers })).status, 200);
});

test('a service failure is a 500 that shows only the request id, and is logged', async (t) => {
  const store = await startPetstore(t);
  await store.db.write((sql) => sql`alter table pets rename column name to label`);
  const answer = await store.call('GET', '/pets/1', { headers: { 'x-request-id': 'walk-1' } });
  assert.equal(answer.status, 500);
  assert.equal(answer.body.code, 'internal_error');
  assert.match(answer.body.message, /walk-1/);
  assert.doesNotMatch(answer.text, /column|select/i);
  assert.ok(
    store.log.some((line) => line.includes('walk-1') && /no such column|column .* does not exist/.test(line)),
  );
});

test('paths outside /v1 need no key, and a path without its /v1 gets a hint', async (t) => {
  const store = await startPetstore(t);
  const get = (url: string) => store.send('GET', url, { key: null });
  assert.deepEqual((await get('/healthz')).body, { status: 'alive' });
  assert.deepEqual((await get('/readyz')).body, { status: 'ready' });
  assert.equal((await get('/')).status, 302);
  const astray = await get('/store/orders?complete=true');
  assert.equal(astray.body.code, 'not_found');
  assert.match(astray.body.message, /\/v1\/store\/orders/);
  assert.equal((await get('/nowhere')).body.code, 'not_found');
});

test('the log line of a request has its id, its operation, its status, and the id of its key', async (t) => {
  const store = await startPetstore(t);
  await store.call('GET', '/pets/1', { headers: { 'x-request-id': 'walk-1' } });
  const { keyId, ...entry } = JSON.parse(store.log.at(-1) as string);
  assert.partialDeepStrictEqual(entry, { reqId: 'walk-1', operation: 'getPet', status: 200 });
  assert.match(keyId, /^key_/);
});
