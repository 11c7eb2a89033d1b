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

/** Twists by any of the values, with a weight among others. */
const twistBy = <Value>(
  weight: number,
  values: Arbitrary<Value>,
  apply: (draft: Draft, value: Value) => void,
): fc.WeightedArbitrary<Twist> => ({
  weight,
  arbitrary: values.map((value) => (draft) => apply(draft, value)),
});

/** A copy with one more property of its own, also if that is `__proto__`. */
const withOwn = <Thing extends object>(thing: Thing, name: string, value: unknown): Thing =>
  Object.defineProperty({ ...thing }, name, {
    ...{ value, enumerable: true, configurable: true, writable: true },
  });

const withProperty =
  (name: string, value: unknown): Twist =>
  (draft) => {
    if (typeof draft.value === 'object' && draft.value) draft.value = withOwn(draft.value, name, value);
  };

const property = fc.constantFrom(
  ...new Set(described.flatMap(({ bodyProperties }) => Object.keys(bodyProperties))),
);
const strangeName = fc.constantFrom(
  ...['__proto__', 'constructor', 'toString', 'id', '', 'Name', 'name ', '\ufeff'],
);

const ofBodies: Arbitrary<Twist> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(property, anyValue).map(([name, value]) => withProperty(name, value)) },
  { weight: 2, arbitrary: fc.tuple(strangeName, anyValue).map(([name, value]) => withProperty(name, value)) },
  twistBy(2, property, (draft, name) => {
    const { [name]: _, ...rest } = (draft.value ?? {}) as Record<string, unknown>;
    if (draft.value !== undefined) draft.value = rest;
  }),
  twistBy(1, anyValue, (draft, value) => {
    if (draft.value !== undefined) draft.value = value;
  }),
);

const spoils: NonNullable<Draft['spoil']>[] = [
  (text) => text.slice(0, -1),
  (text) => `${text}{}`,
  (text) => text.replace(/}$/, ',}'),
  () => '',
  () => '{"quantity":NaN}',
  (text) => text.replaceAll('"', "'").replace('{}', "{'a':1}"),
  // A name twice, spelled differently, and deep down.
  (text) => text.replace(/}$/, `${text.length > 2 ? ',' : ''}"a":1,"\\u0061":2}`),
  () => '{"a":[{"b":{"__proto__":1,"__proto__":1}}]}',
  // Half a surrogate pair.
  () => '{"name":"\\ud83d","categoryId":1}',
  () => '['.repeat(30_000),
  () => '['.repeat(30_000) + ']'.repeat(30_000),
  () => `${'{"a":'.repeat(10_000)}1`,
  (text) => Buffer.concat([Buffer.from(text), Buffer.from([0xff])]),
  (text) => Buffer.from(text, 'utf16le'),
  (text) => `${text}\u0000`,
];

const ofTexts: Arbitrary<Twist> = fc.oneof(
  twistBy(4, fc.constantFrom(...spoils), (draft, spoil) => {
    draft.spoil = spoil;
  }),
  fc.constant<Twist>(withProperty('padding', 'x'.repeat(70_000))),
  // With the list and the body itself, and two to eight properties: at most 1,000 values, or more.
  fc.integer({ min: 985, max: 1_005 }).map((count) => withProperty('padding', Array(count).fill(0))),
);

/** Odd values, separated by blanks. */
const words = (text: string) => text.trim().split(/\s+/);

const queryParts = fc.constantFrom(
  ...words(`
    limit=0 limit=101 limit=1.0 limit= limit=5&limit=5 limit=%31 limit=1%00 limit=-0 limit=99999999999999999999
    cursor= cursor=x cursor=bGlzdFBldHM6 cursor=%F0%9F%90%95
    status=sold status=SOLD status=%00 status[]=sold status=sold&status=sold status
    complete=1 complete=true categoryId=1 categoryId=9223372036854775808 petId=x petId=+1
    id=1 id=1&id=x id= id[0]=1 id=1,2 __proto__=1 constructor=1 = && % %E0%A4
    after=0 after=1 after=-1 after= after=0&after=0 after=9223372036854775807 after=x
    type=pet.created type=pet.created&type=order.placed type=pet.eaten type= type=ping
    type=PET.CREATED type[]=pet.created type=pet.created,pet.deleted type=__proto__
    %ff=1 a=%C0%80 x=1#y ; 🐕=1 ' " %0d%0aX-Evil:1`),
  `q=${'x'.repeat(8_000)}`,
  Array(101).fill('id=1').join('&'),
);

/** Replaces the whole path. */
const otherPaths = fc.constantFrom(
  ...words('//v1/pets /v1%2Fpets /%76%31/pets /%76%31/%70ets/%31 /%76%31/%E0% /V1/pets /pets /v1/'),
);

/** Percent-encoded characters in a path, which mean the same path. */
const encodedCharacters = fc.uniqueArray(fc.constantFrom(...'v1petscaoris2'), { minLength: 1 });

const percentEncoded = (char: string) => `%${char.charCodeAt(0).toString(16)}`;

/** Below /v1. */
const addresses = fc.constantFrom(
  ...words(`
    /pets/ //pets /pets//1 /pets/1/ /pets/1/toys /Pets /pets.json /pets;a=1 /pets/1;a=1
    /pets%2F1 /pets/%2531 /pets/%252F /%2570ets /pets/%31 /pets/%E0% /pets/% /pets/%00 /pets/1%00 /pets/%0d%0a /
    /pets/__proto__ /constructor /pets/+1 /pets/01 /pets/1e3 /pets/-0 /pets/१ /pets/🐕
    /store /store/orders/x /categories/0x1 /store/events/0 /store/events/-1 /store/events/1.0
    /store/events/9223372036854775807 /inventory/9223372036854775808 /inventory/-9223372036854775809 /* /pets/:petId`),
  ...[`/pets/${'9'.repeat(400)}`, `/${'a'.repeat(9_000)}`, `/pets/${'%41'.repeat(900)}`],
);

/** Odd values of header fields, separated by bars. */
const oddFields: [name: string, values: string][] = [
  [
    'content-type',
    'text/plain|application/x-www-form-urlencoded|application/json; charset=utf-16|;|json|*/*|',
  ],
  ['content-type', 'application/json;charset = latin1|application/json;charset="utf-8"|APPLICATION/JSON'],
  ['content-type', 'application/json;|multipart/form-data|application/merge-patch+json'],
  ['content-type', `application/json, text/plain|application/json; a=${'b'.repeat(4_000)}`],
  ['content-encoding', 'gzip|identity|br, gzip||deflate'],
  ['if-match', `abc||*|"open|*, "a"|W/"x"|"a", "b"|"${'a'.repeat(6_000)}"|,,"a",,`],
  ['if-none-match', `abc||*|"open|*, "a"|W/"x"|"a", "b"|${', '.repeat(3_000)}`],
  ['idempotency-key', `|""|"open|${'k'.repeat(256)}|${'k'.repeat(255)}|ä|a b|"a b"|"\\"|~`],
  ['x-request-id', `|a b|${'x'.repeat(129)}|ä|walk-1|__proto__|"<script>`],
  ['authorization', `|Bearer|Bearer |Basic eDp5|Bearer pet_${'0'.repeat(36)}|pet_|\t`],
  ['x-api-key', `|x|pet_${'0'.repeat(36)}|__proto__`],
  ['accept', 'application/problem+json|application/problem+json, */*|text/html||*/*;q=0'],
  ['accept', 'x'.repeat(2_000)],
  ['x-http-method-override', 'DELETE'],
  ['range', 'bytes=0-0'],
  ['expect', '100-continue|wonders'],
  ['x-forwarded-for', '1.2.3.4|::|nonsense|,'],
  ['last-event-id', '|0|1|4711|x'],
  ['cookie', `a=1|${'=;='.repeat(500)}`],
  ['__proto__', '1'],
  ['accept-encoding', 'gzip|*'],
  ['if-modified-since', 'yesterday|Thu, 05 Dec 2030 00:00:00 GMT'],
];
const fields = fc
  .constantFrom(...oddFields)
  .chain(([name, values]) => fc.constantFrom(...values.split('|')).map((value) => [name, value] as const));

/** Node.js handles CONNECT separately, and light-my-request does not know every method. */
const methods = METHODS.filter((method) => method !== 'CONNECT');

/** Ways to make a request odd. */
export const twist: Arbitrary<Twist> = fc.oneof(
  { weight: 8, arbitrary: ofBodies },
  { weight: 3, arbitrary: ofTexts },
  twistBy(4, queryParts, (draft, part) => {
    draft.query = draft.query ? `${draft.query}&${part}` : part;
  }),
  twistBy(2, addresses, (draft, path) => {
    draft.path = `/v1${path}`;
  }),
  twistBy(1, otherPaths, (draft, path) => {
    draft.path = path;
  }),
  twistBy(2, encodedCharacters, (draft, chars) => {
    if (draft.path.includes('%')) return;
    draft.path = draft.path.replace(/./g, (char) => (chars.includes(char) ? percentEncoded(char) : char));
  }),
  twistBy(4, fields, (draft, [name, value]) => {
    draft.headers = withOwn(draft.headers, name, value);
  }),
  twistBy(1, fc.constantFrom('content-type', 'authorization'), (draft, name) => {
    const { [name]: _, ...rest } = draft.headers;
    draft.headers = rest;
  }),
  twistBy(2, fc.constantFrom('HEAD', 'OPTIONS', 'TRACE', 'QUERY', ...methods), (draft, method) => {
    draft.method = method;
  }),
);
