import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError, ErrorCode } from '../foundation/errors.ts';
import type { FieldName, Fields } from '../foundation/field-names.ts';
import { errorContent, jsonType } from './error-content.ts';
import { commonHeaders, outsideHeaders } from './headers.ts';
import type { Answer } from './operation.ts';
import './rehearsed.ts';
import { isForApi } from './target.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The limit headers, once the request was charged. */
    limitHeaders: Fields | undefined;
    /** The code of the error that it was answered with. */
    errorCode: ErrorCode | undefined;
  }
  interface FastifyInstance {
    /** Where each error code has a page, below. */
    errorPages: string;
  }
  interface FastifyContextConfig {
    /** Headers of every answer of a deprecated operation. */
    lifecycle?: RouteHeaders | undefined;
  }
}

/** Returns the headers of every answer of a route, for the path parameters of the request. */
export type RouteHeaders = (params: Record<string, string>) => Fields;

/** What describes a JSON text that is sent. */
export const bodyFields = (body: string | Uint8Array, mediaType = jsonType): Fields => ({
  'Content-Type': mediaType,
  'Content-Length': String(Buffer.byteLength(body)),
});

/** The headers of every answer to a request, as far as they are known. */
export const headersOf = (request: FastifyRequest): Fields => ({
  'X-Request-Id': request.id,
  ...(isForApi(request) ? commonHeaders : outsideHeaders),
  ...(request.operation && lifecycleOf(request, request.routeOptions.config.lifecycle)),
  ...request.limitHeaders,
  ...request.rehearsed?.fields,
});

/**
 * Answers with an error. As bytes, since Fastify asks no serializer where a path cannot be decoded, and would add a charset to the type
 * of a text.
 */
export function sendError(request: FastifyRequest, reply: FastifyReply, error: ApiError): FastifyReply {
  request.errorCode = error.code;
  const { type, text } = errorContent(error, request.headers.accept, request.server.errorPages);
  return reply
    .code(error.status)
    .headers({ ...headersOf(request), ...error.headers, Vary: 'Accept' })
    .type(type)
    .send(Buffer.from(text));
}

/**
 * A writer of answers to one operation. It hands all header fields to Node.js as one list: Fastify would look at each of
 * them several times, which takes as long as reading the resource from storage. `lifecycle` comes from the route's
 * configuration.
 */
export function answerWriter(lifecycle: RouteHeaders | undefined) {
  const fieldsOf = fieldsWriter(lifecycle, commonHeaders);
  return (
    request: FastifyRequest,
    reply: FastifyReply,
    { status, headers, body, bytes, type }: Answer,
  ): void => {
    const fields = addFields(fieldsOf(request), headers);
    const sent = bytes ?? body;
    if (sent !== undefined) {
      addFields(fields, bodyFields(sent, type));
    }
    reply.hijack();
    reply.raw.writeHead(status, fields);
    reply.raw.end(sent);
  };
}

const streamHeaders = {
  ...commonHeaders,
  'Cache-Control': 'no-store',
  // Asks proxies such as nginx to pass each event on at once.
  'X-Accel-Buffering': 'no',
  // Some clients would take text without a charset for ISO 8859-1.
  'Content-Type': 'text/event-stream; charset=utf-8',
} satisfies Fields;

/** A writer of the beginnings of streams, whose events are written to `reply.raw` later. */
export function streamStarter(lifecycle: RouteHeaders | undefined) {
  const fieldsOf = fieldsWriter(lifecycle, streamHeaders);
  return (request: FastifyRequest, reply: FastifyReply, headers: Fields): void => {
    reply.hijack();
    reply.raw.writeHead(200, addFields(fieldsOf(request), headers));
  };
}

/** The fields of every answer to an operation; `always` are the same for each. */
function fieldsWriter(lifecycle: RouteHeaders | undefined, always: Fields) {
  const constant = addFields([], always);
  return (request: FastifyRequest): string[] => {
    const fields = ['X-Request-Id', request.id, ...constant];
    addFields(fields, lifecycleOf(request, lifecycle));
    addFields(fields, request.limitHeaders);
    return addFields(fields, request.rehearsed?.fields);
  };
}

const lifecycleOf = (request: FastifyRequest, lifecycle: RouteHeaders | undefined) =>
  lifecycle?.(request.params as Record<string, string>);

/** Adds names and values in turn, as in `rawHeaders` of Node.js. */
function addFields(fields: string[], headers: Fields | undefined): string[] {
  for (const name in headers) fields.push(name, headers[name as FieldName] as string);
  return fields;
}
