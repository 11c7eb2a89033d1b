import type { TSchema } from 'typebox';

/** How to replace parts of a JSON text that a schema describes. */
interface Rewriting {
  /** Replaces a string, a number or a literal; returns the same token to leave it. */
  token(token: string, schema: TSchema): string;
  /** Members to add to an object; empty for none. */
  members(schema: TSchema): string;
}

interface Keywords {
  anyOf?: readonly TSchema[];
  /** The property whose value selects one of `anyOf`. */
  discriminator?: string;
  items?: TSchema;
  properties?: Readonly<Record<string, TSchema>>;
  const?: unknown;
}

const nextToken = /[ \n\r\t\uFEFF]*("[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^ \n\r\t,:"[\]{}]+)/y;

/** Rewrites parts of a JSON text. Before its discriminator, a union is read with its first schema. */
export function rewriteJson(text: string, schema: TSchema, { token, members }: Rewriting): string {
  let [at, written] = [0, 0];
  let rewritten = '';

  value(take(), schema);
  return rewritten + text.slice(written);

  function take(): string {
    nextToken.lastIndex = at;
    const found = nextToken.exec(text)?.[1] as string;
    at = nextToken.lastIndex;
    return found;
  }

  /** Replaces the last `length` characters that were read. */
  function replace(length: number, by: string): void {
    rewritten += text.slice(written, at - length) + by;
    written = at;
  }

  function value(first: string, schema: TSchema | undefined): void {
    const described = schema && withoutNull(schema);
    if (first === '{') object(described);
    else if (first === '[') array(described);
    else if (described) {
      const by = token(first, described);
      if (by !== first) replace(first.length, by);
    }
  }

  function array(schema: Keywords | undefined): void {
    for (let first = take(); first !== ']'; first = take()) if (first !== ',') value(first, schema?.items);
  }

  function object(schema: TSchema | undefined): void {
    const { anyOf: variants, discriminator }: Keywords = schema ?? {};
    let variant = discriminator === undefined ? schema : variants?.[0];
    let isEmpty = true;
    for (let quoted = take(); quoted !== '}'; quoted = take()) {
      if (quoted === ',') continue;
      isEmpty = false;
      const name: string = JSON.parse(quoted);
      // The colon.
      take();
      const first = take();
      if (name === discriminator)
        variant = variants?.find((one) => propertyOf(one, name)?.const === JSON.parse(first));
      value(first, propertyOf(variant, name));
    }
    const more = variant ? members(variant) : '';
    if (more !== '') replace(1, `${isEmpty ? '' : ','}${more}}`);
  }
}

const propertyOf = (schema: TSchema | undefined, name: string): (TSchema & Keywords) | undefined => {
  const { properties = {} }: Keywords = schema ?? {};
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
};

/** For `anyOf` of a schema and null, the schema. */
function withoutNull(schema: TSchema): TSchema {
  const { anyOf, discriminator }: Keywords = schema;
  return anyOf && discriminator === undefined ? (anyOf[0] as TSchema) : schema;
}

/** Whether `isSuch` is true for a schema or for a part of it at any depth. */
export function mentions(schema: TSchema | undefined, isSuch: (schema: TSchema) => boolean): boolean {
  if (!schema) return false;
  const { anyOf = [], items, properties = {} }: Keywords = schema;
  return (
    isSuch(schema) || [...anyOf, items, ...Object.values(properties)].some((part) => mentions(part, isSuch))
  );
}
