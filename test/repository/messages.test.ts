import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type, { type TProperties, type TSchema } from 'typebox';
import { DateTime, Id, Name, PetStatus, Text, Units } from '../../src/foundation/schema.ts';
import { operation } from '../../src/http/operation.ts';
import { empty } from '../../src/http/responses.ts';
import { describeStore } from '../../src/reference/description/apis.ts';
import { baseUrl } from '../support/description.ts';
import { type Petstore, startPetstore } from '../support/petstore.ts';

const uuid = '0f5d1a4e-6a0b-4f0e-9d57-6f3f9e6f5c11';

const closed = { additionalProperties: false };

/** The message for a schema, valid values, and invalid values. */
const words: [TSchema, string, fits: unknown[], misfits: unknown[]][] = [
  [Type.Boolean(), 'true or false', [true], [1]],
  [Type.Integer(), 'an integer', [-7], [1.5]],
  [Type.Integer({ minimum: 2 }), 'an integer of at least 2', [2], [1]],
  [Type.Integer({ maximum: 2 }), 'an integer of at most 2', [2], [3]],
  [Type.Integer({ minimum: 0, maximum: 2 }), 'an integer from 0 to 2', [0], [3]],
  [
    Type.Integer({ format: 'int32' }),
    'an integer from -2147483648 to 2147483647',
    [2 ** 31 - 1],
    [2 ** 31, -(2 ** 31) - 1],
  ],
  [Units(1, '', 1), 'an integer from 1 to 2147483647', [1], [0]],
  [Id(''), 'a 64-bit integer', [1], [2 ** 63, 1.5]],
  [Type.Integer({ format: 'int64', minimum: 1 }), 'a 64-bit integer of at least 1', [1], [0]],
  [Type.Number(), 'a number', [1.5], ['1.5']],
  [Type.Number({ format: 'double', minimum: 0 }), 'a number of at least 0', [0], [-0.1]],
  [Type.Number({ minimum: -1.5, maximum: 1.5 }), 'a number from -1.5 to 1.5', [1.25], [1.75]],
  [Type.String(), 'a string', ['', 'a'], [1]],
  [Type.String({ minLength: 1 }), 'a string of at least 1 character', ['a'], ['']],
  [Type.String({ maxLength: 1 }), 'a string of at most 1 character', [''], ['ab']],
  [Type.String({ minLength: 2, maxLength: 3 }), 'a string of 2 to 3 characters', ['ab'], ['a']],
  [Type.String({ minLength: 2, maxLength: 2 }), 'a string of 2 characters', ['ab'], ['abc']],
  [
    Name(9, '', 'x'),
    'a string of 1 to 9 characters, not only spaces, tabs and line breaks, without the null character',
    ['a '],
    [' ', '\0'],
  ],
  [Text(9, '', 'x'), 'a string of at most 9 characters, without the null character', [' '], ['\0']],
  [
    DateTime('', 'x'),
    'an RFC 3339 date-time such as 2026-01-31T12:00:00Z',
    ['2026-01-31T12:00:00Z'],
    ['2026-01-31'],
  ],
  [Type.String({ format: 'date' }), 'a date such as 2026-01-31', ['2026-01-31'], ['2026-02-30']],
  [Type.String({ format: 'uuid' }), `a UUID such as ${uuid}`, [uuid], [uuid.slice(1)]],
  [
    Type.String({ format: 'uri', maxLength: 30 }),
    'a URI such as https://example.com/pets of at most 30 characters',
    ['https://example.com/pets'],
    ['pets', `https://example.com/${'pets'.repeat(9)}`],
  ],
  [PetStatus, 'one of available, pending, sold', ['sold'], ['lost']],
  [Type.Enum(['cat'], { type: 'string' }), 'cat', ['cat'], ['dog']],
  [Type.Literal('cat'), 'cat', ['cat'], ['dog']],
  [Type.Literal(7), '7', [7], ['7']],
  [Type.Union([Id(''), Type.Null()]), 'a 64-bit integer or null', [null, 1], [2 ** 63]],
  [Type.Array(Type.Boolean()), 'a list of values, each true or false', [[]], [true]],
  [Type.Array(Id(''), { minItems: 1 }), 'at least 1 value, each a 64-bit integer', [[1]], [[], [1, 2 ** 63]]],
  [Type.Array(Id(''), { maxItems: 2 }), 'at most 2 values, each a 64-bit integer', [[]], [[1, 2, 3]]],
  [Type.Array(Id(''), { minItems: 1, maxItems: 2 }), '1 to 2 values, each a 64-bit integer', [[1]], [[]]],
  [Type.Array(Type.Object({}, closed)), 'a list of objects', [[], [{}]], [{}, 'x']],
  [
    Type.Array(Type.Object({}, closed), { minItems: 1, maxItems: 2 }),
    '1 to 2 objects',
    [[{}]],
    [[], [{}, {}, {}]],
  ],
];

/** An operation without a resource, which accepts these. */
const takes = (body: TProperties, query: TProperties = {}) =>
  operation({
    method: 'POST',
    path: '/made-up',
    id: 'makeUp',
    tag: 'Pets',
    summary: 'Make up',
    description: 'Takes values.',
    query,
    body: Type.Object(body),
    success: empty('Done.'),
    handle: async () => {},
  });

/** Sends a body to the operation of `takes`. */
const post = ({ app, key }: Petstore, body: object, query = '') =>
  app.inject({
    ...{ method: 'POST', url: `/v1/made-up${query}`, payload: JSON.stringify(body) },
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  });

test('a refusal of a wrong value says what it must be, for every kind of value', async (t) => {
  const properties = Object.fromEntries(words.map(([schema], i) => [`v${i}`, Type.Optional(schema)]));
  const store = await startPetstore(t, { seed: false, operations: [takes(properties)] });
  const send = (values: unknown[]) =>
    post(store, Object.fromEntries(values.map((value, i) => [`v${i}`, value])));
  const most = (of: 2 | 3) => Math.max(...words.map((row) => row[of].length));
  for (let n = 0; n < most(2); n++) {
    const answer = await send(words.map(([, , fits]) => fits[n]));
    assert.equal(answer.statusCode, 204, answer.body);
  }
  for (let n = 0; n < most(3); n++) {
    const problems = words.flatMap(([, mustBe, , misfits], i) =>
      n in misfits ? [`Body property v${i} must be ${mustBe}`] : [],
    );
    const messages: string[] = [];
    // A message names ten values.
    for (let from = 0; from < words.length; from += 10) {
      const values = words.map(([, , , misfits], i) => (i >= from && i < from + 10 ? misfits[n] : undefined));
      if (values.every((value) => value === undefined)) continue;
      const { message } = (await send(values)).json();
      messages.push(...message.replace(/\.$/, '').split(/\. (?=Body)/));
    }
    assert.deepEqual(messages, problems);
  }
});

const Part = Type.Object(
  { id: Id(''), count: Type.Optional(Type.Integer({ minimum: 1 })), due: Type.Optional(DateTime('', 'x')) },
  closed,
);

/** Lists of objects, and their messages. */
const badLists: [parts: unknown[], message: string][] = [
  [[{ id: 1 }, 7], 'parts[1] must be an object'],
  [[null], 'parts[0] must be an object'],
  [[[]], 'parts[0] must be an object'],
  [[{ id: 1 }, {}, {}], 'parts[1].id must be a 64-bit integer; it is missing'],
  [[{ id: 2 ** 63 }], 'parts[0].id must be a 64-bit integer'],
  [
    [{ id: '1', count: 0 }],
    'parts[0].id must be a 64-bit integer. Body property parts[0].count must be an integer of at least 1',
  ],
  [
    [{ id: 1, due: '2026-01-31T24:00:00Z' }],
    'parts[0].due must be an RFC 3339 date-time such as 2026-01-31T12:00:00Z; there is no time 24:00:00',
  ],
  [[{ id: 1, more: 1, most: 1 }], 'parts[0] must not have "more"; it takes id, count, due'],
  [[JSON.parse('{"id": 1, "__proto__": 1}')], 'parts[0] must not have "__proto__"; it takes id, count, due'],
];

test('a refusal of a list says what is wrong with its first wrong object', async (t) => {
  const operations = [takes({ parts: Type.Array(Part, { maxItems: 100 }) })];
  const store = await startPetstore(t, { seed: false, operations });
  const send = (parts: unknown[]) => post(store, { parts });
  for (const [parts, problem] of badLists)
    assert.equal((await send(parts)).json().message, `Body property ${problem}.`);
  const hundred = Array.from({ length: 100 }, () => ({ id: 1, count: 1, due: '2026-01-31T12:00:00Z' }));
  assert.equal((await send(hundred)).statusCode, 204);
  assert.match((await send([...hundred, {}])).json().message, /parts must be at most 100 objects/);
});

/** Texts that are not a date-time, each with the rest of its message. */
const badInstants: [string, string][] = [
  ['tomorrow', ''],
  ['2026-01-31', ''],
  ['2026-01-31 12:00:00Z', ''],
  ['2026-01-31T12:00Z', ''],
  ['2026-01-31T12:00:00', '; it needs an offset from UTC, such as Z or +02:00'],
  ['2026-01-31T12:00:00.1234567890Z', '; its second must have at most 9 digits after the point'],
  ['9999-12-31T23:30:00-01:00', '; its year must be 0000 to 9999 in UTC'],
  ['9999-12-31T23:59:60Z', '; its year must be 0000 to 9999 in UTC'],
  ['0000-01-01T00:30:00+01:00', '; its year must be 0000 to 9999 in UTC'],
  ['10000-01-01T00:00:00Z', '; its year must be 0000 to 9999 in UTC'],
  ['-000001-01-01T00:00:00Z', '; its year must be 0000 to 9999 in UTC'],
  ['2026-02-30T12:00:00Z', '; there is no day 2026-02-30'],
  ['2026-13-01T12:00:00Z', '; there is no day 2026-13-01'],
  ['2026-01-31T24:00:00Z', '; there is no time 24:00:00'],
  ['2026-01-31T12:00:61Z', '; there is no time 12:00:61'],
  ['2026-01-31T12:00:00+24:00', '; there is no offset +24:00'],
  ['2026-06-30T12:59:60Z', '; a leap second is at 23:59:60 in UTC and at no other time'],
  ['2026-06-30T23:59:60+01:00', '; a leap second is at 23:59:60 in UTC and at no other time'],
];

test('a refusal of a date-time names the violated rule', async (t) => {
  const store = await startPetstore(t);
  const sayOf = async (method: string, path: string, shipDate: string) => {
    const { status, body } = await store.call(method, path, { body: { shipDate } });
    assert.equal(status, 400, shipDate);
    return body.message;
  };
  const mustBe = 'Body property shipDate must be an RFC 3339 date-time such as 2026-01-31T12:00:00Z';
  for (const [text, rule] of badInstants) {
    assert.equal(await sayOf('POST', '/store/orders', text), `${mustBe}${rule}.`);
    assert.equal(await sayOf('PATCH', '/store/orders/2', text), `${mustBe} or null${rule}.`);
  }
});

test('numbers and dates in a query are accepted if they are written as numbers and dates', async (t) => {
  const query = { price: Type.Optional(Type.Number()), born: Type.Optional(Type.String({ format: 'date' })) };
  const store = await startPetstore(t, { seed: false, operations: [takes({}, query)] });
  const fits = ['price=1.5', 'price=-0.25', 'price=3', 'born=2026-01-31'];
  for (const text of [...fits, 'price=', 'price=1e3', 'price=0x1', 'price=.5', 'price=01', 'born=2026-1-31'])
    assert.equal((await post(store, {}, `?${text}`)).statusCode, fits.includes(text) ? 204 : 400, text);
});

const wordless: [string, TSchema, RegExp][] = [
  [
    'a keyword',
    Type.Number({ multipleOf: 0.01 }),
    /multipleOf of number; add them in src\/http\/schema-messages/,
  ],
  ['a keyword of another type', { type: 'integer', maxLength: 3 } as TSchema, /maxLength of integer; add/],
  ['a format of text', Type.String({ format: 'email' }), /the format email of string; add/],
  ['a format of integers', Type.Integer({ format: 'int8' }), /the format int8 of integer; add/],
  ['a format of numbers', Type.Number({ format: 'money' }), /the format money of number; add/],
  [
    'a pattern',
    Type.String({ pattern: '^[a-z]+$' }),
    /\^\[a-z\]\+\$; add them in patternWords in src\/foundation\/schema/,
  ],
  ['a type', Type.Object({}), /the type object; add/],
  ['no type', Type.Any(), /the type undefined; add/],
  ['a union', Type.Union([Type.String(), Type.Boolean()]), /anyOf other than with null; add/],
  ['an enumeration without a type', Type.Enum([1, 2]), /an enum needs a type/],
  ['items', Type.Array(Type.Array(Type.Object({}, closed))), /the type object; add/],
  [
    'a list',
    Type.Array(Type.Object({}, closed), { uniqueItems: true }),
    /uniqueItems of a list of objects; add/,
  ],
  [
    'objects',
    Type.Array(Type.Object({}, { ...closed, minProperties: 1 })),
    /minProperties of an object; add/,
  ],
  [
    'objects with any properties',
    Type.Array(Type.Object({})),
    /objects of a list take declared properties only/,
  ],
  [
    'a property of objects',
    Type.Array(Type.Object({ at: Type.Optional(Type.String({ format: 'email' })) }, closed)),
    /^Body property born\[0\]\.at: .*the format email of string; add/,
  ],
];

for (const [what, schema, reason] of wordless) {
  test(`${what} that messages cannot describe stops the start, which names the field`, async (t) => {
    const { app } = await startPetstore(t, { seed: false, operations: [takes({ born: schema })] });
    const { message } = (await Promise.resolve(app.ready()).catch((error) => error)) as Error;
    assert.match(message, /^Body property born(\[0\]\.at)?: /);
    assert.match(message, reason);
  });
}

test('a property with one allowed value has an enum in OpenAPI 3.0.3, which has no const', () => {
  const description = describeStore([takes({ kind: Type.Literal('cat', { examples: ['cat'] }) })], baseUrl);
  const kind = '"kind":{"type":"string","enum":["cat"],"example":"cat"}';
  assert.ok(JSON.stringify(description).includes(kind));
});
