import type { TSchema } from 'typebox';
import { describedOf } from '../foundation/schema.ts';

/** The versions of OpenAPI in which an API is described. */
export const openapiVersions = ['3.0', '3.1', '3.2'] as const;
export type OpenapiVersion = (typeof openapiVersions)[number];

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [name: string]: Json;
}

/** The keywords that are converted. All others are copied. */
interface Keywords {
  title?: string;
  type?: Json;
  examples?: Json[];
  readOnly?: boolean;
  enum?: Json[];
  const?: Json;
  anyOf?: TSchema[];
  /** The property that distinguishes the variants of `anyOf`. */
  discriminator?: string;
  items?: TSchema;
  /** The schema of the JSON in a text. */
  contentSchema?: TSchema;
  properties?: Record<string, TSchema>;
  /** The schema of all properties of a record. */
  patternProperties?: Record<string, TSchema>;
}

/** The parts of schemas that OpenAPI 3.0.3 writes differently than JSON Schema. */
export interface Dialect {
  constant(value: Json): JsonObject;
  example(value: Json): JsonObject;
  /** A schema of this type, or null. */
  orNull(type: Json): JsonObject;
}

/** OpenAPI 3.0.3. `nullable` works only beside `type` (section 4.7.24). */
export const openapi30: Dialect = {
  constant: (value) => ({ enum: [value] }),
  example: (value) => ({ example: value }),
  orNull: (type) => ({ type, nullable: true }),
};

/** JSON Schema, which OpenAPI uses since 3.1. AsyncAPI 3.0 uses an older draft, in which this means the same. */
export const jsonSchema: Dialect = {
  constant: (value) => ({ const: value }),
  example: (value) => ({ examples: [value] }),
  orNull: (type) => ({ type: [type, 'null'] }),
};

/** Converts schemas into those of a dialect. A schema with a title becomes a component of that name. */
export class Schemas {
  readonly components: JsonObject = {};
  readonly #dialect: Dialect;
  readonly #hasTitles: boolean;

  /** `hasTitles`: components have titles, after which generators of AsyncAPI name their models. */
  constructor(dialect: Dialect, hasTitles = false) {
    this.#dialect = dialect;
    this.#hasTitles = hasTitles;
  }

  /** A reference if the schema has a title, else the schema itself. */
  use(schema: TSchema): JsonObject {
    const { title } = schema as Keywords;
    if (title === undefined) return this.#convert(schema);
    this.components[title] ??= { ...(this.#hasTitles && { title }), ...this.#convert(schema) };
    return { $ref: `#/components/schemas/${title}` };
  }

  #convert(schema: TSchema): JsonObject {
    const { title, examples, const: value, anyOf, discriminator, ...others } = schema as Keywords;
    const { properties, patternProperties, items, contentSchema, ...same } = others;
    if (anyOf && discriminator) return this.#union(anyOf, discriminator, same as JsonObject);
    if (anyOf) return this.#nullable(anyOf[0] as TSchema);
    const converted = { ...same, ...describedOf(schema) } as JsonObject;
    if (value !== undefined) Object.assign(converted, this.#dialect.constant(value));
    if (contentSchema) converted.contentSchema = this.use(contentSchema);
    if (items) converted.items = this.use(items);
    if (properties) converted.properties = mapValues(properties, (property) => this.use(property));
    // OpenAPI 3.0.3 has no `patternProperties`, and generators do not read it.
    if (patternProperties)
      converted.additionalProperties = this.use(Object.values(patternProperties)[0] as TSchema);
    return { ...converted, ...this.#exampleOf(schema) };
  }

  /** One of several titled schemas, which the discriminator distinguishes. */
  #union(schemas: TSchema[], propertyName: string, same: JsonObject): JsonObject {
    const references = schemas.map((schema) => this.use(schema));
    const values = schemas.map((schema) => {
      const { [propertyName]: property } = (schema as Keywords).properties ?? {};
      return (property as Keywords).const as string;
    });
    const mapping = Object.fromEntries(values.map((value, i) => [value, references[i]?.$ref as Json]));
    return {
      ...same,
      oneOf: references,
      discriminator: { propertyName, mapping },
      ...this.#dialect.example(exampleOf(schemas[0] as TSchema)),
    };
  }

  /** The schema itself, even with a title: generators do not read a reference or null. */
  #nullable(schema: TSchema): JsonObject {
    const { enum: values, type = null, ...same } = this.#convert(schema);
    return {
      ...same,
      ...this.#dialect.orNull(type),
      ...(values && { enum: [...(values as Json[]), null] }),
    };
  }

  #exampleOf(schema: TSchema): JsonObject {
    return hasExample(schema) ? this.#dialect.example(exampleOf(schema)) : {};
  }
}

/** Whether all parts of a schema have examples. */
function hasExample(schema: TSchema): boolean {
  const { examples, anyOf, items, properties } = schema as Keywords;
  if (examples) return true;
  if (anyOf) return hasExample(anyOf[0] as TSchema);
  return items ? hasExample(items) : properties !== undefined && Object.values(properties).every(hasExample);
}

/** Builds an example value from the examples of the parts. Requests leave out read-only properties. */
export function exampleOf(schema: TSchema, isRequest = false): Json {
  const { examples, anyOf, items, properties } = schema as Keywords;
  if (examples) return examples[0] as Json;
  if (anyOf) return exampleOf(anyOf[0] as TSchema, isRequest);
  if (items) return [exampleOf(items, isRequest)];
  const sent = Object.entries(properties ?? {}).filter(
    ([, property]) => !(isRequest && (property as Keywords).readOnly),
  );
  return mapValues(Object.fromEntries(sent), (property) => exampleOf(property, isRequest));
}

const mapValues = <From, To>(object: Record<string, From>, map: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));
