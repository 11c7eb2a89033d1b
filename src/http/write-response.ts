import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../foundation/errors.ts';
import type { FieldName, Fields } from '../foundation/field-names.ts';
import { commonHeaders, outsideHeaders } from './headers.ts';
import type { OperationResponse } from './responses.ts';
import './request-context.ts';
import { errorContent, jsonType } from './negotiation.ts';
import type { RouteHeaders } from './request-context.ts';
import { NamedResponse } from './server-response.ts';
import { isForApi } from './target.ts';

/** The headers that describe a JSON body. */
export const bodyFields = (body: string | Uint8Array, mediaType = jsonType): Fields => ({
  'Content-Type': mediaType,
  'Content-Length': String(Buffer.byteLength(body)),
});

/** The headers of every response to a request, as far as they are known. */
export const headersOf = (request: FastifyRequest): Fields => ({
  'X-Request-Id': request.id,
  ...(isForApi(request) ? commonHeaders : outsideHeaders),
  ...(request.operation && lifecycleOf(request, request.routeOptions.config.lifecycle)),
  ...request.limitHeaders,
  ...request.interceptor?.fields,
});

/** Responds with an error, as bytes: Fastify would add a charset to the type of a text. */
export function sendError(request: FastifyRequest, reply: FastifyReply, error: ApiError): FastifyReply {
  request.errorCode = error.code;
  const { type, text } = errorContent(error, request.headers.accept, request.server.errorPages);
  const headers: Fields = { ...error.headers, Vary: 'Accept' };
  const bytes = Buffer.from(text);
  if (request.interceptor?.answer) {
    const sending = sendIntercepted(request, reply, { status: error.status, headers, bytes, type });
    // Nobody awaits it, and a failure here must not end the process.
    sending.catch(() => reply.raw.destroy());
    return reply.hijack();
  }
  return reply
    .code(error.status)
    .headers({ ...headersOf(request), ...headers })
    .type(type)
    .send(bytes);
}

async function sendIntercepted(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: OperationResponse,
): Promise<void> {
  const sent = (await request.interceptor?.answer?.(answer)) ?? answer;
  responseWriter(request.routeOptions.config.lifecycle)(request, reply, sent);
}

/** A writer of responses to one operation. `lifecycle` comes from the route's configuration. */
export function responseWriter(lifecycle: RouteHeaders | undefined) {
  const ofOperation = headWriter(lifecycle, commonHeaders);
  return (
    request: FastifyRequest,
    reply: FastifyReply,
    { status, headers, body, bytes, type, isOfGateway, deliver }: OperationResponse,
  ): void => {
    const sent = bytes ?? body;
    const writeHead = isOfGateway ? gatewayHead : ofOperation;
    writeHead(request, reply, status, headers, sent === undefined ? undefined : bodyFields(sent, type));
    if (deliver) deliver(Buffer.from(sent ?? ''));
    else reply.raw.end(sent);
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

/** Writes the head of a stream. Its events are written to `reply.raw` later. */
export function streamStarter(lifecycle: RouteHeaders | undefined) {
  const writeHead = headWriter(lifecycle, streamHeaders);
  return (request: FastifyRequest, reply: FastifyReply, headers: Fields): void =>
    writeHead(request, reply, 200, headers);
}

/** A writer of heads. It bypasses Fastify and Node.js, which process each header several times: as costly as reading the resource. */
function headWriter(lifecycle: RouteHeaders | undefined, always: Fields) {
  const constantLines = linesOf(always);
  return (request: FastifyRequest, reply: FastifyReply, status: number, ...own: (Fields | undefined)[]) => {
    const { raw: response } = reply;
    const lifecycleFields = lifecycleOf(request, lifecycle);
    const list: string[] = [];
    if (response instanceof NamedResponse) {
      const lines = `X-Request-Id: ${request.id}\r\n${constantLines}`;
      response.readyLines = lines + linesOf(lifecycleFields) + linesOf(request.limitHeaders);
    } else {
      list.push('X-Request-Id', request.id);
      for (const fields of [always, lifecycleFields, request.limitHeaders]) addFields(list, fields);
    }
    addFields(list, request.interceptor?.fields);
    for (const fields of own) addFields(list, fields);
    reply.hijack();
    response.writeHead(status, list);
  };
}

const gatewayHead = headWriter(undefined, commonHeaders);

const lifecycleOf = (request: FastifyRequest, lifecycle: RouteHeaders | undefined) =>
  lifecycle?.(request.params as Record<string, string>);

/** Headers as lines of a response. */
function linesOf(fields: Fields | undefined): string {
  let lines = '';
  for (const name in fields) lines += `${name}: ${fields[name as FieldName]}\r\n`;
  return lines;
}

/** Adds names and values in turn, as in `rawHeaders` of Node.js. */
function addFields(list: string[], fields: Fields | undefined): void {
  for (const name in fields) list.push(name, fields[name as FieldName] as string);
}
