import type { TProperties, TSchema, Type as TypeBox } from 'typebox';

type Options = object | undefined;

const builders = {
  Array: (items: TSchema, options: Options) => ofKind('Array', { type: 'array', items }, options),
  Boolean: (options: Options) => ofKind('Boolean', { type: 'boolean' }, options),
  Enum: (values: readonly unknown[], options: Options) => ofKind('Enum', { enum: values }, options),
  Integer: (options: Options) => ofKind('Integer', { type: 'integer' }, options),
  Literal: (value: unknown, options: Options) =>
    ofKind('Literal', { type: typeof value, const: value }, options),
  Null: (options: Options) => ofKind('Null', { type: 'null' }, options),
  Number: (options: Options) => ofKind('Number', { type: 'number' }, options),
  Object: (properties: TProperties, options: Options) => {
    const required = Object.keys(properties).filter((name) => !isOptional(properties[name] as TSchema));
    const keywords = { type: 'object', ...(required.length > 0 && { required }), properties };
    return ofKind('Object', keywords, options);
  },
  Optional: (schema: TSchema) =>
    withHidden(Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema)), '~optional', true),
  Record: (_names: TSchema, value: TSchema, options: Options) =>
    ofKind('Record', { type: 'object', patternProperties: { '^.*$': value } }, options),
  String: (options: Options) => ofKind('String', { type: 'string' }, options),
  Union: (anyOf: readonly TSchema[], options: Options) => ofKind('Union', { anyOf }, options),
  Unsafe: (schema: TSchema) => schema,
  IsArray: (schema: TSchema) => isKind(schema, 'Array'),
  IsObject: (schema: TSchema) => isKind(schema, 'Object'),
  IsOptional: isOptional,
};

/**
 * The builders of TypeBox that this project uses, with its types. TypeBox itself would load hundreds of modules that transform types, and
 * take a sixth of the memory of a service that is idle.
 */
export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;

/** A schema whose kind stays out of the description. */
const ofKind = (kind: string, keywords: object, options: Options) =>
  withHidden({ ...keywords, ...options }, '~kind', kind);

const withHidden = (schema: object, name: string, value: unknown): TSchema =>
  Object.defineProperty(schema, name, { value, configurable: true, writable: true });

const isKind = (schema: TSchema, kind: string) => (schema as { '~kind'?: string })['~kind'] === kind;

function isOptional(schema: TSchema): boolean {
  return '~optional' in schema;
}
