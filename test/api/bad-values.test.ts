import { pet, type Refusal, raw, repeat, testRefusals } from '../support/refusals.ts';

/** A pet whose category is a number in the notation given. */
const inCategory = (id: string) => raw(`{"name":"Zed","categoryId":${id}}`);

testRefusals([
  // Wrong types: nothing is coerced.
  ...[5, null, ['Zed'], { first: 'Zed' }, true].map(
    (name): Refusal => ['POST', '/pets', pet({ name }), /name must be a string of 1 to 200/],
  ),
  ['POST', '/pets', pet({ categoryId: '1' }), /categoryId must be a 64-bit integer/],
  ['POST', '/pets', pet({ categoryId: 1.5 }), /categoryId/],
  ['POST', '/pets', pet({ categoryId: null }), /categoryId/],
  ['POST', '/pets', pet({ status: null }), /status/],
  ['POST', '/pets', pet({ status: 1 }), /status/],
  ['POST', '/pets', pet({ status: ['sold'] }), /status/],
  ['POST', '/pets', { body: {} }, /name .*missing.*categoryId .*missing/],
  ['POST', '/pets', { body: { name: 7, categoryId: 'x', status: 'gone' } }, /name.*categoryId.*status/],
  ['POST', '/categories', { body: { name: 'Dogs', description: 5 } }, /description/],
  ['POST', '/categories', { body: { name: 'Dogs', description: null } }, /description/],
  ['POST', '/store/orders', { body: { complete: 'true' } }, /complete must be true or false/],
  ['POST', '/store/orders', { body: { complete: 1 } }, /complete/],
  ['POST', '/store/orders', { body: { quantity: '2' } }, /quantity/],
  ['PATCH', '/inventory/1', { body: {} }, /quantity .*missing/],
  ['PATCH', '/inventory/1', { body: { quantity: null } }, /quantity/],
  ['PATCH', '/pets/1', { body: { name: null } }, /name/],
  ['PATCH', '/pets/1', { body: { status: 'lost' } }, /status must be one of available, pending, sold/],
  ['PATCH', '/store/orders/2', { body: { quantity: {} } }, /quantity/],
  // Out of range.
  ['POST', '/store/orders', { body: { quantity: 0 } }, /quantity must be an integer from 1 to 2147483647/],
  ['POST', '/store/orders', { body: { quantity: -1 } }, /quantity/],
  ['POST', '/store/orders', { body: { quantity: 2147483648 } }, /quantity/],
  ['POST', '/store/orders', { body: { quantity: 1e300 } }, /quantity/],
  ['PATCH', '/inventory/1', { body: { quantity: -1 } }, /quantity must be an integer from 0 to/],
  ['PATCH', '/inventory/1', { body: { quantity: 2147483648 } }, /quantity/],
  // Around the edges of 53 and 64 bits.
  ...['4711', '0', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808'].map(
    (id): Refusal => ['POST', '/pets', inCategory(id), 'invalid_reference', /categoryId/],
  ),
  ...['9223372036854775808', '-9223372036854775809', '1e400', '1.0000000000000000001'].map(
    (id): Refusal => ['POST', '/pets', inCategory(id), /categoryId must be a 64-bit integer/],
  ),
  ['POST', '/store/orders', raw('{"quantity":4.9999999999999999999}'), /quantity/],
  ['POST', '/store/orders', raw('{"petId":9007199254740993}'), 'invalid_reference', /petId/],
  ['POST', '/store/orders', raw('{"petId":9223372036854775808}'), /petId/],
  ['PUT', '/pets/1', pet({ categoryId: 4711 }), 'invalid_reference', /categoryId/],
  ['PUT', '/pets/1', inCategory('9223372036854775807'), 'invalid_reference', /categoryId/],
  ['PATCH', '/pets/1', raw('{"categoryId":-9223372036854775808}'), 'invalid_reference', /categoryId/],
  ['PATCH', '/pets/1', { body: { categoryId: 4711 } }, 'invalid_reference', /categoryId/],
  // Names.
  ['POST', '/pets', pet({ name: '' }), /name/],
  ['POST', '/pets', pet({ name: '   ' }), /not only spaces, tabs/],
  ['POST', '/pets', pet({ name: '\t\n\v\f\r ' }), /name/],
  ['POST', '/pets', pet({ name: repeat('x', 201) }), /name/],
  ['POST', '/pets', pet({ name: repeat('🐶', 201) }), /name/],
  ['POST', '/pets', pet({ name: 'a\u0000b' }), /null character/],
  ['PUT', '/pets/1', pet({ name: repeat('x', 60_000) }), /name/],
  ['PUT', '/categories/1', { body: { name: ' ' } }, /name/],
  ['POST', '/categories', { body: { name: 'Dogs', description: repeat('x', 2001) } }, /description/],
  ['POST', '/categories', { body: { name: 'Dogs', description: '\u0000' } }, /description/],
  ['POST', '/pets', raw('{"name":"\\ud800","categoryId":1}'), 'invalid_json', /surrogate/],
  ['POST', '/pets', raw('{"\\udc00":1,"name":"Zed","categoryId":1}'), 'invalid_json', /surrogate/],
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
    (shipDate): Refusal => [
      'POST',
      '/store/orders',
      { body: { shipDate } },
      /shipDate must be an RFC 3339 date-time/,
    ],
  ),
  ['POST', '/store/orders', { body: { shipDate: 1767225600 } }, /shipDate/],
  ['PATCH', '/store/orders/2', { body: { shipDate: 'never' } }, /shipDate/],
  // Numbers that a double would round to integers.
  ...[
    '1e-400',
    '0.99999999999999999e0',
    '999999999999999.99',
    '-1e-1',
    '1.00000000000000000001',
    '1e400',
  ].map(
    (quantity): Refusal => [
      'PATCH',
      '/inventory/1',
      raw(`{"quantity":${quantity}}`, { 'content-type': 'application/merge-patch+json' }),
      /quantity must be an integer/,
    ],
  ),
]);
