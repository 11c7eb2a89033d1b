import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

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

// Trace context (https://www.w3.org/TR/trace-context/). Here it is the text of a `traceparent` field of version 00.

const form = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?=-|$)/;
const length = 55;
/** The flags that we know: sampled, and random trace id. */
const knownFlags = 0b11;

/** The trace context of a request with this `traceparent` field, if any, and this id. */
export const traceparentFrom = (field: string | string[] | undefined, requestId: string): string =>
  readTraceparent(field) ?? traceparentOfId(requestId) ?? newTraceparent();

/** The trace context of a `traceparent` field, or undefined if it is absent or not valid. */
export function readTraceparent(field: string | string[] | undefined): string | undefined {
  if (typeof field !== 'string' || !form.test(field)) return undefined;
  // Only a later version may have more fields.
  if (field.startsWith('00') && field.length > length) return undefined;
  const flags = Number.parseInt(field.slice(length - 2, length), 16) & knownFlags;
  return `00-${field.slice(3, length - 3)}-0${flags}`;
}

const randomUuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/** Whether an id is a random UUID, as the service and petstore-lab/client make them for requests. */
const isRandomId = (id: string) => randomUuid.test(id);

/** The trace context that follows from a random request id. Undefined for another id, because callers may use it again. */
export function traceparentOfId(requestId: string): string | undefined {
  if (!isRandomId(requestId)) return undefined;
  const traceId = traceIdOfUuid(requestId);
  return `00-${traceId}-${traceId.slice(16)}-00`;
}

/** A new trace, of which nothing is recorded. */
export const newTraceparent = () => traceparentOfId(randomUUID()) as string;

/** Its digits. Every request needs them for its line in the log, and no other way to get them is as fast. */
const traceIdOfUuid = (id: string) =>
  id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24);

export const traceIdIn = (traceparent: string) => traceparent.slice(3, 35);
