import { type TProperties, type TSchema, Type } from 'typebox';
import { isId } from '../foundation/schema.ts';
import { Failure, type Tool } from './tools.ts';

type JsonSchema = Record<string, unknown>;

/** What a tool takes, as JSON Schema. */
export const inputSchemaOf = (tool: Tool) => ({
  type: 'object' as const,
  ...toJsonSchema(Type.Object(tool.arguments, { additionalProperties: false })),
});

/** What a tool returns, as JSON Schema: its result, or why it failed. */
export const outputSchemaOf = ({ result }: Tool) => ({
  type: 'object' as const,
  anyOf: [toJsonSchema(result), toJsonSchema(Failure)],
});

const digits = '^(0|-?[1-9][0-9]*)$';

interface Parts {
  description?: string;
  items?: TSchema;
  properties?: TProperties;
}

/** A schema as JSON Schema. Ids may be strings, since few programs read integers beyond 2^53 exactly. */
function toJsonSchema(schema: TSchema): JsonSchema {
  const { items, properties, ...given } = schema as Parts;
  // Only a query repeats parameters.
  const description = given.description?.replace(/ Repeat the parameter .*$/, '');
  const same = { ...given, ...(description && { description }) };
  if (isId(schema)) return { ...same, type: ['integer', 'string'], format: undefined, pattern: digits };
  return {
    ...same,
    ...(items && { items: toJsonSchema(items) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, toJsonSchema(property)]),
      ),
    }),
  };
}
