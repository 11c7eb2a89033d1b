import type { TSchema } from 'typebox';
import { describedOf } from '../../foundation/schema.ts';

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

/** How schemas are written: as in OpenAPI 3.0.3, or as JSON Schema, which OpenAPI uses since 3.1, with titles for generators of AsyncAPI. */
type SchemaForm = 'openapi-3.0' | 'json-schema' | 'titled-json-schema';

/** Converts schemas. A schema with a title becomes a component of that name. */
export class Schemas {
  readonly components: JsonObject = {};
  readonly #form: SchemaForm;

  constructor(form: SchemaForm) {
    this.#form = form;
  }

  /** A reference if the schema has a title, else the schema itself. */
  use(schema: TSchema): JsonObject {
    const { title } = schema as Keywords;
    if (title === undefined) return this.#convert(schema);
    this.components[title] ??= {
      ...(this.#form === 'titled-json-schema' && { title }),
      ...this.#convert(schema),
    };
    return { $ref: `#/components/schemas/${title}` };
  }

  #convert(schema: TSchema): JsonObject {
    const { title, examples, const: value, anyOf, discriminator, ...others } = schema as Keywords;
    const { properties, patternProperties, items, contentSchema, ...same } = others;
    if (anyOf && discriminator) return this.#union(anyOf, discriminator, same as JsonObject);
    if (anyOf) return this.#nullable(anyOf[0] as TSchema);
    const converted = { ...same, ...describedOf(schema) } as JsonObject;
    if (value !== undefined) Object.assign(converted, this.#isOld ? { enum: [value] } : { const: value });
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
      ...this.#shown(exampleOf(schemas[0] as TSchema)),
    };
  }

  /** The schema itself, even with a title: generators do not read a reference or null. */
  #nullable(schema: TSchema): JsonObject {
    const { enum: values, type = null, ...same } = this.#convert(schema);
    return {
      ...same,
      // OpenAPI 3.0.3 allows `nullable` only beside `type` (section 4.7.24).
      ...(this.#isOld ? { type, nullable: true } : { type: [type, 'null'] }),
      ...(values && { enum: [...(values as Json[]), null] }),
    };
  }

  #exampleOf(schema: TSchema): JsonObject {
    return hasExample(schema) ? this.#shown(exampleOf(schema)) : {};
  }

  #shown = (example: Json): JsonObject => (this.#isOld ? { example } : { examples: [example] });

  get #isOld() {
    return this.#form === 'openapi-3.0';
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
