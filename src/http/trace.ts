import type { FastifyRequest } from 'fastify';
import { isRandomId, traceIdIn, traceIdOfUuid, traceparentFrom } from '../foundation/trace-context.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Its trace context, once something has asked for it. */
    traceparent: string | undefined;
  }
}

/** The trace context of a request: that of its `traceparent` if it is valid, else a new one. */
function traceparentOf(request: FastifyRequest): string {
  request.traceparent ??= traceparentFrom(request.headers.traceparent, request.id);
  return request.traceparent;
}

/** Whether the trace id is derived from the request id: no trace was sent, and the request id is random. */
const followsFromId = ({ id, traceparent, headers }: FastifyRequest) =>
  traceparent === undefined &&
  headers.traceparent === undefined &&
  (headers['x-request-id'] === undefined || isRandomId(id));

export const traceIdOf = (request: FastifyRequest): string =>
  followsFromId(request) ? traceIdOfUuid(request.id) : traceIdIn(traceparentOf(request));

/** The trace context of a request, unless it follows from its id. */
export const ownTraceparentOf = (request: FastifyRequest): string | undefined =>
  followsFromId(request) ? undefined : traceparentOf(request);
