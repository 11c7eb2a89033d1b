import type { TSchema } from 'typebox';
import type { Fields } from '../../../foundation/field-names.ts';
import type { Operation } from '../../../http/operation.ts';
import type { TargetApi } from '../../target-api.ts';
import type { Effect, FaultInvocation } from './fault.ts';
import { mentions, rewriteJson } from './rewrite-json.ts';
import {
  anyId,
  type ReplaceValue,
  replaceTokens,
  rewritableParts,
  rewriteParams,
  rewriteQuery,
  rewriteRequest,
} from './rewrite-request.ts';

/** Translates values of the storage to other values in responses, and back in requests. */
export interface ValueRewriter {
  /** A capital letter that is added to the ETags of rewritten responses. */
  etagMark: string;
  toClient: ReplaceValue;
  /** Also accepts values from before the rehearsal, and returns them unchanged. */
  fromClient: ReplaceValue;
  /** Whether the client has damaged a translated value. The value stays unchanged, and the fault counts as performed. */
  isDamaged?(text: string, schema: TSchema): boolean;
  /** JSON members to add to an object of a response; empty for none. */
  addedMembers?(schema: TSchema): string;
}

/** For faults of values: conditions that rewrite the values of all operations, so that all show the same. */
export const ofValues = {
  isCondition: true,
  takesNoOperation: true,
  undescribed: ['values'],
  group: 'Values',
} as const;

export const titleOf = (schema: TSchema) => (schema as { title?: string }).title;

/** The schema of the response body of an operation, or of each event of its stream. */
const answerSchemaOf = ({ success }: Operation): TSchema | undefined => success.event ?? success.schema;

/** Whether an operation accepts or returns values with such a schema, or accepts ETags of responses with them. */
export function handlesValues(
  { params, query, body, path }: Operation,
  { operations }: TargetApi,
  isSuch: (schema: TSchema) => boolean,
): boolean {
  const inputs = [...Object.values(params), ...Object.values(query), body];
  return (
    inputs.some((schema) => mentions(schema, isSuch)) ||
    operations.some((other) => other.path === path && mentions(answerSchemaOf(other), isSuch))
  );
}

/** Rewrites a request and its response. The fault counts as performed if this changed anything. */
export function rewriteValues(
  { etagMark, toClient, fromClient, isDamaged, addedMembers = () => '' }: ValueRewriter,
  { request, operation, services, touch }: Omit<FaultInvocation, 'parameters'>,
): Effect {
  const schema = answerSchemaOf(operation);
  const isStream = operation.success.kind === 'stream';
  const rewriteBody = (text: string) =>
    schema ? rewriteJson(text, schema, { token: replaceTokens(toClient), members: addedMembers }) : text;
  // Links to a successor repeat the path parameters.
  request.params = rewriteParams(operation, request.params as Record<string, string>, toClient);

  return {
    view: (request) => {
      const translated = rewriteRequest(request, operation, (text, schema) => {
        if (isDamaged?.(text, schema)) touch();
        return fromClient(text, schema);
      });
      const before = rewritableParts(request);
      if (rewritableParts(translated).some((part, index) => part !== before[index])) touch();
      return translated;
    },

    refusal: (error) => {
      const rewritten = error.withIds((id) => toClient(id, anyId));
      if (rewritten.message !== error.message) touch();
      return rewritten;
    },

    represent: (answer) => {
      const body = answer.body === undefined ? undefined : rewriteBody(answer.body);
      const headers = rewriteHeaders(operation, answer.headers, services.baseUrl, toClient);
      const isSame = body === answer.body && JSON.stringify(headers) === JSON.stringify(answer.headers);
      // Only the head of a stream can say that its events will be rewritten.
      if (!isSame || isStream) touch();
      if (isSame) return answer;
      const marked = headers.ETag && { ETag: headers.ETag.replace(/"$/, `~${etagMark}"`) };
      return { ...answer, headers: { ...headers, ...marked }, ...(body !== undefined && { body }) };
    },

    ...(isStream && { streamed: (text) => rewriteMessages(text, toClient, rewriteBody) }),
  };
}

/** Replaces the ids in the headers of a success: `Location`, `Link` and `Last-Event-ID`. */
function rewriteHeaders(
  operation: Operation,
  headers: Fields,
  baseUrl: string,
  toClient: ReplaceValue,
): Fields {
  const { Location, Link, 'Last-Event-ID': lastEventId } = headers;
  const rewriteUrl = (url: string) => {
    if (!url.startsWith(baseUrl)) return url;
    const [path = '', ...query] = url.slice(baseUrl.length).split('?');
    // A segment of digits is always an id.
    const rewrittenPath = path.replace(/(?<=\/)\d+(?=\/|$)/g, (id) => toClient(id, anyId));
    return rewriteQuery(operation, baseUrl + [rewrittenPath, ...query].join('?'), toClient);
  };
  return {
    ...headers,
    ...(Location && { Location: rewriteUrl(Location) }),
    ...(Link && { Link: Link.replace(/<([^>]*)>/g, (_, url) => `<${rewriteUrl(url)}>`) }),
    ...(lastEventId && { 'Last-Event-ID': toClient(lastEventId, anyId) }),
  };
}

/** Rewrites whole messages of a stream. A message has the id of an event, or an event as JSON on one line. */
const rewriteMessages = (
  text: string,
  toClient: ReplaceValue,
  rewriteBody: (text: string) => string,
): string =>
  text
    .split('\n')
    .map((line) => {
      const [, field, value = ''] = /^(id|data): (.*)$/s.exec(line) ?? [];
      if (field === undefined) return line;
      return `${field}: ${field === 'id' ? toClient(value, anyId) : rewriteBody(value)}`;
    })
    .join('\n');
