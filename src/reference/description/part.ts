import type { Json } from './schemas.ts';

/** Any object of the description. */
// biome-ignore lint/suspicious/noExplicitAny: the description is valid OpenAPI, which a test checks
export type Part = Record<string, any>;

/** Follows the references of a description. */
export const resolverOf =
  (description: Part) =>
  (part: Part): Part =>
    part.$ref
      ?.slice(2)
      .split('/')
      .reduce((found: Part, name: string) => found[name], description) ?? part;

/** An operation of a description, its method and its path below the base URL. */
export function operationIn(document: Part, id: string): { url: string; method: string; operation: Part } {
  for (const [url, item] of Object.entries<Part>(document.paths))
    for (const [method, operation] of Object.entries<Part>(item))
      if (operation.operationId === id) return { url, method: method.toUpperCase(), operation };
  throw new Error(`The description has no operation ${id}.`);
}

/** The values that a schema allows, in short. `named` writes the name of a schema. */
export function typeOf(schema: Part, named = (name: string) => `\`${name}\``): string {
  const { $ref, oneOf, anyOf = oneOf, type, format, items, nullable, enum: values } = schema;
  if ($ref) return named($ref.split('/').at(-1));
  if (anyOf) return anyOf.map((one: Part) => typeOf(one, named)).join(' or ');
  if (values) return values.map((value: Json) => `\`${JSON.stringify(value)}\``).join(' or ');
  const name = items ? `array of ${typeOf(items, named)}` : (format ?? type);
  return `${name}${boundsOf(schema)}${nullable ? ' or null' : ''}`;
}

function boundsOf({ minimum, maximum, minLength, maxLength, maxItems, default: usual }: Part): string {
  const range = (least: number | undefined, most: number | undefined) =>
    most === undefined ? `from ${least}` : `${least ?? 0} to ${most}`;
  const bounds = [
    ...(minimum !== undefined || maximum !== undefined ? [range(minimum, maximum)] : []),
    ...(maxLength !== undefined ? [`${range(minLength, maxLength)} characters`] : []),
    ...(maxItems !== undefined ? [`at most ${maxItems}`] : []),
    ...(usual !== undefined ? [`default ${JSON.stringify(usual)}`] : []),
  ];
  return bounds.length > 0 ? ` (${bounds.join(', ')})` : '';
}
