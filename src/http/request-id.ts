import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** What an X-Request-Id must be to be kept. */
export const requestIdPattern = '^[!-~]{1,128}$';
const requestIdForm = new RegExp(requestIdPattern);

/** The caller's X-Request-Id if it is 1 to 128 visible ASCII characters, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const own = headers['x-request-id'];
  return typeof own === 'string' && requestIdForm.test(own) ? own : randomUUID();
}
