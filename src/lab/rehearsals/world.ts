import type { TSchema } from 'typebox';
import { Event } from '../../events/schema.ts';
import type { Fields } from '../../field-names.ts';
import type { Operation } from '../../operation.ts';
import { operations } from '../../operations.ts';
import type { Effect, Performance } from './fault.ts';
import { mentions, rewriteJson } from './rewrite-json.ts';
import {
  anyId,
  onTokens,
  type Translate,
  translatable,
  translatedParams,
  translatedQuery,
  translatedRequest,
} from './world-request.ts';

/**
 * A world is how a rehearsal shows values otherwise than they are kept, and understands them in return, in every place where an
 * answer or a request may hold them.
 */
export interface World {
  /** A capital letter, which marks the ETags of what is shown otherwise. */
  mark: string;
  /** A value as the client sees it. */
  shown: Translate;
  /** What a client means by a value. Also what it knows from before the rehearsal is understood. */
  meant: Translate;
  /** Whether a value is what a client makes of one that was shown: it stays as it is, and its answer counts as touched. */
  isSpoiled?(text: string, schema: TSchema): boolean;
  /** JSON members that an object of an answer has besides; empty for none. */
  added(schema: TSchema): string;
}

type IsSuch = (schema: TSchema) => boolean;

/** The schema of what an operation answers, or of each event of its stream. */
const answerOf = ({ success }: Operation): TSchema | undefined =>
  success.kind === 'stream' ? Event : success.schema;

/** Whether an operation takes or shows such a value, or takes the ETags of what shows one. */
export function concerns({ params, query, body, path }: Operation, isSuch: IsSuch): boolean {
  const taken = [...Object.values(params), ...Object.values(query), body];
  return (
    taken.some((schema) => mentions(schema, isSuch)) ||
    operations.some((other) => other.path === path && mentions(answerOf(other), isSuch))
  );
}

/** What a world does to a request and its answer. Whatever it really changes counts as touched. */
export function effectOf(
  { mark, shown, meant, isSpoiled, added }: World,
  performance: Omit<Performance, 'parameters'>,
): Effect {
  const { request, operation, tools, touch } = performance;
  const schema = answerOf(operation);
  const isStream = operation.success.kind === 'stream';
  const shownJson = (text: string) =>
    schema ? rewriteJson(text, schema, { token: onTokens(shown), members: added }) : text;
  // Links to a successor repeat them.
  request.params = translatedParams(operation, request.params as Record<string, string>, shown);

  return {
    view: (request) => {
      const understood: Translate = (text, schema) => {
        if (isSpoiled?.(text, schema)) touch();
        return meant(text, schema);
      };
      const seen = translatedRequest(request, operation, understood);
      const before = translatable(request);
      if (translatable(seen).some((part, index) => part !== before[index])) touch();
      return seen;
    },

    refusal: (error) => {
      const told = error.withIds((id) => shown(id, anyId));
      if (told.message !== error.message) touch();
      return told;
    },

    represent: (answer) => {
      const body = answer.body === undefined ? undefined : shownJson(answer.body);
      const headers = shownHeaders(operation, answer.headers, tools.baseUrl, shown);
      const isSame = body === answer.body && JSON.stringify(headers) === JSON.stringify(answer.headers);
      // The head of a stream is all that can tell of its events.
      if (!isSame || isStream) touch();
      if (isSame) return answer;
      const marked = headers.ETag && { ETag: headers.ETag.replace(/"$/, `~${mark}"`) };
      return { ...answer, headers: { ...headers, ...marked }, ...(body !== undefined && { body }) };
    },

    ...(isStream && { streamed: (text) => shownMessages(text, shown, shownJson) }),
  };
}

/** Header fields in which a success names rows and events, and how a list goes on. */
function shownHeaders(operation: Operation, headers: Fields, baseUrl: string, shown: Translate): Fields {
  const { Location, Link, 'Last-Event-ID': lastEventId } = headers;
  const shownUrl = (url: string) => {
    if (!url.startsWith(baseUrl)) return url;
    const [path = '', ...query] = url.slice(baseUrl.length).split('?');
    // Paths hold no digits alone but ids.
    const shownPath = path.replace(/(?<=\/)\d+(?=\/|$)/g, (id) => shown(id, anyId));
    return translatedQuery(operation, baseUrl + [shownPath, ...query].join('?'), shown);
  };
  return {
    ...headers,
    ...(Location && { Location: shownUrl(Location) }),
    ...(Link && { Link: Link.replace(/<([^>]*)>/g, (_, url) => `<${shownUrl(url)}>`) }),
    ...(lastEventId && { 'Last-Event-ID': shown(lastEventId, anyId) }),
  };
}

/** Whole messages of a stream, each with the id of an event, or with one as JSON on a line. */
const shownMessages = (text: string, shown: Translate, shownJson: (text: string) => string) =>
  text
    .split('\n')
    .map((line) => {
      const [, field, value = ''] = /^(id|data): (.*)$/s.exec(line) ?? [];
      if (field === undefined) return line;
      return `${field}: ${field === 'id' ? shown(value, anyId) : shownJson(value)}`;
    })
    .join('\n');
