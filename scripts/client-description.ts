import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

type Json = Record<string, unknown>;
interface Parameter {
  name: string;
  in: string;
}
interface Described {
  operationId: string;
  summary: string;
  description: string;
  deprecated?: boolean;
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { content: Record<string, { schema: Json }> };
  responses: Record<string, { content?: Record<string, { schema?: { $ref?: string } }> }>;
}
interface Description {
  openapi: string;
  info: Json;
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Json>; parameters: Record<string, Parameter> };
}

const text = readFileSync(new URL('../openapi.json', import.meta.url), 'utf8');
const description = JSON.parse(text) as Description;
const { paths, components } = description;

/** Tells whether what was made from the description is of its present state. */
export const fingerprint = () => hash('sha256', text).slice(0, 12);

const nameIn = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1);
const isSuccess = ([status]: [string, unknown]) => status.startsWith('2');

/** Every operation with its method and path, in the order of the description. */
const all = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

const parametersOf = ({ parameters = [] }: Described): Parameter[] =>
  parameters.map((part) => ('$ref' in part ? (components.parameters[nameIn(part.$ref)] as Parameter) : part));

/** The schemas that requests hold. */
function schemasOfRequests(): Set<string> {
  const found = new Set<string>();
  const visit = (part: unknown): void => {
    for (const [, name] of JSON.stringify(part ?? {}).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (found.has(name as string)) continue;
      found.add(name as string);
      visit(components.schemas[name as string]);
    }
  };
  for (const { operation } of all) visit([parametersOf(operation), operation.requestBody]);
  return found;
}

const isEnum = (schema: unknown): schema is { enum: unknown[] } =>
  typeof schema === 'object' && schema !== null && 'enum' in schema;

/** A part of a schema of answers whose enumerations are open, but for those that tell what else an object holds. */
function opened(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(opened);
  if (typeof part !== 'object' || part === null) return part;
  const named = '$ref' in part ? components.schemas[nameIn(String(part.$ref))] : part;
  if (isEnum(named) && named.enum.length > 1) return { anyOf: [part, { type: 'string', 'x-open': true }] };
  return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, opened(inner)]));
}

/** A part without its examples, which would be most of the text. */
function plain(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(plain);
  if (typeof part !== 'object' || part === null) return part;
  const kept = Object.entries(part).filter(([name]) => name !== 'example');
  return Object.fromEntries(kept.map(([name, inner]) => [name, plain(inner)]));
}

const queryOf = (operation: Described) =>
  parametersOf(operation).filter((parameter) => parameter.in === 'query');

/** What the types are made of: all schemas, and what lists may be asked for. The client knows the rest by itself. */
export function trimmed(): unknown {
  const asked = schemasOfRequests();
  const schemas = Object.entries(components.schemas).map(([name, schema]) => [
    name,
    asked.has(name) || isEnum(schema) ? schema : opened(schema),
  ]);
  const paths = all
    .map(({ path, operation: { operationId }, operation }) => ({
      path,
      operationId,
      parameters: queryOf(operation),
    }))
    .filter(({ parameters }) => parameters.length > 0)
    .map(({ path, ...operation }) => [path, { get: { ...operation, responses: {} } }]);
  const { openapi, info } = description;
  return plain({
    openapi,
    info,
    paths: Object.fromEntries(paths),
    components: { schemas: Object.fromEntries(schemas) },
  });
}

const capitalized = (name: string) => `${name[0]?.toUpperCase()}${name.slice(1)}`;

/** The type of a resource in an answer: the service gives it an id, also where requests need not have one. */
function answered(name: string): string {
  const { properties, required } = components.schemas[name] as { properties?: Json; required?: string[] };
  const needsId = properties && 'id' in properties && !required?.includes('id');
  return needsId ? `types.${name} & { id: Int64 }` : `types.${name}`;
}

/** How one operation is called: its name, what it takes and what it gives. */
function signature({ path, method, operation }: (typeof all)[number]) {
  const { operationId: id, requestBody, responses } = operation;
  const [[, success] = []] = Object.entries(responses).filter(isSuccess);
  const [type, content] = Object.entries(success?.content ?? {})[0] ?? [];
  const given = content?.schema?.$ref ? nameIn(content.schema.$ref) : undefined;
  const query = queryOf(operation);
  const body = Object.values(requestBody?.content ?? {})[0]?.schema as { $ref: string } | undefined;
  const isList = query.some(({ name }) => name === 'cursor');
  const items = components.schemas[given ?? '']?.items as { $ref: string } | undefined;
  const result = isList
    ? `List<${answered(nameIn(items?.$ref ?? ''))}>`
    : type === 'text/event-stream'
      ? 'AsyncGenerator<types.Event, never, undefined>'
      : `Promise<${given ? answered(given) : 'void'}>`;
  const options = { GET: 'ReadOptions', POST: 'CreateOptions' }[method] ?? 'ChangeOptions';
  const queryType = query.length > 0 && `${capitalized(id)}Query`;
  const taken = [
    ...path.matchAll(/{(\w+)}/g).map(([, name]) => `${name}: Int64`),
    body && `body: types.${nameIn(body.$ref)}`,
    queryType && `query?: ${queryType}`,
    `options?: ${type === 'text/event-stream' ? 'StreamOptions' : options}`,
  ].filter(Boolean);
  const kind = isList ? ' list' : type === 'text/event-stream' ? ' stream' : body ? ' body' : '';
  return { id, method, path, taken, result, queryType, kind };
}

const comment = (lines: string[], indent = '') =>
  `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;

/** The operations as a client calls them, and where they are sent. */
export function operationsText(): string {
  const signatures = all.map(signature);
  const queries = signatures
    .filter(({ queryType }) => queryType)
    .map(
      ({ id, queryType }) =>
        `/** What \`${id}\` may be asked for. */\nexport type ${queryType} = NonNullable<types.operations['${id}']['parameters']['query']>;\n`,
    );
  const methods = all.map((entry, i) => {
    const { summary, description, deprecated } = entry.operation;
    const { id, method, path, taken, result } = signatures[i] as ReturnType<typeof signature>;
    const words = [`${summary}: \`${method} ${path}\`.`, '', ...description.split('\n')];
    if (deprecated) words.push('', '@deprecated See above what to use instead.');
    return `${comment(words, '  ')}  ${id}(${taken.join(', ')}): ${result};\n`;
  });
  const targets = signatures.map(({ id, method, path, kind }) => `  ${id}: '${method} ${path}${kind}',\n`);
  return `import type * as types from './description.ts';
import type { Int64 } from './exact-json.ts';
import type { List } from './list.ts';
import type { ChangeOptions, CreateOptions, ReadOptions, StreamOptions } from './options.ts';

${queries.join('\n')}
/** Every operation of the API, by its operationId. */
export interface Operations {
${methods.join('\n')}}

/** Where each operation is sent, and what is special about it: a body, a list, a stream. */
export const targets: Readonly<Record<keyof Operations, string>> = {
${targets.join('')}};
`;
}
