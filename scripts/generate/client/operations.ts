import { type Described, type Description, nameIn } from './description.ts';

/** What an API is called in the code that is made for it. */
export interface Names {
  /** The interface of its operations, and its docstring. */
  operations: string;
  doc: string;
  /** The table of where they are sent. */
  targets: string;
  /** The module of its types, beside it. */
  types: string;
}

/** The events of an API: all their types, and those that record a change by an operation. */
export interface RecordedEvents {
  types: readonly string[];
  recordedBy(operationId: string): readonly string[];
}

const capitalized = (name: string) => `${name[0]?.toUpperCase()}${name.slice(1)}`;

/** The type of an id. */
const idType = ({ format, type }: { format?: unknown; type?: unknown }) => {
  if (format === 'int64') return 'Int64';
  if (type === 'string') return 'string';
  throw new Error(`No client can ask for an id of type ${type}.`);
};

/** The type of a resource in an answer: the service gives it an id, also where requests need not have one. */
function answered(description: Description, name: string): string {
  const { properties, required } = description.schema(name) as {
    properties?: Record<string, object>;
    required?: string[];
  };
  const id = required?.includes('id') ? undefined : properties?.id;
  return id ? `types.${name} & { id: ${idType(id)} }` : `types.${name}`;
}

/** What an operation gives, as a type and as the word by which the client knows it. */
function given(
  description: Description,
  operation: Described,
): { result: string; word?: string | undefined } {
  const [, success] = Object.entries(operation.responses).find(([status]) => status.startsWith('2')) ?? [];
  const [mediaType, content] = Object.entries(success?.content ?? {})[0] ?? [];
  if (!mediaType) return { result: 'Promise<void>', word: 'nothing' };
  if (mediaType === 'text/event-stream')
    return { result: 'AsyncGenerator<types.Event, never, undefined>', word: 'stream' };
  if (mediaType !== 'application/json') return { result: 'Promise<string>', word: mediaType };
  const name = nameIn(content?.schema);
  if (!name) throw new Error(`The answer of ${operation.operationId} has no name.`);
  const { type, items } = description.schema(name) as { type?: string; items?: object };
  if (type !== 'array') return { result: `Promise<${answered(description, name)}>` };
  const isPaged = description.queryOf(operation).some((parameter) => parameter.name === 'cursor');
  return isPaged
    ? { result: `List<${answered(description, nameIn(items) as string)}>`, word: 'list' }
    : { result: `Promise<types.${name}>`, word: 'array' };
}

/** The options of an operation. What is no object, as text is, cannot be given again to ask whether it has changed. */
function optionsOf(method: string, word = ''): string {
  if (word === 'stream') return 'StreamOptions';
  if (word.includes('/')) return 'CallOptions';
  return { GET: 'ReadOptions', POST: 'CreateOptions' }[method] ?? 'ChangeOptions';
}

/** How one operation is called: its name, what it takes and what it gives. */
function signature(
  description: Description,
  { path, method, operation }: Description['operations'][number],
  events: RecordedEvents | undefined,
) {
  const { operationId: id, requestBody } = operation;
  const { result, word } = given(description, operation);
  const queryType = description.queryOf(operation).length > 0 && `${capitalized(id)}Query`;
  const body = nameIn(Object.values(requestBody?.content ?? {})[0]?.schema);
  if (requestBody && !body) throw new Error(`The body of ${id} has no name.`);
  const parts = [...path.matchAll(/{(\w+)}/g)].map(([, name = '']) => {
    const parameter = description.parametersOf(operation).find((parameter) => parameter.name === name);
    return { name, type: idType(parameter?.schema ?? {}) };
  });
  const taken = [
    ...parts.map(({ name, type }) => `${name}: ${type}`),
    body && `body: types.${body}`,
    queryType && `query?: ${queryType}`,
    `options?: ${optionsOf(method, word)}`,
  ].filter(Boolean);
  const texts = new Set(parts.filter(({ type }) => type === 'string').map(({ name }) => name));
  const marked = path.replace(/{(\w+)}/g, (whole, name) => (texts.has(name) ? `{${name}:text}` : whole));
  const recorded = events?.recordedBy(id).join(',');
  const words = [method, marked, body && 'body', queryType && 'query', recorded, word];
  const target = words.filter(Boolean).join(' ');
  return { id, taken: taken.join(', '), result, queryType, target };
}

const comment = (lines: string[], indent = '') =>
  `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;

/** An import of those `names` that a text uses. */
function imported(names: string[], module: string, text: string): string {
  const used = names.filter((name) => new RegExp(`\\b${name}\\b`).test(text));
  return used.length > 0 ? `import type { ${used.join(', ')} } from './${module}.ts';\n` : '';
}

/** The methods of a client, and the targets of their requests. */
export function operationsText(description: Description, names: Names, events?: RecordedEvents): string {
  const all = description.operations.map((entry) => ({ ...entry, ...signature(description, entry, events) }));
  const queries = all
    .filter(({ queryType }) => queryType)
    .map(
      ({ id, queryType }) =>
        `/** Query parameters of \`${id}\`. */\nexport type ${queryType} = NonNullable<types.operations['${id}']['parameters']['query']>;\n`,
    );
  const methods = all.map(({ id, method, path, taken, result, operation }) => {
    const { summary, description, deprecated } = operation;
    const words = [`${summary}: \`${method} ${path}\`.`, '', ...description.split('\n')];
    if (deprecated) words.push('', '@deprecated See above what to use instead.');
    return `${comment(words, '  ')}  ${id}(${taken}): ${result};\n`;
  });
  const signatures = all.map(({ taken, result }) => `${taken} ${result}`).join('\n');
  const options = ['CallOptions', 'ChangeOptions', 'CreateOptions', 'ReadOptions', 'StreamOptions'];
  return `import type * as types from './${names.types}.ts';
${imported(['Int64'], 'exact-json', signatures)}${imported(['List'], 'list', signatures)}${imported(options, 'options', signatures)}
${queries.join('\n')}
/** ${names.doc} */
export interface ${names.operations} {
${methods.join('\n')}}

/**
 * Where each operation is sent, and what is special about it: a body, a query, the events that record it, and an answer that is
 * no object.
 */
export const ${names.targets}: Readonly<Record<keyof ${names.operations}, string>> = {
${all.map(({ id, target }) => `  ${id}: '${target}',\n`).join('')}};
${events ? eventTypesText(events) : ''}`;
}

const eventTypesText = ({ types }: RecordedEvents) => `
/** Every type of event that this version knows. */
export const eventTypes: readonly types.EventType[] = [${types.map((type) => `'${type}'`).join(', ')}];
`;
