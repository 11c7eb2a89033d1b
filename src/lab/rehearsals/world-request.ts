import type { FastifyRequest } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { ApiError } from '../../errors.ts';
import { parseEntityTags } from '../../http/etag.ts';
import { maxParameters } from '../../http/input.ts';
import { integerOf, parseJson } from '../../http/json.ts';
import type { Operation } from '../../operation.ts';
import { positionIn, writeCursor } from '../../page.ts';
import { Id } from '../../schema.ts';
import { rewriteJson } from './rewrite-json.ts';

/** Returns what stands for a value: the text of an integer, or of a string without quotes. The same if it is the value itself. */
export type Translate = (text: string, schema: TSchema) => string;

type Texts = Readonly<Record<string, string>>;

/** What names a row or an event where no schema says so. */
export const anyId = Id('An id.');

const changes: readonly string[] = ['PUT', 'PATCH', 'DELETE'];

/** A request whose values are translated in every place, as its operation reads it. What is malformed stays, to be refused as usual. */
export function translatedRequest(
  request: FastifyRequest,
  operation: Operation,
  translate: Translate,
): FastifyRequest {
  const { raw } = request;
  const seenRaw = Object.create(raw, {
    url: { value: translatedQuery(operation, raw.url as string, translate) },
    headers: { value: changes.includes(operation.method) ? withoutMarks(raw.headers) : raw.headers },
    rawHeaders: {
      value: operation.success.kind === 'stream' ? withEventId(raw.rawHeaders, translate) : raw.rawHeaders,
    },
  });
  return Object.create(request, {
    raw: { value: seenRaw },
    params: { value: translatedParams(operation, request.params as Texts, translate) },
    body: { value: translatedBody(operation, request.body as Buffer | undefined, translate) },
  });
}

/** Everything of a request that may be translated, to see whether something was. */
export const translatable = ({ params, raw, body }: FastifyRequest) => [
  JSON.stringify(params),
  raw.url,
  raw.headers['if-match'],
  raw.headers['if-none-match'],
  raw.rawHeaders.join('\n'),
  body,
];

export const translatedParams = ({ params }: Operation, texts: Texts, translate: Translate): Texts =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => {
      const schema = params[name];
      return [name, schema ? translate(text, schema) : text];
    }),
  );

/** A target or URL with the values of its query translated. All other parameters stay as they are written. */
export function translatedQuery(operation: Operation, url: string, translate: Translate): string {
  const { id, query, success } = operation;
  const start = url.indexOf('?') + 1;
  const parts = url.slice(start).split('&');
  if (start === 0 || parts.length > maxParameters) return url;
  const translated = parts.map((part) => {
    const [[name = '', text = ''] = []] = new URLSearchParams(`&${part}`);
    const schema = Object.hasOwn(query, name) ? query[name] : undefined;
    if (!schema) return part;
    const isCursor = name === 'cursor' && success.kind === 'page';
    const by = isCursor
      ? translatedCursor(id, text, translate)
      : translate(text, Type.IsArray(schema) ? schema.items : schema);
    return by === text ? part : `${name}=${encodeURIComponent(by)}`;
  });
  return url.slice(0, start) + translated.join('&');
}

function translatedCursor(operationId: string, cursor: string, translate: Translate): string {
  const position = positionIn(operationId, cursor);
  return position === undefined ? cursor : writeCursor(operationId, translate(position, anyId));
}

function translatedBody(
  { body: schema }: Operation,
  body: Buffer | undefined,
  translate: Translate,
): Buffer | undefined {
  if (!schema || !body?.length || !isJson(body)) return body;
  const text = body.toString();
  const translated = rewriteJson(text, schema, { token: onTokens(translate), members: () => '' });
  return translated === text ? body : Buffer.from(translated);
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

/** Translates the tokens of a JSON text that have the type of their schema. */
export const onTokens =
  (translate: Translate): Translate =>
  (token, schema) => {
    const { type } = schema as { type?: string };
    const isString = token.startsWith('"');
    if (isString !== (type === 'string')) return token;
    const text = isString ? JSON.parse(token) : integerText(token);
    const by = translate(text, schema);
    if (by === text) return token;
    return isString ? JSON.stringify(by) : by;
  };

/** The digits of a number that is an integer of about 64 bits; any other token as it is. */
function integerText(token: string): string {
  const value = Number(token);
  return Number.isInteger(value) && Math.abs(value) <= 2 ** 63 ? (integerOf(token) ?? token) : token;
}

/** Begins where marks do: from each of them anew it would look at all that follow. */
const marksAtEnd = /(?<!~[A-Z])(?:~[A-Z])+"$/;

/** Header fields whose entity tags are those of what is kept, whatever a rehearsal has marked in them. */
function withoutMarks(headers: FastifyRequest['raw']['headers']): FastifyRequest['raw']['headers'] {
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

const withEventId = (rawHeaders: readonly string[], translate: Translate) =>
  rawHeaders.map((value, index) =>
    rawHeaders[index - 1]?.toLowerCase() === 'last-event-id' && index % 2 === 1
      ? translate(value, anyId)
      : value,
  );
