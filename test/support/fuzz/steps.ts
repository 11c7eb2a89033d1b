import fc, { type Arbitrary } from 'fast-check';
import type { RowKind } from '../../../src/db/tables.ts';
import type { JsonObject as Json } from '../../../src/reference/description/schemas.ts';
import { type Api, apis, resolve } from '../description.ts';
import type { Wire } from './interpret.ts';
import type { Model } from './model.ts';
import { type Draft, type Twist, twist } from './twists.ts';
import { Earlier, earlier, Numeral, validValue } from './values.ts';

const [api] = apis;

/** One step: a valid request with its twists, an earlier request again, or the removal of all events but the last `keep`. */
export type Step = RequestStep | { keep: number };
export type RequestStep = { again: number } | Fresh;

export interface Fresh {
  operation: Target;
  parameters: Record<string, unknown>;
  value: unknown;
  mediaType: string | undefined;
  twists: Twist[];
}

interface Target {
  /** The prefix of its API's paths. */
  start: string;
  id: string;
  method: string;
  template: string;
}

/** A request to some operation of an API, half of them odd. */
export const operationStep = ({ start, description }: Pick<Api, 'start' | 'description'>): Arbitrary<Fresh> =>
  fc.oneof(
    ...Object.entries(description.paths as Record<string, Json>).flatMap(([template, item]) =>
      Object.entries(item as Record<string, Json>).map(([method, operation]) => {
        const target = { start, id: operation.operationId as string, method: method.toUpperCase(), template };
        return stepOf(target, operation, description);
      }),
    ),
  );

function stepOf(
  operation: Target,
  { parameters, requestBody }: Json,
  description: Api['description'],
): Arbitrary<Fresh> {
  const content = (requestBody as { content: Record<string, { schema: Json }> } | undefined)?.content ?? {};
  const [first] = Object.values(content);
  return fc.record({
    operation: fc.constant(operation),
    parameters: parametersOf((parameters as Json[]).map((parameter) => resolve(parameter, description))),
    value: first ? validValue(resolve(first.schema, description), '', description) : fc.constant(undefined),
    mediaType: first ? fc.constantFrom(...Object.keys(content)) : fc.constant(undefined),
    twists: fc.oneof(fc.constant<Twist[]>([]), fc.array(twist, { minLength: 1, maxLength: 2 })),
  });
}

function parametersOf(parameters: Json[]): Arbitrary<Record<string, unknown>> {
  const values = parameters.map(({ name, schema, required }) => {
    const value = special[name as string] ?? validValue(schema as Json, name as string);
    const sometimes = fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, value);
    return [name, required ? value : sometimes] as const;
  });
  return fc.record(Object.fromEntries(values));
}

/** Parameters with values from responses, or with a too general schema. */
const special: Record<string, Arbitrary<unknown>> = {
  rehearsalId: earlier('begun'),
  recordingId: earlier('begun'),
  cursor: earlier('cursors'),
  'If-Match': fc.oneof({ weight: 3, arbitrary: earlier('tags') }, fc.constantFrom('*', '"stale"')),
  'If-None-Match': fc.oneof(
    { weight: 3, arbitrary: earlier('tags') },
    fc.constantFrom('*', '"stale"', 'W/"x"'),
  ),
  'Idempotency-Key': fc.constantFrom('a', 'b', '"a"', '"c d"'),
  'Last-Event-ID': fc.oneof({ weight: 3, arbitrary: earlier('events') }, fc.constantFrom(0, 4_711_000)),
  'X-Request-Id': fc.constant('walk-1'),
};

/** Requests across all operations of the description, half of them odd. */
export const step: Arbitrary<Step> = fc.oneof(
  { weight: 57, arbitrary: operationStep(api) },
  { weight: 3, arbitrary: fc.nat(1_000).map((again) => ({ again })) },
  { weight: 1, arbitrary: fc.constantFrom(0, 1, 4, 16).map((keep) => ({ keep })) },
);

/** The request of a step, with values from earlier responses. */
export function toWire(
  { operation, parameters, value, mediaType, twists }: Fresh,
  model: Model,
  key: string,
): Wire {
  const params = Object.entries(parameters).filter(([, parameter]) => parameter !== undefined);
  const pathNames = [...operation.template.matchAll(/{(\w+)}/g)].map(([, name]) => name as string);
  const path = `${operation.start}${operation.template.replace(/{(\w+)}/g, (_, name) => String(resolveValue(parameters[name], model)))}`;
  const known = params.map(
    ([name, parameter]) => [name, resolveValue(parameter, model, { path, id: operation.id })] as const,
  );
  const isHeader = (name: string) => /^[A-Z]/.test(name);
  const query = known
    .filter(([name, parameter]) => !isHeader(name) && !pathNames.includes(name) && parameter !== undefined)
    .flatMap(([name, parameter]) =>
      [parameter].flat().map((one) => `${name}=${encodeURIComponent(String(one))}`),
    );
  const headers = known.filter(([name, parameter]) => isHeader(name) && parameter !== undefined);
  const draft: Draft = {
    method: operation.method,
    path,
    query: query.join('&'),
    headers: {
      authorization: `Bearer ${key}`,
      ...Object.fromEntries(headers.map(([name, header]) => [name.toLowerCase(), String(header)])),
    },
    value: resolveValue(value, model),
  };
  if (mediaType) draft.headers['content-type'] = mediaType;
  for (const twist of twists) twist(draft);
  return finished(draft);
}

function finished({ method, path, query, headers, value, spoil }: Draft): Wire {
  // Every client does this, so that the request is the same in the process and over a socket.
  const url = new URL(`http://localhost${path}${query && `?${query}`}`);
  const text = value === undefined ? undefined : jsonOf(value);
  return {
    method,
    path: url.pathname,
    query: url.search.slice(1),
    headers,
    ...(text !== undefined && { body: spoil ? spoil(text) : text }),
    isSpoilt: spoil !== undefined,
  };
}

/** JSON in which a bigint has all its digits, and a numeral keeps its spelling. */
const jsonOf = (value: unknown) =>
  JSON.stringify(value, (_, part) => {
    if (typeof part === 'bigint') return `#${part}#`;
    return part instanceof Numeral ? `#${part.text}#` : part;
  }).replace(/"#(-?\d[\d.eE+-]*)#"/g, '$1');

/** A value with references replaced by values from earlier responses. */
function resolveValue(value: unknown, model: Model, at?: { path: string; id: string }): unknown {
  if (value instanceof Earlier) return find(value, model, at);
  if (Array.isArray(value)) return value.map((item) => resolveValue(item, model, at));
  if (typeof value !== 'object' || value === null || value instanceof Numeral) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, resolveValue(part, model, at)]),
  );
}

function find({ kind, nth }: Earlier, model: Model, at?: { path: string; id: string }): unknown {
  const pick = <Value>(values: Iterable<Value>) => {
    const all = [...values];
    return all[nth % all.length];
  };
  switch (kind) {
    case 'tags':
      return (nth % 4 > 0 && model.tagByPath.get(at?.path ?? '')) || pick(model.textByTag.keys()) || '"none"';
    case 'cursors': {
      const own = [...model.cursors].filter(([, { operationId }]) => nth % 8 === 0 || operationId === at?.id);
      return pick(own)?.[0];
    }
    case 'events':
      return pick(model.history.events)?.id ?? 1;
    case 'begun':
      return pick(model.begun) ?? 'rhs_1';
    case 'deliveries':
      return pick(model.deliveries.keys()) ?? 1;
    default:
      return pick(model.rows[kind as RowKind].keys()) ?? 1;
  }
}

/** A line for bash that sends the request to a freshly started demo. */
export function curlOf({ method, path, query, headers, body }: Wire, key: string): string {
  const fields = Object.entries(headers).map(([name, value]) => {
    const shown = value.replace(key, '$(cat petstore-data/demo.key)');
    return shown === value
      ? `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`
      : `-H "${name}: ${shown}"`;
  });
  const verb = method === 'HEAD' ? '-I' : `-X ${method}`;
  const data = body === undefined ? '' : `--data-binary ${quoted(body)}`;
  const url = `http://localhost:8080${path}${query && `?${query}`}`;
  return ['curl -g -i', verb, ...fields, data, quoted(url)].filter(Boolean).join(' ');
}

/** Text or bytes as one word, in the ANSI-C quoting of bash if it has more than printable ASCII. */
function quoted(value: string | Uint8Array): string {
  const bytes = Buffer.from(value as string);
  const text = bytes.toString('latin1');
  if (/^[ -&(-~]*$/.test(text)) return `'${text}'`;
  const escaped = text.replace(
    /[^ -&(-[\]-~]/g,
    (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return `$'${escaped}'`;
}
