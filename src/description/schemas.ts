import type { TSchema } from 'typebox';
import { formOf } from '../foundation/schema.ts';

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [name: string]: Json;
}

/** The keywords that are converted. All others are copied. */
interface Keywords {
  title?: string;
  examples?: Json[];
  readOnly?: boolean;
  enum?: Json[];
  const?: Json;
  anyOf?: TSchema[];
  /** The property that distinguishes the variants of `anyOf`. */
  discriminator?: string;
  items?: TSchema;
  properties?: Record<string, TSchema>;
  /** The schema of all properties of a record. */
  patternProperties?: Record<string, TSchema>;
}

/** Converts JSON schemas into Schema Objects of OpenAPI 3.0.3. A schema with a title becomes a component of that name. */
export class Schemas {
  readonly components: JsonObject = {};

  /** A reference if the schema has a title, else the schema itself. */
  use(schema: TSchema): JsonObject {
    const { title } = schema as Keywords;
    if (title === undefined) return this.#convert(schema);
    this.components[title] ??= this.#convert(schema);
    return { $ref: `#/components/schemas/${title}` };
  }

  #convert(schema: TSchema): JsonObject {
    const { title, examples, anyOf, discriminator, properties, patternProperties, items, ...same } =
      schema as Keywords;
    if (anyOf && discriminator) return this.#union(anyOf, discriminator, same as JsonObject);
    if (anyOf) return this.#nullable(anyOf[0] as TSchema);
    const converted = withoutConst({ ...same, ...formOf(schema) } as JsonObject);
    if (items) converted.items = this.use(items);
    if (properties) converted.properties = mapValues(properties, (property) => this.use(property));
    // OpenAPI 3.0.3 has no `patternProperties`.
    if (patternProperties)
      converted.additionalProperties = this.use(Object.values(patternProperties)[0] as TSchema);
    if (hasExample(schema)) converted.example = exampleOf(schema);
    return converted;
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
      example: exampleOf(schemas[0] as TSchema),
    };
  }

  /**
   * `nullable` works only beside `type` (OpenAPI 3.0.3, section 4.7.24). It does not allow null beside a `$ref`, nor beside an `enum`
   * without null.
   */
  #nullable(schema: TSchema): JsonObject {
    const used = this.use(schema);
    if (!used.$ref && !used.enum) return { ...used, nullable: true };
    const { type } = schema as { type?: Json };
    return {
      anyOf: [used, { type: type as Json, nullable: true, enum: [null] }],
      ...(hasExample(schema) && { example: exampleOf(schema) }),
    };
  }
}

/** OpenAPI 3.0.3 has no `const`. */
function withoutConst({ const: value, ...schema }: JsonObject): JsonObject {
  return value === undefined ? schema : { ...schema, enum: [value] };
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
