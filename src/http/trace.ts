import type { FastifyRequest } from 'fastify';
import { traceparentFrom } from '../foundation/trace-context.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Its trace context, once something has asked for it. */
    traceparent: string | undefined;
  }
}

/** The trace context of a request: that of its `traceparent` if it is valid, else a new one. */
export function traceparentOf(request: FastifyRequest): string {
  request.traceparent ??= traceparentFrom(request.headers.traceparent, request.id);
  return request.traceparent;
}
