/** Bodies, queries and fields as large as they may be, in every shape that might cost more than plain text. */

import type { InjectOptions } from 'fastify';
import { maxBodyBytes, maxValues } from '../../src/foundation/bounds.ts';
import { maxFaults } from '../../src/lab/lab-bounds.ts';

/** What a target or a field may have of the 16 KiB that a head may have. */
const maxTextLength = 15_000;

/** A text by what it is made of. */
interface Shape {
  name: string;
  text: string;
}

const filled = (unit: string, length: number) => unit.repeat(Math.max(0, Math.floor(length / unit.length)));
const text = (unit: string) => (length: number) => `"${filled(unit, length - 2)}"`;

/** JSON values, and what looks like them, of about a length, or of the least where it is less. */
const values: Record<string, (length: number) => string> = {
  digits: (length) => filled('1', length) || '1',
  nines: (length) => `-${filled('9', length) || '9'}`,
  '1e1': (length) => `${filled('1', length - 2) || '1'}e1`,
  '1e99': (length) => `1e${filled('0', length - 4)}99`,
  '1e308': (length) => `1e${filled('0', length - 5)}308`,
  '1e-400': (length) => `1e-${filled('0', length - 6)}400`,
  '0.1e1': (length) => `0.1${filled('3', length - 5)}e1`,
  'huge exponent': (length) => `1e${filled('9', length - 2) || '9'}`,
  'far behind the point': (length) => `0.${filled('0', length - 9)}1e${Math.max(1, length - 9)}`,
  'an integer of all digits': (length) => `0.${filled('9', length - 8) || '9'}e${Math.max(1, length - 8)}`,
  fraction: (length) => `0.${filled('7', length - 2) || '7'}`,
  '-0': (length) => `-0${length > 4 ? `.${filled('0', length - 3)}` : ''}`,
  '0e9': (length) => `0e${filled('9', length - 2) || '9'}`,
  null: () => 'null',
  true: () => 'true',
  plain: text('x'),
  'two bytes': text('é'),
  'three bytes': text('\u2028'),
  'four bytes': text('🐕'),
  accents: text('e\u0301'),
  families: text('👩‍👩‍👧‍👦'),
  flags: text('🇩🇪'),
  blank: text(' '),
  'digits in text': text('123456789012345 '),
  'exponents in text': text('1e1'),
  'escaped letters': text('\\u0041'),
  'escaped pairs': text('\\ud83d\\ude00'),
  'half a pair': text('\\ud83d'),
  backslashes: text('\\\\'),
  quotes: text('\\"'),
  null_characters: text('\\u0000'),
  instant: (length) => `"2026-01-01T00:00:00.${filled('1', length - 23)}Z"`,
  'space around': (length) => `${filled(' ', length - 2)}1 `,
  lines: (length) => `${filled('\r\n', length - 1)}1`,
  '[]': () => '[]',
  '{}': () => '{}',
  '[[[…': (length) => '['.repeat(Math.min(200, length >> 1)) + ']'.repeat(Math.min(200, length >> 1)),
  '{"":{"":…': (length) =>
    `${filled('{"":', Math.min(800, length - 1))}1${filled('}', Math.min(200, (length - 1) >> 2))}`,
};

/** Names of properties: the i-th of about a length. */
const names: Record<string, (i: number, length: number) => string> = {
  plain: (i, length) => `${filled('x', length)}${i}`,
  escaped: (i, length) => `${filled('\\u0041', length)}${i}`,
  pairs: (i, length) => `${filled('\\ud83d\\ude00', length)}${i}`,
  index: (i) => String(i),
  'index far apart': (i) => String(4_294_967_294 - i * 4_194_301),
  'index of one bucket': (i) => String(i * 16_384),
  'index that begins with 0': (i) => `0${i}`,
  fractions: (i) => `${i}.5`,
  inherited: (i) => (i === 0 ? '__proto__' : `__proto__${i}`),
};

const everyProperty = 'every property of its own';
/** The longest text that an operation takes. */
const maxValidLength = 2_001;

/** How values stand in a body, given how many characters there are for each and how many of them there may be. */
const arrangements: [name: string, make: (value: string, count: number, length: number) => string][] = [
  ['list', (value, count) => `[${Array(count).fill(value).join(',')}]`],
  ['list, spaced', (value, count) => `[ ${Array(count).fill(value).join(' ,\n')} ]`],
  ['list, deep', (value, count) => '['.repeat(400) + Array(count).fill(value).join(',') + ']'.repeat(400)],
  ['list in a property', (value, count) => `{"name":[${Array(count).fill(value).join(',')}]}`],
  ['objects', (value, count) => `[${Array(count).fill(`{"a":${value}}`).join(',')}]`],
  [
    everyProperty,
    (value) =>
      `{${[
        'name',
        'categoryId',
        'status',
        'description',
        'petId',
        'quantity',
        'shipDate',
        'complete',
        'faults',
      ]
        .map((name) => `"${name}":${value}`)
        .join(',')}}`,
  ],
  ...Object.entries(names).map(
    ([name, nameOf]): [string, (value: string, count: number, length: number) => string] => [
      `object with names: ${name}`,
      (value, count, length) =>
        `{${Array.from({ length: count }, (_, i) => `"${nameOf(i, length)}":${value}`).join(',')}}`,
    ],
  ),
];

/** What may come at the end of a body, or before it. */
const endings: [name: string, end: (body: Buffer) => Buffer][] = [
  ['whole', (body) => body],
  ['an exponent last', (body) => within(body, ',1e1', ',"e":1e1')],
  ['a pair last', (body) => within(body, ',"\\ud83d\\ude00"', ',"e":"\\ud83d\\ude00"')],
  ['a property twice', (body) => within(body, ',{"a":1,"a":1}', ',"a":1,"a":1')],
  ['cut', (body) => body.subarray(0, -1)],
  ['another byte last', (body) => Buffer.concat([body, Buffer.from('x')])],
  ['not UTF-8 last', (body) => Buffer.concat([body, Buffer.from([0xff])])],
  ['a byte order mark first', (body) => Buffer.concat([Buffer.from('\ufeff'), body])],
];

/** Puts more into the outermost list or object. */
function within(body: Buffer, item: string, property: string): Buffer {
  const last = body.at(-1);
  const more = last === 0x5d ? item : property;
  return Buffer.concat([body.subarray(0, -1), Buffer.from(more), body.subarray(-1)]);
}

/** Characters of each value. */
const lengths = [1, 60, 2_000, 7_000, 40_000, 65_000];
/** As many values as there is room for, and just as many as may be, where each is one and where each is two. */
const most = [Number.POSITIVE_INFINITY, maxValues - 10, maxValues / 2 - 10];

/** Every value in every arrangement with every ending, as large as a body may be. */
function* bodies(): Generator<{ name: string; make: () => Buffer }> {
  for (const [valueName, valueFor] of Object.entries(values)) {
    // Some values have one length alone.
    const distinct = new Map(lengths.map((length) => [valueFor(length), length]));
    for (const [value, length] of distinct) {
      for (const [arrangement, arrange] of arrangements) {
        // Short values may be valid, and what is written waits for the disk.
        if (arrangement === everyProperty && value.length < maxValidLength) continue;
        const bodyOf = (count: number) => arrange(value, count, length >> 1);
        const room = roomIn(bodyOf);
        for (const count of room > 0 ? new Set(most.map((most) => Math.min(most, room))) : []) {
          const name = `${count} times ${valueName} of ${value.length} characters, ${arrangement}`;
          for (const [ending, end] of endings) {
            yield { name: `${name}, ${ending}`, make: () => end(Buffer.from(bodyOf(count))) };
          }
        }
      }
    }
  }
}

/** How many values a body has room for. */
function roomIn(bodyOf: (count: number) => string): number {
  const [one, two] = [bodyOf(1), bodyOf(2)].map((body) => Buffer.byteLength(body)) as [number, number];
  const left = maxBodyBytes - endingBytes - one;
  if (left < 0) return 0;
  return two === one ? 1 : 1 + Math.floor(left / (two - one + growthBytes));
}

/** What is left for an ending. */
const endingBytes = 40;
/** Names with numbers in them grow. */
const growthBytes = 10;

const fault = { fault: 'rate-limited', operation: 'placeOrder', after: 1, times: 1, retryAfterSeconds: 1 };

/** As many faults as a rehearsal may have, each with something to refuse, or the last alone. */
const rehearsals: Shape[] = Object.entries<(i: number) => object>({
  'the last is wrong': (i) => (i < maxFaults - 1 ? fault : { ...fault, times: 0 }),
  'each takes what it must not': () => ({ ...fault, fault: 'near-limit' }),
  'each has a parameter of another': () => ({ ...fault, remaining: 1 }),
  'each is for an operation that it cannot touch': () => ({ ...fault, fault: 'sunset' }),
  'each is the same condition': () => ({ fault: 'near-limit' }),
  'each has names that are none': (i) => ({ ...fault, ...named(i), ...named(maxFaults + i) }),
}).map(([name, make]) => {
  const faults = Array.from({ length: maxFaults }, (_, i) => make(i));
  return { name: `${maxFaults} faults: ${name}`, text: JSON.stringify({ faults }) };
});

function named(i: number) {
  return { [`${'x'.repeat(200)}${i}`]: 1 };
}

const repeated = (units: string[]): Shape[] =>
  units.map((unit) => ({ name: unit.trim().slice(0, 20), text: filled(unit, maxTextLength) }));

const numbered = (unit: (i: number) => string): Shape => {
  const parts = Array.from({ length: Math.floor(maxTextLength / unit(9_999).length) }, (_, i) => unit(i));
  return { name: `${unit(0).trim()} and so on`, text: parts.join('') };
};

/** Queries without their question mark. */
const queries: Shape[] = [
  ...repeated(['a&', '&', '=&', 'a=1&', '%61&', '%F0%9F%90%95&', '+', '%25', '%2525', '"', '%22&', '%00&']),
  ...repeated([
    'limit=1&',
    'id=1&',
    'id=x&',
    'status=sold&',
    'cursor=x&',
    'pet_',
    'pet_%25',
    '__proto__&',
    '[]&',
  ]),
  ...['limit=', 'id=', 'categoryId=-'].map((name) => ({ name, text: name + filled('9', maxTextLength) })),
  ...['cursor=', 'status=', 'x='].map((name) => ({ name, text: name + filled('A', maxTextLength) })),
  numbered((i) => `${i}&`),
  numbered((i) => `a${i}&`),
  numbered((i) => `${i * 16_384}=&`),
  numbered((i) => `id=${i}&`),
  { name: 'malformed last', text: `${filled('%41', maxTextLength)}%` },
];

/** Values of header fields, sound and broken at their end. */
const fields: Shape[] = [
  ...repeated([
    '"",',
    '"a" , ',
    'W/"",',
    '"a"\t',
    ',',
    ', ',
    ' ,',
    '"',
    '*,',
    'W/',
    '"a",,,,,,,,,,,,,,,,',
    '\\"',
  ]),
  ...repeated([
    'a',
    ';',
    '; ',
    'a=',
    'charset=',
    ';charset =',
    '; charset="utf-8"',
    '"utf-8',
    'a/',
    'k',
    '%25',
    'pet_',
    '~A',
  ]),
  ...repeated(['gzip', 'gzip;q=0.0000', 'gzip ;', 'gzip;q=0 ', 'Bearer ', 'bearer\t', 'é']),
].flatMap(({ name, text }) =>
  ['', '"', 'x', 'x"', ' x', '\u00ff'].flatMap((end) =>
    ['', '"', 'application/json;', 'Bearer '].map((start) => ({
      name: `${start}${name}…${end}`,
      text: start + text + end,
    })),
  ),
);

/** A request, and a plain one of its size. */
export interface Pair {
  odd: InjectOptions;
  plain: InjectOptions;
}

/** An odd request by its name. There are too many to be kept at once. */
export interface Odd {
  name: string;
  /** Whether it is sent while its key rehearses the conditions that translate requests. */
  isRehearsed?: boolean;
  make: () => Pair;
}

const rehearsed = (odd: Odd): Odd => ({ ...odd, name: `rehearsed: ${odd.name}`, isRehearsed: true });

const plainText = (length: number) => 'x'.repeat(length);

/** Every request that is measured. None changes anything. */
export function* oddRequests(): Generator<Odd> {
  const [post, patch] = ['POST', 'PATCH'] as const;
  const targets = [
    [post, '/v1/pets'],
    [post, '/v1/categories'],
    [post, '/v1/store/orders'],
    [patch, '/v1/inventory/1'],
    [patch, '/v1/pets/1'],
    [post, '/lab/rehearsals'],
  ] as const;
  const asking = (method: 'POST' | 'PATCH', url: string, name: string, make: () => Buffer): Odd => {
    const withBody = (payload: Buffer | string) => ({
      method,
      url,
      headers: { 'content-type': 'application/json' },
      payload,
    });
    const pair = (odd: Buffer) => ({
      odd: withBody(odd),
      plain: withBody(`{"note":"${plainText(odd.length - 11)}"}`),
    });
    return { name: `${url}, ${name}`, make: () => pair(make()) };
  };
  for (const { name, make } of bodies()) {
    const asks = name.includes(everyProperty) ? targets : targets.slice(0, 1);
    for (const [method, url] of asks) yield asking(method, url, name, make);
  }
  for (const { name, text } of rehearsals)
    yield asking(post, '/lab/rehearsals', name, () => Buffer.from(text));
  for (const { name, text } of queries) {
    for (const path of ['/v1/pets', '/v1/store/orders']) {
      const plain = { url: `${path}?cursor=${plainText(text.length)}` };
      const asked = { name: `${path}?${name}`, make: () => ({ odd: { url: `${path}?${text}` }, plain }) };
      yield* [asked, rehearsed(asked)];
    }
  }
  for (const unit of ['/%ff', '/%', '/a', '/%2525', '/%6d', '//', '/pets', '/%F0%9F%90%95']) {
    for (const start of ['', '/v1', '/%76%31', 'http://x']) {
      const url = start + filled(unit, maxTextLength);
      const plain = { url: `${start}/${plainText(maxTextLength - 1)}` };
      yield { name: `${start}${unit}…`, make: () => ({ odd: { url }, plain }) };
    }
  }
  const inFields = [
    ['if-match', 'DELETE', '/v1/pets/1'],
    ['if-none-match', 'GET', '/v1/categories/1'],
    ['idempotency-key', post, '/v1/categories'],
    ['content-type', post, '/v1/categories'],
    ['content-encoding', post, '/v1/categories'],
    ['x-request-id', 'GET', '/v1/categories/1'],
    ['x-api-key', 'GET', '/v1/categories/1'],
    ['authorization', 'GET', '/v1/categories/1'],
    ['accept-encoding', 'GET', '/v1/openapi.json'],
    ['if-none-match', 'GET', '/v1/openapi.json'],
    ['host', 'GET', '/v1/categories/1'],
  ] as const;
  for (const { name, text } of fields) {
    for (const [field, method, url] of inFields) {
      const type = { ...(method === post && { 'content-type': 'application/json' }) };
      const withField = (value: string) => ({
        method,
        url,
        ...(method === post && { payload: '{}' }),
        headers: { ...type, [field]: value },
      });
      const pair = { odd: withField(text), plain: withField(plainText(text.length)) };
      const asked = { name: `${field}: ${name}`, make: () => pair };
      yield asked;
      if (field === 'if-match') yield rehearsed(asked);
    }
  }
}
