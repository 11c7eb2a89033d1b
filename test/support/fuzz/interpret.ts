import { Ajv, type ValidateFunction } from 'ajv';
import { toUtc } from '../../../src/foundation/time.ts';
import type { JsonObject as Json } from '../../../src/reference/description/schemas.ts';
import { decoded as decodedPath, description, resolve, writableIn } from '../description.ts';
import type { Call, Model } from './model.ts';

/** A sent request. Header names are in lower case. */
export interface Wire {
  method: string;
  path: string;
  query: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  /** Whether the body was deliberately made something else than a JSON object without duplicates, in UTF-8. */
  isSpoilt: boolean;
}

/** The allowed statuses, or the call whose response the model knows. */
export type Meaning = { statuses: number[] } | { call: Call };

interface Described {
  id: string;
  pattern: RegExp;
  /** By the number of their segment. */
  params: [name: string, segment: number][];
  method: string;
  parameters: { name: string; in: string; schema: Json; required: boolean }[];
  mediaTypes: string[];
  fitsBody: ValidateFunction | undefined;
  bodyProperties: Record<string, Json>;
}

const maxBodyBytes = 65_536;
const maxValues = 1_000;
const maxHeadBytes = 16_384;
/** More than the header fields that a client adds by itself. */
const addedHeadBytes = 400;

/** Formats by the contract. All else is judged by a parser that is independent of the service's. */
const ajv = new Ajv({
  strict: false,
  formats: { 'date-time': (text: string) => toUtc(text) !== undefined, int64: true, int32: true },
});

export const described: Described[] = Object.entries(description.paths as Record<string, Json>).flatMap(
  ([template, item]) =>
    Object.entries(item as Record<string, Json>).map(([method, operation]) =>
      describedOf(template, method, operation),
    ),
);

function describedOf(template: string, method: string, operation: Json): Described {
  const content = ((operation.requestBody as Json | undefined)?.content ?? {}) as Record<string, Json>;
  const body = Object.values(content)[0]?.schema as Json | undefined;
  const schema = body && { ...resolve(body), properties: Object.fromEntries(writableIn(resolve(body))) };
  return {
    id: operation.operationId as string,
    pattern: new RegExp(`^/v1${template.replace(/{\w+}/g, '([^/]+)')}$`),
    params: `/v1${template}`.split('/').flatMap((segment, i) => {
      const name = /^{(\w+)}$/.exec(segment)?.[1];
      return name === undefined ? [] : [[name, i]];
    }),
    method: method.toUpperCase(),
    parameters: (operation.parameters as Json[]).map((parameter) => resolve(parameter)) as never,
    mediaTypes: Object.keys(content),
    fitsBody: schema && ajv.compile({ ...schema, components: description.components }),
    bodyProperties: schema?.properties ?? {},
  };
}

const isOfOtherForm = ({ errors }: ValidateFunction) => errors?.[0]?.keyword === 'pattern';

/** Whether target and header fields may exceed the limit. Only a socket has that limit, and `test/http/http.test.ts` tests it. */
export function mayExceedHead({ path, query, headers }: Wire): boolean {
  const text = [path, query, ...Object.entries(headers).flat()].join('');
  return Buffer.byteLength(text) > maxHeadBytes - addedHeadBytes;
}

/** Interprets a request by the description and returns the allowed responses. */
export function interpret(wire: Wire, key: string, model: Model): Meaning {
  const path = decodedPath(wire.path);
  if (!isBelowV1(wire.path)) return { statuses: [path === undefined ? 400 : 404] };
  const { authorization, 'x-api-key': apiKey } = wire.headers;
  if (authorization !== `Bearer ${key}` || apiKey !== undefined) return { statuses: [401, 429] };
  if (path === undefined) return { statuses: [400] };
  const fitting = described.filter(({ pattern }) => pattern.test(path));
  // A path without parameters precedes those with parameters that match it.
  const plain = fitting.filter(({ params }) => params.length === 0);
  const here = plain.length > 0 ? plain : fitting;
  if (here.length === 0) return { statuses: [404] };
  if (wire.method === 'OPTIONS') return { statuses: [204] };
  const method = wire.method === 'HEAD' ? 'GET' : wire.method;
  const operation = here.find((operation) => operation.method === method);
  return operation ? readBy(operation, wire, model) : { statuses: [405] };
}

/** Whether the first segment is the version, even if the rest is malformed. */
const isBelowV1 = (path: string) => /^\/[^/]+(?=\/)/.test(path) && decoded(path.split('/')[1] ?? '') === 'v1';

function readBy(operation: Described, wire: Wire, model: Model): Meaning {
  const statuses: number[] = [];
  const params = readParams(operation, wire.path);
  const query = readQuery(operation, wire.query, model);
  if (!params || !query || !areHeadersFine(operation, wire.headers)) statuses.push(400);
  if (operation.method !== 'GET' && wire.body && Buffer.byteLength(wire.body) > maxBodyBytes)
    statuses.push(413);
  let body: unknown;
  if (operation.fitsBody) {
    if (!isMediaTypeFine(operation, wire.headers)) statuses.push(415);
    body = wire.isSpoilt ? undefined : parsed(String(wire.body));
    if (wire.isSpoilt ? mayHoldTooMany(String(wire.body)) : valuesIn(body) > maxValues) statuses.push(413);
    if (!operation.fitsBody(body) || Array.isArray(body)) statuses.push(400);
    // The Idempotency-Key is checked before forms that the operation checks itself, such as that of a URL.
    if (isOfOtherForm(operation.fitsBody) && wire.headers['idempotency-key'] !== undefined)
      statuses.push(422);
  } else if (
    operation.method === 'DELETE' &&
    wire.body?.length &&
    !isMediaType(wire.headers['content-type'])
  ) {
    // A Content-Type must be a media type, even if the body is not read.
    statuses.push(415);
  }
  if (statuses.length > 0 || !params || !query) return { statuses };
  const { bodyProperties } = operation;
  const declared = Object.entries((body ?? {}) as object)
    .filter(([name]) => Object.hasOwn(bodyProperties, name))
    .map(([name, value]) => {
      const { format } = resolve(bodyProperties[name] as Json);
      return [name, format === 'date-time' && value !== null ? toUtc(value) : value];
    });
  const { headers } = wire;
  const path = decodedPath(wire.path) as string;
  return {
    call: {
      operationId: operation.id,
      method: operation.method,
      path,
      search: wire.query,
      params,
      query,
      body: Object.fromEntries(declared),
      headers,
    },
  };
}

function readParams({ params }: Described, path: string): Record<string, number> | undefined {
  const segments = path.split('/');
  const values = params.map(([name, i]) => [name, toInteger(decoded(segments[i] ?? ''))]);
  return values.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(values);
}

function readQuery(operation: Described, query: string, model: Model): Record<string, unknown> | undefined {
  if (decoded(query) === undefined) return undefined;
  const values: Record<string, unknown> = {};
  for (const [name, text] of new URLSearchParams(query)) {
    const parameter = operation.parameters.find(
      (parameter) => parameter.in === 'query' && parameter.name === name,
    );
    if (!parameter) return undefined;
    const schema = resolve(parameter.schema);
    const isList = schema.type === 'array';
    if (Object.hasOwn(values, name) && !isList) return undefined;
    const value = toValue(isList ? resolve(schema.items as Json) : schema, text);
    if (value === undefined) return undefined;
    values[name] = isList ? [...((values[name] as unknown[]) ?? []), value] : value;
    if (isList && (values[name] as unknown[]).length > (schema.maxItems as number)) return undefined;
    if (name === 'cursor' && model.cursors.get(text)?.operationId !== operation.id) return undefined;
  }
  return values;
}

function toValue(schema: Json, text: string): unknown {
  if (schema.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  if (schema.type !== 'integer') {
    return Array.isArray(schema.enum) && !schema.enum.includes(text) ? undefined : text;
  }
  const value = toInteger(text);
  if (value === undefined) return undefined;
  const { minimum = value, maximum = value } = schema as { minimum?: number; maximum?: number };
  return value >= minimum && value <= maximum ? value : undefined;
}

/** A decimal 64-bit integer, or undefined. */
function toInteger(text: string | undefined): number | undefined {
  const isDecimal = text !== undefined && /^(0|-?[1-9]\d*)$/.test(text);
  return isDecimal && isInt64(BigInt(text)) ? Number(text) : undefined;
}

const isInt64 = (integer: bigint) => BigInt.asIntN(64, integer) === integer;

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function areHeadersFine({ parameters }: Described, headers: Wire['headers']): boolean {
  return parameters
    .filter((parameter) => parameter.in === 'header' && parameter.name in grammars)
    .every(({ name }) => {
      const value = headers[name.toLowerCase()];
      return value === undefined || (grammars[name] as (value: string) => boolean)(value);
    });
}

const isTags = (value: string) => {
  const tags = value.split(',').map((tag) => tag.trim());
  if (tags.length === 1 && tags[0] === '*') return true;
  const named = tags.filter((tag) => tag !== '');
  return named.length > 0 && named.every((tag) => /^(W\/)?"[!#-~]*"$/.test(tag));
};

const grammars: Record<string, (value: string) => boolean> = {
  'If-Match': isTags,
  'If-None-Match': isTags,
  'Last-Event-ID': (value) => (toInteger(value) ?? -1) >= 0,
  'Idempotency-Key': (value) => {
    const key = idempotencyKey(value);
    return key !== undefined && key.length > 0 && key.length <= 255;
  },
};

/** The key in a header field, bare or in quotes. */
export function idempotencyKey(value: string): string | undefined {
  if (!value.startsWith('"')) return /^[!-~]*$/.test(value) ? value : undefined;
  return /^"([ !#-[\]-~]*)"$/.exec(value)?.[1];
}

function isMediaTypeFine({ mediaTypes }: Described, headers: Wire['headers']): boolean {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const charsets = parameters.map((text) => text.split('=').map((part) => part.trim()));
  const isUtf8 = charsets.every(
    ([name, value]) => name !== 'charset' || /^("?)utf-8\1$/.test(value ?? 'utf-8'),
  );
  const isPlain = ['identity', undefined].includes(headers['content-encoding']);
  return mediaTypes.includes(type.trim()) && isUtf8 && isPlain;
}

/** The grammar of RFC 9110, section 8.3.1, leniently: parameters may be anything. A missing type is valid. */
const isMediaType = (value: string | undefined) =>
  value === undefined || /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;.*)?$/.test(value);

/** The number of values in a JSON value, at any depth. */
const valuesIn = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce((count: number, part) => count + valuesIn(part), 1)
    : 1;

/** Whether invalid JSON may contain too many values before the error. */
const mayHoldTooMany = (text: string) => text.split(/[[{,:]/).length > maxValues;

/** The value of a valid JSON text, with NaN for numbers that no integer type can represent exactly. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text, exact as Parameters<typeof JSON.parse>[1]);
  } catch {
    return undefined;
  }
}

/** Exact decimals: a mantissa and a power of ten. */
function exact(name: string, value: unknown, { source = '' }: { source?: string }): unknown {
  const texts = typeof value === 'string' ? [name, value] : [name];
  if (!texts.every((text) => text.isWellFormed())) throw new SyntaxError('An unpaired surrogate.');
  if (typeof value !== 'number') return value;
  const [, whole = '', fraction = '', exponent = ''] = /^(-?\d+)\.?(\d*)e?(.*)$/i.exec(source) ?? [];
  const mantissa = BigInt(whole + fraction);
  const power = BigInt(exponent) - BigInt(fraction.length);
  if (mantissa === 0n) return value;
  // Far beyond 64 bits, or far behind the decimal point.
  if (power > 400n || power < -100_000n) return Number.NaN;
  if (power >= 0n) return isInt64(mantissa * 10n ** power) ? value : Number.NaN;
  if (mantissa % 10n ** -power !== 0n) return Number.NaN;
  return isInt64(mantissa / 10n ** -power) ? value : Number.NaN;
}
