import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { maxMessageBytes, maxNamed } from './errors.ts';

export const maxInt32 = 2_147_483_647;

const identifies = Symbol('identifies');

/** Marks the schema of an integer that is an identifier, not a quantity. The description does not show the mark. */
export const identifying = { [identifies]: true };

/** Whether a schema is that of an id or of a position in a history. */
export const isId = (schema: TSchema) => identifies in schema;

const described = Symbol('described');

/** Keywords of a schema that only the description shows: names for generators, or a form that the operation checks itself. */
export const onlyDescribed = (keywords: object) => ({ [described]: keywords });

/** The keywords that only the description shows. */
export const describedOf = (schema: TSchema) => (schema as { [described]?: object })[described];

/** A 64-bit integer identifier. Existing ids are small enough to be exact as JSON numbers. */
export const Id = (description: string, options: { readOnly?: true } = {}) =>
  Type.Integer({ format: 'int64', description, examples: [1], ...identifying, ...options });

/**
 * U+0000 is refused because PostgreSQL cannot hold it. The patterns need no backtracking. Like all patterns of the descriptions they mean
 * the same in every engine, also in one that reads bytes: so no `\\s`, no `\\u`, and no class that lists characters beyond ASCII.
 */
const anyText = '^[^\\x00]*$';
const notBlank = '^[\\x09-\\x0d ]*[^\\x00\\x09-\\x0d ][^\\x00]*$';
/** Text that a header can contain unchanged. */
export const bareText = '^[!#-~][!-~]*$';

/** The words of messages for each pattern of a schema. */
export const patternWords: Readonly<Record<string, string>> = {
  [anyText]: 'without the null character',
  [bareText]: 'of ASCII without spaces, and without a quote at the start',
  [notBlank]: 'not only spaces, tabs and line breaks, without the null character',
};

/** Text of 1 to `maxLength` characters that is not only ASCII white space. */
export const Name = (maxLength: number, description: string, example: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: notBlank,
    description,
    examples: [example],
  });

/** Text of at most `maxLength` characters, possibly empty. */
export const Text = (maxLength: number, description: string, example: string, options: object = {}) =>
  Type.String({ maxLength, pattern: anyText, description, examples: [example], ...options });

/** Any text of a response. */
export const Shown = (description: string, example: string) =>
  Type.String({ description, examples: [example] });

/** Any number of a response. */
export const Measured = (description: string, example: number) =>
  Type.Number({ description, examples: [example] });

/** A count of units from `minimum` to 2^31 − 1. */
export const Units = (minimum: number, description: string, example: number) =>
  Type.Integer({ format: 'int32', minimum, maximum: maxInt32, description, examples: [example] });

export const DateTime = (description: string, example: string) =>
  Type.String({ format: 'date-time', description, examples: [example] });

export const PetStatus = Type.Enum(['available', 'pending', 'sold'], {
  type: 'string',
  title: 'PetStatus',
  description:
    'Orders and changes of stock set the status. It is `available` if units are in stock, `pending` if none are in stock and open orders hold some, and otherwise `sold`. A client may also set it through the pet. Only the stock decides whether an order is accepted.',
  examples: ['available'],
});
export type PetStatus = Static<typeof PetStatus>;

/** Integers with this many digits, with or without a sign, are exact as doubles. */
const digitsOfSafeIntegers = 15;

const [minInt64, maxInt64] = ['-9223372036854775808', '9223372036854775807'];

/** The largest double below 2^63. */
const maxInt64Double = 2 ** 63 - 1024;

/** The numbers of each format of integers, as toInt64 returns them. */
export const integerBounds = {
  int32: { minimum: -maxInt32 - 1, maximum: maxInt32 },
  int64: { minimum: -maxInt64Double, maximum: maxInt64Double },
};

/** The number for a decimal integer, or undefined outside 64 bits. Beyond 2^53 it is the nearest double: no row has such an id. */
export function toInt64(digits: string): number | undefined {
  if (digits.length <= digitsOfSafeIntegers) return Number(digits);
  const last = digits.startsWith('-') ? minInt64 : maxInt64;
  // With equally many digits, the greater number is the greater text.
  if (digits.length > last.length || (digits.length === last.length && digits > last)) return undefined;
  return Math.max(-maxInt64Double, Math.min(Number(digits), maxInt64Double));
}

const ErrorStatus = Type.Integer({
  format: 'int32',
  minimum: 400,
  maximum: 599,
  description: 'The HTTP status code of the response.',
});

/** It has no example, because tools would show it for every code. Each response has its own examples. */
export const ErrorBody = Type.Object(
  {
    code: Type.String({
      description:
        'Machine-readable error code. Later versions may add codes: handle an unknown one by its status.',
    }),
    message: Type.String({
      maxLength: maxMessageBytes,
      description: 'Human-readable description of the error. It names the wrong fields, at most ten.',
    }),
    status: ErrorStatus,
  },
  { title: 'Error', description: 'The body of every error.' },
);

const FieldProblem = Type.Object(
  {
    pointer: Type.Optional(
      Type.String({
        description:
          'The place of the value in the body: a JSON Pointer as a URI fragment (RFC 6901). `#` is the whole body.',
        examples: ['#/name'],
      }),
    ),
    parameter: Type.Optional(
      Type.String({ description: 'The name of the path or query parameter.', examples: ['limit'] }),
    ),
    header: Type.Optional(Type.String({ description: 'The name of the header.', examples: ['If-Match'] })),
    detail: Type.String({ description: 'What is wrong with it.' }),
  },
  {
    title: 'FieldProblem',
    description:
      'What is wrong with one value of a request. `pointer`, `parameter` or `header` names the value.',
  },
);

/** Like ErrorBody, it has no example. */
export const ProblemBody = Type.Object(
  {
    type: Type.String({
      format: 'uri',
      description:
        'A URL that identifies the type of problem: a page about it, or a type of the IETF draft on rate limit headers.',
    }),
    title: Type.String({ description: 'The type in a few words.' }),
    status: ErrorStatus,
    detail: Type.String({ maxLength: maxMessageBytes, description: 'The `message` of the Error.' }),
    code: Type.String({ description: 'The `code` of the Error.' }),
    errors: Type.Optional(
      Type.Array(FieldProblem, {
        maxItems: maxNamed,
        description: 'Each wrong value. Absent if the error is not about single values.',
      }),
    ),
    'violated-policies': Type.Optional(
      Type.Array(Type.String({ description: 'A name in `RateLimit-Policy`.', examples: ['minute'] }), {
        description: 'The used-up quota policies (draft-ietf-httpapi-ratelimit-headers).',
      }),
    ),
  },
  {
    title: 'Problem',
    description:
      'The body of an error for clients that prefer `application/problem+json` in `Accept` (RFC 9457).',
  },
);

/** The properties of a JSON Merge Patch (RFC 7396). Null removes an optional property or sets its default. */
export function patchOf(properties: TProperties): TProperties {
  const changed = Object.entries(properties).map(([name, property]) => [
    name,
    Type.Optional(Type.IsOptional(property) ? Type.Union([property, Type.Null()]) : property),
  ]);
  return Object.fromEntries(changed);
}

/** Applies a JSON Merge Patch whose values are not objects. */
export function mergePatch<T extends object>(target: T, patch: object): T {
  const merged = { ...target } as Record<string, unknown>;
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = value;
  }
  return merged as T;
}
