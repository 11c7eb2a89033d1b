import type { FastifyRequest } from 'fastify';
import { errorAt } from '../foundation/errors.ts';
import { toInt64 } from '../foundation/schema.ts';
import { fieldLines } from './headers.ts';
import { numberIn } from './pagination.ts';

/** The event that a client has seen last, as it says in `Last-Event-ID` (HTML, section 9.2). Throws `invalid_request` if it is no id. */
export function lastEventIdOf(request: FastifyRequest): number | undefined {
  const [value, ...more] = fieldLines(request.raw, 'last-event-id');
  if (value === undefined) return undefined;
  const id = /^(0|[1-9]\d*)$/.test(value) ? toInt64(value) : undefined;
  if (id === undefined || more.length > 0)
    throw errorAt(
      { header: 'Last-Event-ID' },
      'invalid_request',
      'Last-Event-ID must be sent once and be the id of an event, or 0.',
    );
  return id;
}

/** The digits of a position as sent in `Last-Event-ID`, in the query or in its cursor. A number beyond 2^53 has lost its last digits. */
export function sentDigits({ raw }: FastifyRequest, position: number): string {
  if (Number.isSafeInteger(position)) return String(position);
  const query = new URLSearchParams(raw.url?.replace(/^[^?]*/, ''));
  const sent = [
    ...fieldLines(raw, 'last-event-id'),
    ...query.values().flatMap((text) => [text, numberIn(text)]),
  ];
  return sent.find((text) => /^\d+$/.test(text) && toInt64(text) === position) ?? String(position);
}
