import { hash } from 'node:crypto';

type Json = Record<string, unknown>;
interface Parameter {
  name: string;
  in: string;
  schema: Json;
}
export interface Described {
  operationId: string;
  summary: string;
  description: string;
  deprecated?: boolean;
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Json }> };
  responses: Record<string, Response>;
}
/** Each error has examples by its code. */
interface Response {
  content?: Record<string, { schema?: Json; examples?: object }>;
}
interface Document {
  openapi: string;
  info: Json;
  paths: Record<string, Record<string, Described>>;
  components: {
    schemas: Record<string, Json>;
    parameters: Record<string, Parameter>;
    responses: Record<string, Response>;
  };
}

/** What a schema refers to by `$ref`, if it does. */
export function nameIn({ $ref }: { $ref?: unknown } = {}): string | undefined {
  return typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : undefined;
}

const isEnum = (schema: unknown): schema is { enum: unknown[] } =>
  typeof schema === 'object' && schema !== null && 'enum' in schema;

/** A part without its examples, which would be most of the text, and without the only format that says nothing about a number. */
function plain(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(plain);
  if (typeof part !== 'object' || part === null) return part;
  const kept = Object.entries(part).filter(([name, value]) => name !== 'example' && value !== 'int32');
  return Object.fromEntries(kept.map(([name, inner]) => [name, plain(inner)]));
}

/** A description, as what is made of it needs it. */
export class Description {
  readonly #document: Document;
  /** Tells whether what was made from the description is of its present state. */
  readonly fingerprint: string;
  /** Every operation with its method and path, in the order of the description. */
  readonly operations: readonly { path: string; method: string; operation: Described }[];

  constructor(text: string) {
    this.#document = JSON.parse(text);
    this.fingerprint = hash('sha256', text).slice(0, 12);
    this.operations = Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        operation,
      })),
    );
  }

  /** The codes of all errors that the description names. */
  get errorCodes(): string[] {
    const own = this.operations.flatMap(({ operation }) => Object.values(operation.responses));
    const shared = Object.values(this.#document.components.responses);
    return [...own, ...shared].flatMap(({ content }) =>
      Object.keys(content?.['application/json']?.examples ?? {}),
    );
  }

  /** A schema of the description by its name. */
  schema(name: string): Json {
    const found = this.#document.components.schemas[name];
    if (!found) throw new Error(`The description has no schema ${name}.`);
    return found;
  }

  parametersOf({ parameters = [] }: Described): Parameter[] {
    const { components } = this.#document;
    return parameters.map((part) =>
      '$ref' in part ? (components.parameters[nameIn(part) as string] as Parameter) : part,
    );
  }

  queryOf(operation: Described): Parameter[] {
    return this.parametersOf(operation).filter((parameter) => parameter.in === 'query');
  }

  /** What the types are made of: all schemas, and what may be asked for by queries. The client knows the rest by itself. */
  trimmed(): unknown {
    const { openapi, info, components } = this.#document;
    const asked = this.#schemasOfRequests();
    const schemas = Object.entries(components.schemas).map(([name, schema]) => [
      name,
      asked.has(name) || isEnum(schema) ? schema : this.#opened(schema),
    ]);
    const paths = this.operations
      .map(({ path, operation }) => ({
        path,
        operationId: operation.operationId,
        parameters: this.queryOf(operation),
      }))
      .filter(({ parameters }) => parameters.length > 0)
      .map(({ path, ...operation }) => [path, { get: { ...operation, responses: {} } }]);
    return plain({
      openapi,
      info,
      paths: Object.fromEntries(paths),
      components: { schemas: Object.fromEntries(schemas) },
    });
  }

  /** The schemas that requests hold. */
  #schemasOfRequests(): Set<string> {
    const found = new Set<string>();
    const visit = (part: unknown): void => {
      for (const [, name] of JSON.stringify(part ?? {}).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
        if (found.has(name as string)) continue;
        found.add(name as string);
        visit(this.schema(name as string));
      }
    };
    for (const { operation } of this.operations) visit([this.parametersOf(operation), operation.requestBody]);
    return found;
  }

  /** A part of a schema of answers whose enumerations are open, but for those that tell what else an object holds. */
  #opened(part: unknown): unknown {
    if (Array.isArray(part)) return part.map((inner) => this.#opened(inner));
    if (typeof part !== 'object' || part === null) return part;
    const name = nameIn(part);
    const named = name ? this.#document.components.schemas[name] : part;
    if (isEnum(named) && named.enum.length > 1) return { anyOf: [part, { type: 'string', 'x-open': true }] };
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, this.#opened(inner)]));
  }
}
