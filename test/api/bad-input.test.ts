import { pet, type Refusal, raw, repeat, testRefusals } from '../support/refusals.ts';

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

const invalidPaths: Refusal[] = [
  ...ids.map(
    (id): Refusal => [
      'GET',
      `/pets/${encodeURI(id).replaceAll('%25', '%')}`,
      {},
      /petId must be a 64-bit integer/,
    ],
  ),
  ...unknownIds.map((id): Refusal => ['GET', `/pets/${id}`, {}, 'not_found', /petId/]),
  ['GET', '/categories/x', {}, /categoryId/],
  ['GET', '/categories/9007199254740993', {}, 'not_found'],
  ['GET', '/store/orders/x', {}, /orderId/],
  ['GET', '/inventory/x', {}, /petId/],
  ['PATCH', '/pets/9223372036854775808', { body: {} }, 'invalid_request'],
  ['PUT', '/pets/x', { body: { name: '' } }, /petId.*name.*categoryId/],
  ['GET', '/pets/%E0%', {}, /percent-encoding/],
  ['GET', '/pets/%', {}, /percent-encoding/],
  ['GET', '/petz', {}, 'not_found'],
  ['GET', '/pets/1/toys', {}, 'not_found'],
  ['GET', '/pets/', {}, 'not_found', /mean \/v1\/pets\?/],
  ['DELETE', '/pets/', { headers: { 'if-match': 'abc' } }, 'not_found'],
  ['PATCH', '/%70ets/', raw(repeat('x', 70_000)), 'not_found'],
  ['POST', '/pets/', pet({}), 'not_found', /mean \/v1\/pets\?/],
  ['GET', '/pets/1/', {}, 'not_found', /mean \/v1\/pets\/1\?/],
  ['GET', '//pets/%31/', {}, 'not_found', /mean \/v1\/pets\/%31\?/],
  ['GET', '/pets;x', {}, 'not_found'],
  ['DELETE', '/pets;x', {}, 'not_found'],
  ['GET', '/pets/1;x', {}, /petId/],
  ['POST', '/petz', raw('<xml/>', { 'content-type': 'text/xml' }), 'not_found'],
  ['POST', '/petz', raw(repeat('x', 70_000)), 'not_found'],
  ['POST', '/pets/1', pet({}), 'method_not_allowed', /GET, HEAD, PUT, PATCH, DELETE, OPTIONS/],
  ['DELETE', '/pets', {}, 'method_not_allowed', /GET, HEAD, POST, OPTIONS/],
  ['PATCH', '/categories/1', { body: {} }, 'method_not_allowed'],
  ['PUT', '/store/orders/1', raw('x', { 'content-type': 'nonsense' }), 'method_not_allowed'],
  ['QUERY', '/pets', {}, 'method_not_allowed'],
  ['PROPFIND', '/pets', {}, 'method_not_allowed'],
  ['TRACE', '/pets', {}, 'method_not_allowed'],
  // Encoded characters mean the same characters, except a slash: that one separates no segments.
  ['DELETE', '/%70ets', {}, 'method_not_allowed', /GET, HEAD, POST, OPTIONS/],
  ['PROPFIND', '/pets/%31', {}, 'method_not_allowed', /PATCH/],
  ['GET', '/pets/1%2F2', {}, /petId/],
  ['POST', '/pets/1%2F2', pet({}), 'method_not_allowed'],
  ['GET', '/pets%2F1', {}, 'not_found'],
  ['POST', '/pets%2f1', pet({}), 'not_found'],
  ['DELETE', '/%2570ets', {}, 'not_found'],
  ['GET', '/pets/%2531', {}, /petId/],
  ['DELETE', '/pets%3Flimit=1', {}, 'not_found'],
  ['PROPFIND', '/pets/%E0%', {}, /percent-encoding/],
  ['POST', '/openapiXjson', {}, 'not_found'],
];

const invalidQueries: Refusal[] = [
  ...['0', '101', '-1', 'x', '', '1.0', '1e1', ' 5', '%2B5', '05', '99999999999999999999', '10&limit=10'].map(
    (limit): Refusal => ['GET', `/pets?limit=${limit}`, {}, /limit/],
  ),
  ...['x', '', 'bGlzdFBldHM6', 'bGlzdE9yZGVyczo1', 'bGlzdFBldHM6MjA=', 'bGlzdFBldHM6LTE.', '%00', 'null'].map(
    (cursor): Refusal => ['GET', `/pets?cursor=${cursor}`, {}, /cursor/],
  ),
  ['GET', '/pets?status=lost', {}, /status must be one of available, pending, sold/],
  ['GET', '/pets?status=', {}, /status/],
  ['GET', '/pets?status=SOLD', {}, /status/],
  ['GET', '/pets?status=sold&status=sold', {}, /status must be sent once/],
  ['GET', '/pets?categoryId=x', {}, /categoryId/],
  ['GET', '/pets?categoryId=9223372036854775808', {}, /categoryId/],
  ['GET', '/pets?id=1,2', {}, /id must be/],
  ['GET', '/pets?id=', {}, /id must be/],
  ['GET', '/pets?id=1&id=x', {}, /id must be/],
  ['GET', '/pets?colour=red', {}, /"colour" is not a query parameter.*status, categoryId, id, limit, cursor/],
  ['GET', '/pets?__proto__=1', {}, /"__proto__"/],
  ['GET', '/pets/1?x=1', {}, /takes none/],
  ['GET', '/pets?status=%E0%', {}, /percent-encoding/],
  ['GET', '/pets?status=%FF', {}, /percent-encoding/],
  ['GET', '/pets?limit=0&status=lost&categoryId=x', {}, /status.*categoryId.*limit/],
  ['GET', '/store/orders?complete=1', {}, /complete must be true or false/],
  ['GET', '/store/orders?complete=TRUE', {}, /complete/],
  ['GET', '/store/orders?petId=x', {}, /petId/],
  ['GET', '/inventory?status=lost', {}, /status/],
  ['DELETE', '/pets/4?force=true', {}, /"force"/],
];

const invalidHeaders: Refusal[] = [
  ['GET', '/pets/1', { headers: { 'if-none-match': 'abc' } }, /If-None-Match/],
  ['DELETE', '/pets/4', { headers: { 'if-match': 'abc' } }, /If-Match/],
  ['DELETE', '/pets/4', { headers: { 'if-match': '' } }, /If-Match/],
  ['PUT', '/pets/4', { ...pet({}), headers: { 'if-match': '*, "a"' } }, /If-Match/],
  ...['', '""', '"open', repeat('k', 256), 'ä', ['a', 'b'] as unknown as string].map(
    (key): Refusal => [
      'POST',
      '/pets',
      { ...pet({}), headers: { 'idempotency-key': key } },
      /Idempotency-Key.*255/,
    ],
  ),
];

const noKey = 'pet_000000000000000000000000000000000000';
const invalidKeys: Refusal[] = [
  ['GET', '/pets', { key: null }, 'unauthorized', /API key/],
  ['GET', '/petz', { key: null }, 'unauthorized'],
  ['PATCH', '/pets', { key: null }, 'unauthorized'],
  ['POST', '/pets', { key: null, body: '{' }, 'unauthorized'],
  ['GET', '/pets', { key: 'x' }, 'unauthorized', /malformed/],
  ['GET', '/pets', { key: noKey }, 'unauthorized', /mistyped/],
  ['GET', '/pets', { key: null, headers: { authorization: 'Basic cGV0OnN0b3Jl' } }, 'unauthorized'],
  ['GET', '/pets', { key: null, headers: { authorization: 'Bearer' } }, 'unauthorized'],
  ['GET', '/pets', { key: null, headers: { 'x-api-key': '' } }, 'unauthorized'],
  ['GET', '/pets', { headers: { 'x-api-key': noKey } }, 'unauthorized', /different keys/],
  [`GET`, `/pets?api_key=${noKey}`, { key: null }, 'unauthorized'],
];

testRefusals([...invalidPaths, ...invalidQueries, ...invalidHeaders, ...invalidKeys]);
