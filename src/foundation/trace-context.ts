import { randomUUID } from 'node:crypto';

// Trace context (https://www.w3.org/TR/trace-context/). Here it is the text of a `traceparent` field of version 00.

const form = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?=-|$)/;
const length = 55;
/** The flags that we know: sampled, and random trace id. */
const knownFlags = 0b11;

/** The trace context of a request with this `traceparent` field, if any, and this id. */
export const traceparentFrom = (field: string | string[] | undefined, requestId: string): string =>
  readTraceparent(field) ?? traceparentOfId(requestId) ?? newTraceparent();

/** The trace context of a `traceparent` field, or undefined if it is absent or not valid. */
function readTraceparent(field: string | string[] | undefined): string | undefined {
  if (typeof field !== 'string' || !form.test(field)) return undefined;
  // Only a later version may have more fields.
  if (field.startsWith('00') && field.length > length) return undefined;
  const flags = Number.parseInt(field.slice(length - 2, length), 16) & knownFlags;
  return `00-${field.slice(3, length - 3)}-0${flags}`;
}

/** A random UUID, as the service and petstore/client make them for requests. */
const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i;

/**
 * The trace context that follows from the id of a request, which is random in a UUID. Undefined for another id, because callers may
 * use it again. Nothing is recorded under it.
 */
export function traceparentOfId(requestId: string): string | undefined {
  if (!uuid.test(requestId)) return undefined;
  const traceId = requestId.replaceAll('-', '').toLowerCase();
  return `00-${traceId}-${traceId.slice(16)}-00`;
}

/** A new trace, of which nothing is recorded. */
export const newTraceparent = () => traceparentOfId(randomUUID()) as string;

export const traceIdOf = (traceparent: string) => traceparent.slice(3, 35);
