import { METHODS } from 'node:http';
import fc, { type Arbitrary } from 'fast-check';
import { described } from './interpret.ts';
import { anyValue } from './values.ts';

/** A request under construction. */
export interface Draft {
  method: string;
  path: string;
  /** Without the question mark. */
  query: string;
  headers: Record<string, string>;
  /** The JSON value of the body. */
  value?: unknown;
  /** Changes the text of the body into something other than a JSON object without duplicates in UTF-8. */
  spoil?: (text: string) => string | Uint8Array;
}

/** Turns a valid request into a possibly invalid one. */
export type Twist = (draft: Draft) => void;

const twistBy = <Value>(
  values: Arbitrary<Value>,
  apply: (draft: Draft, value: Value) => void,
): Arbitrary<Twist> => values.map((value) => (draft) => apply(draft, value));

const property = fc.constantFrom(...new Set(described.flatMap(({ bodyNames }) => bodyNames)));
const strangeName = fc.constantFrom(
  '__proto__',
  'constructor',
  'toString',
  'id',
  '',
  'Name',
  'name ',
  '\ufeff',
);

const withProperty = (name: string, value: unknown): Twist => {
  return (draft) => {
    if (typeof draft.value !== 'object' || draft.value === null) return;
    const copy = { ...draft.value };
    Object.defineProperty(copy, name, { value, enumerable: true, configurable: true });
    draft.value = copy;
  };
};

const ofBodies: Arbitrary<Twist> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(property, anyValue).map(([name, value]) => withProperty(name, value)) },
  { weight: 2, arbitrary: fc.tuple(strangeName, anyValue).map(([name, value]) => withProperty(name, value)) },
  {
    weight: 2,
    arbitrary: twistBy(property, (draft, name) => {
      const { [name]: _, ...rest } = (draft.value ?? {}) as Record<string, unknown>;
      if (draft.value !== undefined) draft.value = rest;
    }),
  },
  twistBy(anyValue, (draft, value) => {
    if (draft.value !== undefined) draft.value = value;
  }),
);

type Spoil = NonNullable<Draft['spoil']>;

const spoils: Record<string, Spoil> = {
  truncated: (text) => text.slice(0, -1),
  'with more after it': (text) => `${text}{}`,
  'with a comma too many': (text) => text.replace(/}$/, ',}'),
  empty: () => '',
  'not a number': () => '{"quantity":NaN}',
  'in single quotes': (text) => text.replaceAll('"', "'").replace('{}', "{'a':1}"),
  'a name twice': (text) => text.replace(/}$/, `${text.length > 2 ? ',' : ''}"a":1,"\\u0061":2}`),
  'a name twice, deep down': () => '{"a":[{"b":{"__proto__":1,"__proto__":1}}]}',
  'half a surrogate pair': () => '{"name":"\\ud83d","categoryId":1}',
  'open brackets': () => '['.repeat(30_000),
  'many brackets': () => '['.repeat(30_000) + ']'.repeat(30_000),
  'deep objects': () => `${'{"a":'.repeat(10_000)}1`,
  'not UTF-8': (text) => Buffer.concat([Buffer.from(text), Buffer.from([0xff])]),
  'UTF-16': (text) => Buffer.from(text, 'utf16le'),
  'a null byte': (text) => `${text}\u0000`,
};

const ofTexts: Arbitrary<Twist> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(...Object.values(spoils)).map(
      (spoil): Twist =>
        (draft) => {
          draft.spoil = spoil;
        },
    ),
  },
  fc.constant<Twist>(withProperty('padding', 'x'.repeat(70_000))),
  // With the list and the body itself, and two to eight properties: at most 1,000 values, or more.
  fc.integer({ min: 985, max: 1_005 }).map((count) => withProperty('padding', Array(count).fill(0))),
);

const queryParts = fc.constantFrom(
  ...[
    'limit=0',
    'limit=101',
    'limit=1.0',
    'limit=',
    'limit=5&limit=5',
    'limit=%31',
    'limit=1%00',
    'limit=-0',
  ],
  ...['limit=99999999999999999999', 'cursor=', 'cursor=x', 'cursor=bGlzdFBldHM6', 'cursor=%F0%9F%90%95'],
  ...['status=sold', 'status=SOLD', 'status=%00', 'status[]=sold', 'status=sold&status=sold', 'status'],
  ...['complete=1', 'complete=true', 'categoryId=1', 'categoryId=9223372036854775808', 'petId=x', 'petId=+1'],
  ...[
    'id=1',
    'id=1&id=x',
    'id=',
    'id[0]=1',
    'id=1,2',
    '__proto__=1',
    'constructor=1',
    '=',
    '&&',
    '%',
    '%E0%A4',
  ],
  ...['after=0', 'after=1', 'after=-1', 'after=', 'after=0&after=0', 'after=9223372036854775807', 'after=x'],
  ...['type=pet.created', 'type=pet.created&type=order.placed', 'type=pet.eaten', 'type=', 'type=ping'],
  ...['type=PET.CREATED', 'type[]=pet.created', 'type=pet.created,pet.deleted', 'type=__proto__'],
  ...['%ff=1', 'a=%C0%80', 'x=1#y', ';', `q=${'x'.repeat(8_000)}`, '🐕=1', "'", '"', '%0d%0aX-Evil:1'],
  Array(101).fill('id=1').join('&'),
);

/** Replaces the whole path. */
const otherPaths = fc.constantFrom(
  ...[
    '//v1/pets',
    '/v1%2Fpets',
    '/%76%31/pets',
    '/%76%31/%70ets/%31',
    '/%76%31/%E0%',
    '/V1/pets',
    '/pets',
    '/v1/',
  ],
);

/** Percent-encoded characters in a path, which mean the same path. */
const encodedCharacters = fc.uniqueArray(fc.constantFrom(...'v1petscaoris2'), { minLength: 1 });

const percentEncoded = (char: string) => `%${char.charCodeAt(0).toString(16)}`;

/** Below /v1. */
const addresses = fc.constantFrom(
  ...[
    '/pets/',
    '//pets',
    '/pets//1',
    '/pets/1/',
    '/pets/1/toys',
    '/Pets',
    '/pets.json',
    '/pets;a=1',
    '/pets/1;a=1',
  ],
  ...[
    '/pets%2F1',
    '/pets/%2531',
    '/pets/%252F',
    '/%2570ets',
    '/pets/%31',
    '/pets/%E0%',
    '/pets/%',
    '/pets/%00',
    '/pets/1%00',
    '/pets/%0d%0a',
    '/',
  ],
  ...[
    '/pets/__proto__',
    '/constructor',
    '/pets/+1',
    '/pets/01',
    '/pets/1e3',
    '/pets/-0',
    '/pets/१',
    '/pets/🐕',
  ],
  ...[
    '/store',
    '/store/orders/x',
    '/categories/0x1',
    '/store/events/0',
    '/store/events/-1',
    '/store/events/1.0',
    '/store/events/9223372036854775807',
    '/inventory/9223372036854775808',
    `/pets/${'9'.repeat(400)}`,
  ],
  ...[
    '/inventory/-9223372036854775809',
    `/${'a'.repeat(9_000)}`,
    `/pets/${'%41'.repeat(900)}`,
    '/*',
    '/pets/:petId',
  ],
);

const fields = fc.oneof(
  fieldsOf('content-type', [
    ...[
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=utf-16',
      'application/json;charset = latin1',
      'json',
      '*/*',
      '',
    ],
    ...[
      'application/json;charset="utf-8"',
      'APPLICATION/JSON',
      'application/json;',
      'multipart/form-data',
      ';',
    ],
    ...[
      'application/json, text/plain',
      `application/json; a=${'b'.repeat(4_000)}`,
      'application/merge-patch+json',
    ],
  ]),
  fieldsOf('content-encoding', ['gzip', 'identity', 'br, gzip', '', 'deflate']),
  fieldsOf('if-match', [
    'abc',
    '',
    '*',
    '"open',
    '*, "a"',
    'W/"x"',
    '"a", "b"',
    `"${'a'.repeat(6_000)}"`,
    ',,"a",,',
  ]),
  fieldsOf('if-none-match', ['abc', '', '*', '"open', '*, "a"', 'W/"x"', '"a", "b"', ', '.repeat(3_000)]),
  fieldsOf('idempotency-key', [
    '',
    '""',
    '"open',
    'k'.repeat(256),
    'k'.repeat(255),
    'ä',
    'a b',
    '"a b"',
    '"\\"',
    '~',
  ]),
  fieldsOf('x-request-id', ['', 'a b', 'x'.repeat(129), 'ä', 'walk-1', '__proto__', '"<script>']),
  fieldsOf('authorization', [
    '',
    'Bearer',
    'Bearer ',
    'Basic eDp5',
    `Bearer pet_${'0'.repeat(36)}`,
    'pet_',
    '\t',
  ]),
  fieldsOf('x-api-key', ['', 'x', `pet_${'0'.repeat(36)}`, '__proto__']),
  fieldsOf('accept', [
    'application/problem+json',
    'application/problem+json, */*',
    'text/html',
    '',
    '*/*;q=0',
    'x'.repeat(2_000),
  ]),
  fieldsOf('x-http-method-override', ['DELETE']),
  fieldsOf('range', ['bytes=0-0']),
  fieldsOf('expect', ['100-continue', 'wonders']),
  fieldsOf('x-forwarded-for', ['1.2.3.4', '::', 'nonsense', ',']),
  fieldsOf('last-event-id', ['', '0', '1', '4711', 'x']),
  fieldsOf('cookie', ['a=1', '=;='.repeat(500)]),
  fieldsOf('__proto__', ['1']),
  fieldsOf('accept-encoding', ['gzip', '*']),
  fieldsOf('if-modified-since', ['yesterday', 'Thu, 05 Dec 2030 00:00:00 GMT']),
);

function fieldsOf(name: string, values: string[]): Arbitrary<[string, string]> {
  return fc.tuple(fc.constant(name), fc.constantFrom(...values));
}

/** Node.js handles CONNECT separately, and light-my-request does not know every method. */
const methods = METHODS.filter((method) => method !== 'CONNECT');

/** Ways to make a request odd. */
export const twist: Arbitrary<Twist> = fc.oneof(
  { weight: 8, arbitrary: ofBodies },
  { weight: 3, arbitrary: ofTexts },
  {
    weight: 4,
    arbitrary: twistBy(queryParts, (draft, part) => {
      draft.query = draft.query ? `${draft.query}&${part}` : part;
    }),
  },
  {
    weight: 2,
    arbitrary: twistBy(addresses, (draft, path) => {
      draft.path = `/v1${path}`;
    }),
  },
  {
    weight: 1,
    arbitrary: twistBy(otherPaths, (draft, path) => {
      draft.path = path;
    }),
  },
  {
    weight: 2,
    arbitrary: twistBy(encodedCharacters, (draft, chars) => {
      if (draft.path.includes('%')) return;
      draft.path = draft.path.replace(/./g, (char) => (chars.includes(char) ? percentEncoded(char) : char));
    }),
  },
  {
    weight: 4,
    arbitrary: twistBy(fields, (draft, [name, value]) => {
      draft.headers = { ...draft.headers };
      Object.defineProperty(draft.headers, name, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }),
  },
  {
    weight: 1,
    arbitrary: twistBy(fc.constantFrom('content-type', 'authorization'), (draft, name) => {
      const { [name]: _, ...rest } = draft.headers;
      draft.headers = rest;
    }),
  },
  {
    weight: 2,
    arbitrary: twistBy(fc.constantFrom('HEAD', 'OPTIONS', 'TRACE', 'QUERY', ...methods), (draft, method) => {
      draft.method = method;
    }),
  },
);
