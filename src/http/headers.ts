import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';

/**
 * Any web page may read an answer of the API: callers are identified by a key that they send, never by a cookie.
 */
export const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'Allow, Deprecation, ETag, Idempotency-Replayed, Last-Event-ID, Link, Location, RateLimit, RateLimit-Policy, Retry-After, Sunset, WWW-Authenticate, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id',
};

/** Headers of answers outside the API. Web pages of other origins may not read these answers. */
export const outsideHeaders = {
  'cache-control': 'private, no-cache',
  'x-content-type-options': 'nosniff',
};

/** Headers of answers of the API. An answer is for one key only, so a cache must ask again before it uses one. */
export const commonHeaders = { ...corsHeaders, ...outsideHeaders };

const preflightMaxAgeSeconds = 86_400;

/** What a browser may send besides the method it asked for (Fetch standard, section 3.2.3). */
export const preflightHeaders = (methods: readonly string[]) => ({
  'access-control-allow-methods': methods.join(', '),
  'access-control-allow-headers':
    'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, X-API-Key, X-Request-Id',
  'access-control-max-age': String(preflightMaxAgeSeconds),
  vary: 'Access-Control-Request-Method, Access-Control-Request-Headers',
});

/** Whether this is a preflight request of a browser, which carries no key. */
export const isPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined;

/**
 * The values of all field lines with a name (in lower case). `headers` of Node.js does not show them one by one: it joins
 * them with commas, or keeps the first and drops the others.
 */
export function fieldLines({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const field = rawHeaders[i] as string;
    if (field.length === name.length && field.toLowerCase() === name)
      values.push(rawHeaders[i + 1] as string);
  }
  return values;
}

/** Whether a request has content, or may have some (RFC 9112, section 6.3). */
export const hasContent = ({ headers }: FastifyRequest) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
