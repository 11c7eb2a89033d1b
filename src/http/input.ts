import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { type TProperties, type TSchema, Type } from 'typebox';
import {
  ApiError,
  bodyProperty,
  errorAt,
  invalidRequest,
  type ValueProblem,
  type ValueSubject,
} from '../foundation/errors.ts';
import { quote, shortened } from '../foundation/redact.ts';
import { toInt64 } from '../foundation/schema.ts';
import { fieldLines } from './headers.ts';
import { parseJson } from './json.ts';
import { defaultLimit, numberIn, type PageRequest, readCursor } from './pagination.ts';
import { objectReader, type Values } from './values.ts';

/** How many parameters a query may have. A list of ids takes 100. */
export const maxParameters = 200;

/** The parts of a request that schemas describe, as valid values. */
interface RequestValues {
  params: Values;
  query: Values;
  body: Values;
  page: PageRequest;
}

interface InputSpec {
  params: TProperties;
  query: TProperties;
  body: TProperties | undefined;
  /** For operations that return pages: the list whose cursors are accepted. */
  cursorOf: string | undefined;
}

/** A reader of requests of one operation. It converts text of path and query, and names all wrong values at once. */
export function inputReader(spec: InputSpec): (request: FastifyRequest) => RequestValues {
  const readParams = objectReader(spec.params, pathParameter);
  const readQuery = objectReader(spec.query, queryParameter);
  const readBody = spec.body && objectReader(spec.body, bodyProperty);

  return (request) => {
    const problems: ValueProblem[] = [];
    const given = textValues(spec.params, request.params as Values);
    const body = spec.body && parseBody(request);
    const params = readParams(given, problems);
    const query = readQuery(queryValues(spec, request.raw.url as string, problems), problems);
    const page = readPage(spec.cursorOf, query, problems);
    const values = { params, query, page, body: readBody?.(body as Values, problems) ?? {} };
    if (problems.length > 0) throw invalidRequest(problems);
    return values;
  };
}

const parameter =
  (place: string) =>
  (...path: (string | number)[]): ValueSubject => ({
    subject: `${place} parameter ${path[0]}`,
    place: { parameter: String(path[0]) },
  });

const pathParameter = parameter('Path');
const queryParameter = parameter('Query');

function readPage(cursorOf: string | undefined, query: Values, problems: ValueProblem[]): PageRequest {
  const { cursor, limit = defaultLimit } = query as { cursor?: string; limit?: number };
  if (cursorOf === undefined || cursor === undefined) return { after: 0, limit };
  const after = readCursor(cursorOf, cursor);
  if (after === undefined)
    problems.push({
      ...queryParameter('cursor'),
      detail: 'must come from the Link header of a page of this list',
    });
  return { after: after ?? 0, limit };
}

/** Converts text from a path or query to the type of its schema. Other text stays text, and fails the check. */
function fromText(schema: TSchema, text: string): unknown {
  const { type, format } = schema as { type?: string; format?: string };
  if (type === 'integer' && /^(0|-?[1-9]\d*)$/.test(text)) {
    return (format === 'int64' ? toInt64(text) : Number(text)) ?? text;
  }
  if (type === 'number' && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function textValues(properties: TProperties, texts: Values): Values {
  const values: Values = {};
  for (const name in properties) {
    values[name] = fromText(properties[name] as TSchema, texts[name] as string);
  }
  return values;
}

/** The declared query parameters. A parameter that is not declared, or is sent twice without being a list, is a problem. */
function queryValues(spec: InputSpec, url: string, problems: ValueProblem[]): Values {
  const start = url.indexOf('?');
  const values: Values = {};
  if (start === -1) return values;
  const query = url.slice(start + 1);
  assertFewParameters(query);
  assertWellEncoded(query);
  const unknown = new Set<string>();
  const repeated = new Set<string>();
  for (const [name, text] of new URLSearchParams(query)) {
    const schema = Object.hasOwn(spec.query, name) ? spec.query[name] : undefined;
    if (!schema) unknown.add(name);
    else if (Type.IsArray(schema)) {
      values[name] ??= [];
      (values[name] as unknown[]).push(fromText(schema.items, text));
    } else if (name in values) repeated.add(name);
    else values[name] = fromText(schema, text);
  }
  let taken = `, which takes ${Object.keys(spec.query).join(', ') || 'none'}`;
  for (const name of unknown) {
    problems.push({
      subject: quote(name),
      place: { parameter: shortened(name) },
      detail: `is not a query parameter of this operation${taken}`,
    });
    taken = ' either';
  }
  for (const name of repeated) problems.push({ ...queryParameter(name), detail: 'must be sent once' });
  return values;
}

/** Refuses thousands of parameters, since parsing them takes longer than serving many requests. */
function assertFewParameters(query: string): void {
  let count = 1;
  for (let at = query.indexOf('&'); at !== -1; at = query.indexOf('&', at + 1)) count++;
  if (count > maxParameters) {
    throw new ApiError('invalid_request', `The query must not have more than ${maxParameters} parameters.`);
  }
}

function assertWellEncoded(query: string): void {
  try {
    decodeURIComponent(query);
  } catch (error) {
    const message = 'The query has a malformed percent-encoding.';
    throw new ApiError('invalid_request', message, {}, { cause: error });
  }
}

function parseBody(request: FastifyRequest): Values {
  const bytes = request.body as Buffer | undefined;
  if (!bytes?.length) {
    throw new ApiError('invalid_json', 'The request has no body. Send a JSON object.');
  }
  const body = parseJson(bytes);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidRequest([{ subject: 'The body', place: { pointer: '#' }, detail: 'must be a JSON object' }]);
  }
  return body as Values;
}

/** Throws `unsupported_media_type` unless the headers declare one of these media types, UTF-8 and no encoding. */
export function assertContentType(request: FastifyRequest, mediaTypes: readonly string[]): void {
  assertMediaType(fieldLines(request.raw, 'content-type'), mediaTypes);
  assertNotEncoded(request.headers);
}

function assertMediaType(contentTypes: string[], mediaTypes: readonly string[]): void {
  const [contentType = '', ...more] = contentTypes;
  if (more.length > 0) throw unsupported('Content-Type', 'Content-Type must be sent once.');
  if (mediaTypes.includes(contentType)) return;
  const type = contentType.toLowerCase();
  const [mediaType = ''] = type.split(';', 1);
  const isUtf8 = !/;\s*charset\s*=(?!\s*"?utf-8"?\s*(?:;|$))/.test(type);
  if (!isUtf8 || !mediaTypes.includes(mediaType.trim())) {
    throw unsupported('Content-Type', `Content-Type must be ${mediaTypes.join(' or ')}, in UTF-8.`);
  }
}

function assertNotEncoded({ 'content-encoding': encoding = 'identity' }: IncomingHttpHeaders): void {
  if (encoding.toLowerCase() !== 'identity') {
    throw unsupported('Content-Encoding', 'The body must be sent without Content-Encoding.');
  }
}

const unsupported = (header: string, message: string) =>
  errorAt({ header }, 'unsupported_media_type', message);

/** The event that a client has seen last, as it says in `Last-Event-ID` (HTML, section 9.2). Throws `invalid_request` if it is no id. */
export function lastEventIdOf(request: FastifyRequest): number | undefined {
  const [value, ...more] = fieldLines(request.raw, 'last-event-id');
  if (value === undefined) return undefined;
  const id = /^(0|[1-9]\d*)$/.test(value) ? toInt64(value) : undefined;
  if (id === undefined || more.length > 0)
    throw errorAt(
      { header: 'Last-Event-ID' },
      'invalid_request',
      'Last-Event-ID must be sent once and be the id of an event, or 0.',
    );
  return id;
}

/** The digits of a position as sent in `Last-Event-ID`, in the query or in its cursor. A number beyond 2^53 has lost its last digits. */
export function sentDigits({ raw }: FastifyRequest, position: number): string {
  if (Number.isSafeInteger(position)) return String(position);
  const query = new URLSearchParams(raw.url?.replace(/^[^?]*/, ''));
  const sent = [
    ...fieldLines(raw, 'last-event-id'),
    ...query.values().flatMap((text) => [text, numberIn(text)]),
  ];
  return sent.find((text) => /^\d+$/.test(text) && toInt64(text) === position) ?? String(position);
}
