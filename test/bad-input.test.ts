import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type CallOptions, type Petstore, startPetstore } from './support/petstore.ts';

/** A request that must be refused: method, path, options, status, code, and what the message must name. */
type Row = [method: string, path: string, options: CallOptions, status: number, code: string, names?: RegExp];

const pet = (fields: object): CallOptions => ({ body: { name: 'Zed', categoryId: 1, ...fields } });
const raw = (body: string | Uint8Array, headers?: Record<string, string>): CallOptions => ({
  body,
  ...(headers && { headers }),
});
const repeat = (text: string, count: number) => text.repeat(count);

const invalidBodies: Row[] = [
  // Wrong types: nothing is coerced.
  ['POST', '/pets', pet({ name: 5 }), 400, 'invalid_request', /name must be a string of 1 to 200/],
  ['POST', '/pets', pet({ name: null }), 400, 'invalid_request', /name/],
  ['POST', '/pets', pet({ name: ['Zed'] }), 400, 'invalid_request', /name/],
  ['POST', '/pets', pet({ name: { first: 'Zed' } }), 400, 'invalid_request', /name/],
  ['POST', '/pets', pet({ name: true }), 400, 'invalid_request', /name/],
  ['POST', '/pets', pet({ categoryId: '1' }), 400, 'invalid_request', /categoryId must be a 64-bit integer/],
  ['POST', '/pets', pet({ categoryId: 1.5 }), 400, 'invalid_request', /categoryId/],
  ['POST', '/pets', pet({ categoryId: null }), 400, 'invalid_request', /categoryId/],
  ['POST', '/pets', pet({ status: null }), 400, 'invalid_request', /status/],
  ['POST', '/pets', pet({ status: 1 }), 400, 'invalid_request', /status/],
  ['POST', '/pets', pet({ status: ['sold'] }), 400, 'invalid_request', /status/],
  ['POST', '/pets', { body: {} }, 400, 'invalid_request', /name .*missing.*categoryId .*missing/],
  [
    'POST',
    '/pets',
    { body: { name: 7, categoryId: 'x', status: 'gone' } },
    400,
    'invalid_request',
    /name.*categoryId.*status/,
  ],
  ['POST', '/categories', { body: { name: 'Dogs', description: 5 } }, 400, 'invalid_request', /description/],
  [
    'POST',
    '/categories',
    { body: { name: 'Dogs', description: null } },
    400,
    'invalid_request',
    /description/,
  ],
  [
    'POST',
    '/store/orders',
    { body: { complete: 'true' } },
    400,
    'invalid_request',
    /complete must be true or false/,
  ],
  ['POST', '/store/orders', { body: { complete: 1 } }, 400, 'invalid_request', /complete/],
  ['POST', '/store/orders', { body: { quantity: '2' } }, 400, 'invalid_request', /quantity/],
  ['PATCH', '/inventory/1', { body: {} }, 400, 'invalid_request', /quantity .*missing/],
  ['PATCH', '/inventory/1', { body: { quantity: null } }, 400, 'invalid_request', /quantity/],
  ['PATCH', '/pets/1', { body: { name: null } }, 400, 'invalid_request', /name/],
  [
    'PATCH',
    '/pets/1',
    { body: { status: 'lost' } },
    400,
    'invalid_request',
    /status must be one of available, pending, sold/,
  ],
  ['PATCH', '/store/orders/2', { body: { quantity: {} } }, 400, 'invalid_request', /quantity/],
  // Out of range.
  [
    'POST',
    '/store/orders',
    { body: { quantity: 0 } },
    400,
    'invalid_request',
    /quantity must be an integer from 1 to 2147483647/,
  ],
  ['POST', '/store/orders', { body: { quantity: -1 } }, 400, 'invalid_request', /quantity/],
  ['POST', '/store/orders', { body: { quantity: 2147483648 } }, 400, 'invalid_request', /quantity/],
  ['POST', '/store/orders', { body: { quantity: 1e300 } }, 400, 'invalid_request', /quantity/],
  [
    'PATCH',
    '/inventory/1',
    { body: { quantity: -1 } },
    400,
    'invalid_request',
    /quantity must be an integer from 0 to/,
  ],
  ['PATCH', '/inventory/1', { body: { quantity: 2147483648 } }, 400, 'invalid_request', /quantity/],
  // Around the edges of 53 and 64 bits.
  ['POST', '/pets', pet({ categoryId: 4711 }), 400, 'invalid_reference', /categoryId/],
  ['POST', '/pets', pet({ categoryId: 0 }), 400, 'invalid_reference', /categoryId/],
  ['POST', '/pets', pet({ categoryId: -1 }), 400, 'invalid_reference', /categoryId/],
  [
    'POST',
    '/pets',
    raw('{"name":"Zed","categoryId":9007199254740993}'),
    400,
    'invalid_reference',
    /categoryId/,
  ],
  [
    'POST',
    '/pets',
    raw('{"name":"Zed","categoryId":9223372036854775807}'),
    400,
    'invalid_reference',
    /categoryId/,
  ],
  [
    'POST',
    '/pets',
    raw('{"name":"Zed","categoryId":9223372036854775808}'),
    400,
    'invalid_request',
    /categoryId/,
  ],
  [
    'POST',
    '/pets',
    raw('{"name":"Zed","categoryId":-9223372036854775808}'),
    400,
    'invalid_reference',
    /categoryId/,
  ],
  [
    'POST',
    '/pets',
    raw('{"name":"Zed","categoryId":-9223372036854775809}'),
    400,
    'invalid_request',
    /categoryId/,
  ],
  ['POST', '/pets', raw('{"name":"Zed","categoryId":1e400}'), 400, 'invalid_request', /categoryId/],
  ['POST', '/store/orders', raw('{"quantity":4.9999999999999999999}'), 400, 'invalid_request', /quantity/],
  [
    'POST',
    '/pets',
    raw('{"name":"Zed","categoryId":1.0000000000000000001}'),
    400,
    'invalid_request',
    /categoryId/,
  ],
  ['POST', '/store/orders', raw('{"petId":9007199254740993}'), 400, 'invalid_reference', /petId/],
  ['POST', '/store/orders', raw('{"petId":9223372036854775808}'), 400, 'invalid_request', /petId/],
  ['PUT', '/pets/1', pet({ categoryId: 4711 }), 400, 'invalid_reference', /categoryId/],
  ['PATCH', '/pets/1', { body: { categoryId: 4711 } }, 400, 'invalid_reference', /categoryId/],
  // Names.
  ['POST', '/pets', pet({ name: '' }), 400, 'invalid_request', /name/],
  ['POST', '/pets', pet({ name: '   ' }), 400, 'invalid_request', /not only white space/],
  ['POST', '/pets', pet({ name: '\u00a0\u2003\t\n' }), 400, 'invalid_request', /name/],
  ['POST', '/pets', pet({ name: repeat('x', 201) }), 400, 'invalid_request', /name/],
  ['POST', '/pets', pet({ name: repeat('🐶', 201) }), 400, 'invalid_request', /name/],
  ['POST', '/pets', pet({ name: 'a\u0000b' }), 400, 'invalid_request', /null character/],
  ['PUT', '/pets/1', pet({ name: repeat('x', 60_000) }), 400, 'invalid_request', /name/],
  ['PUT', '/categories/1', { body: { name: ' ' } }, 400, 'invalid_request', /name/],
  [
    'POST',
    '/categories',
    { body: { name: 'Dogs', description: repeat('x', 2001) } },
    400,
    'invalid_request',
    /description/,
  ],
  [
    'POST',
    '/categories',
    { body: { name: 'Dogs', description: '\u0000' } },
    400,
    'invalid_request',
    /description/,
  ],
  ['POST', '/pets', raw('{"name":"\\ud800","categoryId":1}'), 400, 'invalid_json', /surrogate/],
  ['POST', '/pets', raw('{"\\udc00":1,"name":"Zed","categoryId":1}'), 400, 'invalid_json', /surrogate/],
  // Dates.
  ...[
    '',
    'tomorrow',
    '2026-13-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '2026-01-01',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '20260101T000000Z',
    '2026-01-01T00:00:00+25:00',
    '2026-01-01T12:00:60Z',
    '+002026-01-01T00:00:00Z',
    '9999-12-31T23:59:59-01:00',
    '0000-01-01T00:00:00+01:00',
    '2026-01-01T00:00:00.0123456789Z',
    '2026-01-01T00:00:00Z[UTC]',
    ' 2026-01-01T00:00:00Z',
  ].map(
    (shipDate): Row => [
      'POST',
      '/store/orders',
      { body: { shipDate } },
      400,
      'invalid_request',
      /shipDate must be an RFC 3339 date-time/,
    ],
  ),
  ['POST', '/store/orders', { body: { shipDate: 1767225600 } }, 400, 'invalid_request', /shipDate/],
  ['PATCH', '/store/orders/2', { body: { shipDate: 'never' } }, 400, 'invalid_request', /shipDate/],
  // Not JSON, or not the JSON of an object.
  ['POST', '/pets', raw(''), 400, 'invalid_json', /empty/],
  ['POST', '/pets', {}, 400, 'invalid_json', /no body/],
  ['POST', '/pets', raw('{"name":"Zed",}'), 400, 'invalid_json'],
  ['POST', '/pets', raw("{'name':'Zed'}"), 400, 'invalid_json'],
  ['POST', '/pets', raw('{"name":"Zed"'), 400, 'invalid_json'],
  ['POST', '/pets', raw('{"name":NaN,"categoryId":1}'), 400, 'invalid_json'],
  ['POST', '/pets', raw('{"name":"Z\ned","categoryId":1}'), 400, 'invalid_json'],
  ['POST', '/pets', raw('{"name":"Zed","categoryId":1}{}'), 400, 'invalid_json'],
  ['POST', '/pets', raw('\u0000'), 400, 'invalid_json'],
  [
    'POST',
    '/pets',
    raw('{"name":"Zed","categoryId":1,"name":"Zoe"}'),
    400,
    'invalid_json',
    /"name" stands twice/,
  ],
  [
    'POST',
    '/pets',
    raw('{"name":"Zed","categoryId":1,"x":[{"y":1,"y":1}]}'),
    400,
    'invalid_json',
    /"y" stands twice/,
  ],
  [
    'POST',
    '/pets',
    raw('{"name":"Zed","categoryId":1,"\\u006eame":"Zoe"}'),
    400,
    'invalid_json',
    /"name" stands twice/,
  ],
  ['POST', '/pets', raw(Buffer.from('{"\xff":1}', 'latin1')), 400, 'invalid_json', /UTF-8/],
  ['POST', '/pets', raw(Buffer.from('{"name":"Zed","categoryId":1}', 'utf16le')), 400, 'invalid_json'],
  ['POST', '/pets', raw(repeat('[', 30_000)), 400, 'invalid_json'],
  [
    'POST',
    '/pets',
    raw(repeat('[', 30_000) + repeat(']', 30_000)),
    400,
    'invalid_request',
    /must be a JSON object/,
  ],
  [
    'POST',
    '/pets',
    pet({ name: JSON.parse(repeat('[', 5_000) + repeat(']', 5_000)) }),
    400,
    'invalid_request',
    /name/,
  ],
  ...['[]', '[{"name":"Zed","categoryId":1}]', 'null', '"Zed"', '1', 'true'].map(
    (body): Row => ['POST', '/pets', raw(body), 400, 'invalid_request', /must be a JSON object/],
  ),
  ['PATCH', '/pets/1', raw('[]'), 400, 'invalid_request', /must be a JSON object/],
  // Media types.
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'application/merge-patch+json',
    'application/json; charset=utf-16',
    'json',
    '*/*',
  ].map(
    (type): Row => [
      'POST',
      '/pets',
      { ...pet({}), headers: { 'content-type': type } },
      415,
      'unsupported_media_type',
      /Content-Type must be/,
    ],
  ),
  [
    'PATCH',
    '/pets/1',
    { body: { name: 'Zed' }, headers: { 'content-type': 'application/json-patch+json' } },
    415,
    'unsupported_media_type',
    /merge-patch/,
  ],
  [
    'POST',
    '/pets',
    { ...pet({}), headers: { 'content-encoding': 'gzip' } },
    415,
    'unsupported_media_type',
    /Content-Encoding/,
  ],
  ['POST', '/pets', pet({ extra: repeat('x', 65_536) }), 413, 'payload_too_large', /65536/],
];

const ids = [
  'abc',
  '1.0',
  '1e3',
  '0x1',
  '+1',
  '01',
  '-0',
  '%201',
  '1%20',
  '%00',
  '1,2',
  '9223372036854775808',
  '-9223372036854775809',
  repeat('9', 400),
  'null',
  '१',
];
const unknownIds = ['4711', '0', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808'];

const invalidPaths: Row[] = [
  ...ids.map(
    (id): Row => [
      'GET',
      `/pets/${encodeURI(id).replaceAll('%25', '%')}`,
      {},
      400,
      'invalid_request',
      /petId must be a 64-bit integer/,
    ],
  ),
  ...unknownIds.map((id): Row => ['GET', `/pets/${id}`, {}, 404, 'not_found', /petId/]),
  ['GET', '/categories/x', {}, 400, 'invalid_request', /categoryId/],
  ['GET', '/categories/9007199254740993', {}, 404, 'not_found'],
  ['PUT', '/categories/4711', { body: { name: 'Dogs' } }, 404, 'not_found'],
  ['DELETE', '/categories/4711', {}, 404, 'not_found'],
  ['GET', '/store/orders/x', {}, 400, 'invalid_request', /orderId/],
  ['GET', '/store/orders/4711', {}, 404, 'not_found'],
  ['PATCH', '/store/orders/4711', { body: {} }, 404, 'not_found'],
  ['DELETE', '/store/orders/4711', {}, 404, 'not_found'],
  ['GET', '/inventory/x', {}, 400, 'invalid_request', /petId/],
  ['GET', '/inventory/4711', {}, 404, 'not_found'],
  ['PATCH', '/inventory/4711', { body: { quantity: 1 } }, 404, 'not_found'],
  ['PUT', '/pets/4711', pet({}), 404, 'not_found'],
  ['PATCH', '/pets/9223372036854775808', { body: {} }, 400, 'invalid_request'],
  ['DELETE', '/pets/4711', {}, 404, 'not_found'],
  ['PUT', '/pets/x', { body: { name: '' } }, 400, 'invalid_request', /petId.*name.*categoryId/],
  ['GET', '/pets/%E0%', {}, 400, 'invalid_request', /percent-encoding/],
  ['GET', '/pets/%', {}, 400, 'invalid_request', /percent-encoding/],
  ['GET', '/petz', {}, 404, 'not_found'],
  ['GET', '/pets/1/toys', {}, 404, 'not_found'],
  ['GET', '/pets/', {}, 404, 'not_found', /petId/],
  ['POST', '/petz', raw('<xml/>', { 'content-type': 'text/xml' }), 404, 'not_found'],
  ['POST', '/petz', raw(repeat('x', 70_000)), 404, 'not_found'],
  ['POST', '/pets/1', pet({}), 405, 'method_not_allowed', /GET, HEAD, PUT, PATCH, DELETE, OPTIONS/],
  ['DELETE', '/pets', {}, 405, 'method_not_allowed', /GET, HEAD, POST, OPTIONS/],
  ['PATCH', '/categories/1', { body: {} }, 405, 'method_not_allowed'],
  ['PUT', '/store/orders/1', raw('x', { 'content-type': 'nonsense' }), 405, 'method_not_allowed'],
  ['QUERY', '/pets', {}, 405, 'method_not_allowed'],
  ['PROPFIND', '/pets', {}, 405, 'method_not_allowed'],
  ['TRACE', '/pets', {}, 405, 'method_not_allowed'],
];

const invalidQueries: Row[] = [
  ...['0', '101', '-1', 'x', '', '1.0', '1e1', ' 5', '%2B5', '05', '99999999999999999999', '10&limit=10'].map(
    (limit): Row => ['GET', `/pets?limit=${limit}`, {}, 400, 'invalid_request', /limit/],
  ),
  ...['x', '', 'bGlzdFBldHM6', 'bGlzdE9yZGVyczo1', 'bGlzdFBldHM6MjA=', 'bGlzdFBldHM6LTE.', '%00', 'null'].map(
    (cursor): Row => ['GET', `/pets?cursor=${cursor}`, {}, 400, 'invalid_request', /cursor/],
  ),
  ['GET', '/pets?status=lost', {}, 400, 'invalid_request', /status must be one of available, pending, sold/],
  ['GET', '/pets?status=', {}, 400, 'invalid_request', /status/],
  ['GET', '/pets?status=SOLD', {}, 400, 'invalid_request', /status/],
  ['GET', '/pets?status=sold&status=sold', {}, 400, 'invalid_request', /status must stand once/],
  ['GET', '/pets?categoryId=x', {}, 400, 'invalid_request', /categoryId/],
  ['GET', '/pets?categoryId=9223372036854775808', {}, 400, 'invalid_request', /categoryId/],
  ['GET', '/pets?id=1,2', {}, 400, 'invalid_request', /id must be/],
  ['GET', '/pets?id=', {}, 400, 'invalid_request', /id must be/],
  ['GET', '/pets?id=1&id=x', {}, 400, 'invalid_request', /id must be/],
  [
    'GET',
    '/pets?colour=red',
    {},
    400,
    'invalid_request',
    /"colour" is not a query parameter.*status, categoryId, id, limit, cursor/,
  ],
  ['GET', '/pets?__proto__=1', {}, 400, 'invalid_request', /"__proto__"/],
  ['GET', '/pets/1?x=1', {}, 400, 'invalid_request', /takes none/],
  ['GET', '/pets?status=%E0%', {}, 400, 'invalid_request', /percent-encoding/],
  ['GET', '/pets?status=%FF', {}, 400, 'invalid_request', /percent-encoding/],
  ['GET', '/pets?limit=0&status=lost&categoryId=x', {}, 400, 'invalid_request', /status.*categoryId.*limit/],
  ['GET', '/store/orders?complete=1', {}, 400, 'invalid_request', /complete must be true or false/],
  ['GET', '/store/orders?complete=TRUE', {}, 400, 'invalid_request', /complete/],
  ['GET', '/store/orders?petId=x', {}, 400, 'invalid_request', /petId/],
  ['GET', '/inventory?status=lost', {}, 400, 'invalid_request', /status/],
  ['DELETE', '/pets/4?force=true', {}, 400, 'invalid_request', /"force"/],
];

const invalidHeaders: Row[] = [
  ['GET', '/pets/1', { headers: { 'if-none-match': 'abc' } }, 400, 'invalid_request', /If-None-Match/],
  ['DELETE', '/pets/4', { headers: { 'if-match': 'abc' } }, 400, 'invalid_request', /If-Match/],
  ['DELETE', '/pets/4', { headers: { 'if-match': '' } }, 400, 'invalid_request', /If-Match/],
  ['PUT', '/pets/4', { ...pet({}), headers: { 'if-match': '*, "a"' } }, 400, 'invalid_request', /If-Match/],
  [
    'POST',
    '/pets',
    { ...pet({}), headers: { 'idempotency-key': '' } },
    400,
    'invalid_request',
    /Idempotency-Key/,
  ],
  [
    'POST',
    '/pets',
    { ...pet({}), headers: { 'idempotency-key': '""' } },
    400,
    'invalid_request',
    /Idempotency-Key/,
  ],
  [
    'POST',
    '/pets',
    { ...pet({}), headers: { 'idempotency-key': '"open' } },
    400,
    'invalid_request',
    /Idempotency-Key/,
  ],
  [
    'POST',
    '/pets',
    { ...pet({}), headers: { 'idempotency-key': repeat('k', 256) } },
    400,
    'invalid_request',
    /255/,
  ],
  [
    'POST',
    '/pets',
    { ...pet({}), headers: { 'idempotency-key': 'ä' } },
    400,
    'invalid_request',
    /Idempotency-Key/,
  ],
];

const noKey = 'pet_000000000000000000000000000000000000';
const invalidKeys: Row[] = [
  ['GET', '/pets', { key: null }, 401, 'unauthorized', /API key/],
  ['GET', '/petz', { key: null }, 401, 'unauthorized'],
  ['PATCH', '/pets', { key: null }, 401, 'unauthorized'],
  ['POST', '/pets', { key: null, body: '{' }, 401, 'unauthorized'],
  ['GET', '/pets', { key: 'x' }, 401, 'unauthorized', /well-formed/],
  ['GET', '/pets', { key: noKey }, 401, 'unauthorized', /mistyped/],
  ['GET', '/pets', { key: null, headers: { authorization: 'Basic cGV0OnN0b3Jl' } }, 401, 'unauthorized'],
  ['GET', '/pets', { key: null, headers: { authorization: 'Bearer' } }, 401, 'unauthorized'],
  ['GET', '/pets', { key: null, headers: { 'x-api-key': '' } }, 401, 'unauthorized'],
  ['GET', '/pets', { headers: { 'x-api-key': noKey } }, 401, 'unauthorized', /different keys/],
  [`GET`, `/pets?api_key=${noKey}`, { key: null }, 401, 'unauthorized'],
];

let store: Petstore;
before(async (t) => {
  store = await startPetstore(t as never);
});

for (const row of [...invalidBodies, ...invalidPaths, ...invalidQueries, ...invalidHeaders, ...invalidKeys]) {
  const [method, path, options, status, code, names = /./] = row;
  const sent = typeof options.body === 'string' ? options.body : JSON.stringify(options.body ?? '');
  const shown = `${path} ${sent} ${options.headers ? JSON.stringify(options.headers) : ''}`.slice(0, 110);
  test(`${method} ${JSON.stringify(shown)} gets ${status} ${code}`, async () => {
    const unchanged = await store.content();
    const { body, headers, ...answer } = await store.call(method, path, options);
    assert.equal(answer.status, status, answer.text);
    if (answer.text !== '') assert.equal(body.code, code);
    assert.match(body.message, names);
    assert.doesNotMatch(answer.text, /sqlite|\.ts|node_modules|FST_ERR/i);
    if (status === 401) assert.match(headers['www-authenticate'] as string, /^Bearer/);
    assert.equal(await store.content(), unchanged);
  });
}
