import type { FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { ApiError } from '../../../foundation/errors.ts';
import { Id } from '../../../foundation/schema.ts';
import { parseEntityTags } from '../../../http/etag.ts';
import { maxParameters } from '../../../http/input.ts';
import { integerOf, parseJson } from '../../../http/json.ts';
import type { Operation } from '../../../http/operation.ts';
import { positionIn, writeCursor } from '../../../http/pagination.ts';
import { rewriteJson } from './rewrite-json.ts';

/** Returns the replacement of a value: an integer as text, or a string without quotes. Returns the same text to leave it. */
export type ReplaceValue = (text: string, schema: TSchema) => string;

type Texts = Readonly<Record<string, string>>;

/** The schema of ids in headers and cursors. */
export const anyId = Id('An id.');

const changes: readonly string[] = ['PUT', 'PATCH', 'DELETE'];

/** Replaces values in the path, the query, the body and the headers. Malformed parts stay, and are refused as usual. */
export function rewriteRequest(
  request: FastifyRequest,
  operation: Operation,
  replace: ReplaceValue,
): FastifyRequest {
  const { raw } = request;
  const rewrittenRaw = Object.create(raw, {
    url: { value: rewriteQuery(operation, raw.url as string, replace) },
    headers: { value: changes.includes(operation.method) ? withoutEtagMarks(raw.headers) : raw.headers },
    rawHeaders: {
      value: operation.success.kind === 'stream' ? replaceEventId(raw.rawHeaders, replace) : raw.rawHeaders,
    },
  });
  return Object.create(request, {
    raw: { value: rewrittenRaw },
    params: { value: rewriteParams(operation, request.params as Texts, replace) },
    body: { value: rewriteBody(operation, request.body as Buffer | undefined, replace) },
  });
}

/** All parts that `rewriteRequest` may change. */
export const rewritableParts = ({ params, raw, body }: FastifyRequest) => [
  JSON.stringify(params),
  raw.url,
  raw.headers['if-match'],
  raw.headers['if-none-match'],
  raw.rawHeaders.join('\n'),
  body,
];

export const rewriteParams = ({ params }: Operation, texts: Texts, replace: ReplaceValue): Texts =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => {
      const schema = params[name];
      return [name, schema ? replace(text, schema) : text];
    }),
  );

/** Rewrites the query of a target or URL. Parameters that stay the same keep their spelling. */
export function rewriteQuery(operation: Operation, url: string, replace: ReplaceValue): string {
  const { id, query, success } = operation;
  const start = url.indexOf('?') + 1;
  const parts = url.slice(start).split('&');
  if (start === 0 || parts.length > maxParameters) return url;
  const rewritten = parts.map((part) => {
    const [[name = '', text = ''] = []] = new URLSearchParams(`&${part}`);
    const schema = Object.hasOwn(query, name) ? query[name] : undefined;
    if (!schema) return part;
    const isCursor = name === 'cursor' && success.kind === 'page';
    const by = isCursor
      ? rewriteCursor(id, text, replace)
      : replace(text, Type.IsArray(schema) ? schema.items : schema);
    return by === text ? part : `${name}=${encodeURIComponent(by)}`;
  });
  return url.slice(0, start) + rewritten.join('&');
}

function rewriteCursor(operationId: string, cursor: string, replace: ReplaceValue): string {
  const position = positionIn(operationId, cursor);
  return position === undefined ? cursor : writeCursor(operationId, replace(position, anyId));
}

function rewriteBody(
  { body: schema }: Operation,
  body: Buffer | undefined,
  replace: ReplaceValue,
): Buffer | undefined {
  if (!schema || !body?.length || !isJson(body)) return body;
  const text = body.toString();
  const rewritten = rewriteJson(text, schema, { token: replaceTokens(replace), members: () => '' });
  return rewritten === text ? body : Buffer.from(rewritten);
}

function isJson(bytes: Uint8Array): boolean {
  try {
    parseJson(bytes);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/** Applies `replace` to JSON tokens that have the type of their schema. */
export const replaceTokens =
  (replace: ReplaceValue): ReplaceValue =>
  (token, schema) => {
    const { type } = schema as { type?: string };
    const isString = token.startsWith('"');
    if (isString !== (type === 'string')) return token;
    const text = isString ? JSON.parse(token) : integerText(token);
    const by = replace(text, schema);
    if (by === text) return token;
    return isString ? JSON.stringify(by) : by;
  };

/** Returns the digits of a number that is an integer of about 64 bits, and any other token as it is. */
function integerText(token: string): string {
  const value = Number(token);
  return Number.isInteger(value) && Math.abs(value) <= 2 ** 63 ? (integerOf(token) ?? token) : token;
}

/** The lookbehind keeps the time linear: a match can start only at the first mark. */
const marksAtEnd = /(?<!~[A-Z])(?:~[A-Z])+"$/;

/** Removes the marks of `ValueRewriter` from the ETags in If-Match and If-None-Match. */
function withoutEtagMarks(headers: FastifyRequest['raw']['headers']): FastifyRequest['raw']['headers'] {
  const unmarked = { ...headers };
  for (const name of ['if-match', 'if-none-match'] as const) {
    const tags = tagsIn(name, headers[name]);
    if (tags) unmarked[name] = tags.map((tag) => tag.replace(marksAtEnd, '"')).join(', ');
  }
  return unmarked;
}

function tagsIn(name: string, value: string | undefined): string[] | undefined {
  if (value === undefined) return undefined;
  try {
    const tags = parseEntityTags(name, value);
    return tags === '*' ? undefined : tags;
  } catch {
    return undefined;
  }
}

const replaceEventId = (rawHeaders: readonly string[], replace: ReplaceValue) =>
  rawHeaders.map((value, index) =>
    rawHeaders[index - 1]?.toLowerCase() === 'last-event-id' && index % 2 === 1
      ? replace(value, anyId)
      : value,
  );
