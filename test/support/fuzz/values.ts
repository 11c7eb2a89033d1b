import fc, { type Arbitrary } from 'fast-check';
import type { JsonObject as Json } from '../../../src/reference/description/schemas.ts';
import { description, resolve, writableIn } from '../description.ts';
import { resources } from '../resources.ts';
import { goodUrls } from './model.ts';

/** A value from an earlier response, chosen when the request is sent. */
export class Earlier {
  readonly kind: string;
  readonly nth: number;

  constructor(kind: string, nth: number) {
    this.kind = kind;
    this.nth = nth;
  }
}

export const earlier = (kind: string) => fc.nat(1_000).map((nth) => new Earlier(kind, nth));

/** A number with the spelling of its JSON text. */
export class Numeral {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Integers in other notations, and numbers that a double rounds to integers. */
const numerals = fc
  .constantFrom(
    ...['1e0', '10E-1', '0.2e1', '3.00', '0e999999', '5e+0', '1e3', '92233720368547758070e-1', '1.0e18'],
    ...['1e-400', '-1e-1', '0.99999999999999999e0', '999999999999999.99', '1.00000000000000000001'],
    ...['1e400', '1e19', '9.223372036854775808e18', '100000000000000000000000000000001e-32'],
  )
  .map((text) => new Numeral(text));

/** The rows that an identifier names, by the name of its parameter or property. */
const kindOfId: Record<string, string> = {
  ...Object.fromEntries(resources.map(({ param, kind }) => [param, kind])),
  id: 'pets',
  eventId: 'events',
  after: 'events',
  deliveryId: 'deliveries',
};

/** URLs of the right form with hosts outside the public Internet. */
const urlsOfNoHost = ['https://10.0.0.1/', 'http://shop.example/', 'https://internal/?a', 'HTTPS://[::]:1'];

/** Values that match a schema of the description. Identifiers mostly name existing rows. */
export function validValue(reference: Json, name = '', document = description): Arbitrary<unknown> {
  const schema = resolve(reference, document);
  if (Array.isArray(schema.anyOf))
    return fc.oneof(...schema.anyOf.map((part) => validValue(part as Json, name, document)));
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (schema.nullable) {
    const { nullable, ...same } = schema;
    return fc.oneof({ weight: 4, arbitrary: validValue(same, name, document) }, fc.constant(null));
  }
  switch (schema.type) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return schema.format === 'int64' ? validId(name) : validCount(schema);
    case 'string':
      if (name === 'url')
        return fc.oneof(
          { weight: 9, arbitrary: fc.constantFrom(...goodUrls) },
          fc.constantFrom(...urlsOfNoHost),
        );
      return schema.format === 'date-time' ? dateTime : validText(schema);
    case 'array': {
      const item = validValue(schema.items as Json, name, document);
      const most = schema.maxItems as number;
      return fc.oneof(
        { weight: 9, arbitrary: fc.array(item, { minLength: 1, maxLength: 4 }) },
        fc.array(item, { minLength: most, maxLength: most }),
      );
    }
    default:
      return validObject(schema, document);
  }
}

function validObject(schema: Json, document: typeof description): Arbitrary<Record<string, unknown>> {
  const values = writableIn(schema).map(([name, property]) => [name, validValue(property, name, document)]);
  const requiredKeys = (schema.required ?? []) as string[];
  return fc.record(Object.fromEntries(values), { requiredKeys, noNullPrototype: true });
}

const validId = (name: string) =>
  fc.oneof(
    { weight: 8, arbitrary: earlier(kindOfId[name] ?? name) },
    { weight: 1, arbitrary: fc.integer({ min: -1, max: 40 }) },
    { weight: 1, arbitrary: fc.constantFrom(...edges.filter((edge) => BigInt.asIntN(64, edge) === edge)) },
  );

function validCount({ minimum, maximum }: Json): Arbitrary<number> {
  const [min, max] = [minimum, maximum] as [number, number];
  return fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min, max: min + 4 }) },
    { weight: 1, arbitrary: fc.integer({ min: max - 4, max }) },
    { weight: 1, arbitrary: fc.integer({ min, max }) },
  );
}

/** Any character. The unit `binary` of fast-check is the same, but builds a table of all of them. */
const character = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((point) => String.fromCodePoint(point < 0xd800 ? point : point + 0x800));

function validText({ minLength = 0, maxLength = 40, pattern = '' }: Json): Arbitrary<string> {
  const [min, max] = [minLength, maxLength] as [number, number];
  const fits = new RegExp(pattern as string, 'u');
  return fc
    .oneof(
      { weight: 6, arbitrary: fc.string({ minLength: min, maxLength: 12, unit: character }) },
      { weight: 1, arbitrary: fc.string({ minLength: max, maxLength: max, unit: 'binary-ascii' }) },
      { weight: 1, arbitrary: fc.constant('🐕'.repeat(max)) },
    )
    .filter((text) => fits.test(text));
}

const dateTime = fc
  .record({
    at: fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-01'), noInvalidDate: true }),
    digits: fc.integer({ min: 0, max: 9 }),
    offset: fc.constantFrom('Z', 'z', '+00:00', '-08:00', '+14:00', '+05:45'),
  })
  .map(({ at, digits, offset }) => {
    const fraction = digits === 0 ? '' : `.${'123456789'.slice(0, digits)}`;
    return at.toISOString().replace(/\..*/, fraction) + offset;
  });

/** Integers around the limits of representations. */
const edges = [31n, 32n, 53n, 63n, 64n].flatMap((bits) =>
  [-2n, -1n, 0n, 1n].flatMap((by) => [2n ** bits + by, -(2n ** bits) - by]),
);

/** Any JSON value. The first alternatives are odd. */
export const anyValue: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, '', '1', ' ', '\u0000', 0, -0, 1.5, 1e308, [], {}, [[]], [null]),
  fc.constantFrom<unknown>('available', 'SOLD', '2026-02-30T00:00:00Z', '2026-01-01 00:00:00Z', '\ufeff'),
  fc.constantFrom<unknown>('x'.repeat(2_001), '🐕'.repeat(201), '\u2028', '\u202e', 'e\u0301'),
  fc.constantFrom(...edges),
  numerals,
  fc.jsonValue({ maxDepth: 3 }),
);
