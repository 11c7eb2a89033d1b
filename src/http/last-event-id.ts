import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import { toInt64 } from '../schema.ts';
import { fieldLines } from './headers.ts';

/** The event that a client has seen last, as it says in `Last-Event-ID` (HTML, section 9.2). Throws `invalid_request` if it is no id. */
export function lastEventIdOf(request: FastifyRequest): number | undefined {
  const [value, ...more] = fieldLines(request.raw, 'last-event-id');
  if (value === undefined) return undefined;
  const id = /^(0|[1-9]\d*)$/.test(value) ? toInt64(value) : undefined;
  if (id === undefined || more.length > 0)
    throw new ApiError('invalid_request', 'Last-Event-ID must be sent once and be the id of an event, or 0.');
  return id;
}
