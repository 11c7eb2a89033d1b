import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The caller's X-Request-Id if it is 1 to 128 visible ASCII characters, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const own = headers['x-request-id'];
  return typeof own === 'string' && /^[\x21-\x7e]{1,128}$/.test(own) ? own : randomUUID();
}
