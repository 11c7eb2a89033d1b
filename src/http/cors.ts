import type { FastifyRequest } from 'fastify';

/** Every answer may be read by any web page: callers are known by their key alone, never by a cookie. */
export const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'Allow, Deprecation, ETag, Idempotency-Replayed, Link, Location, RateLimit, RateLimit-Policy, Retry-After, Sunset, WWW-Authenticate, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id',
};

const preflightMaxAgeSeconds = 86_400;

/** What a browser may send besides the method it asked for (Fetch standard, section 3.2.3). */
export const preflightHeaders = (methods: readonly string[]) => ({
  'access-control-allow-methods': methods.join(', '),
  'access-control-allow-headers':
    'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-API-Key, X-Request-Id',
  'access-control-max-age': String(preflightMaxAgeSeconds),
  vary: 'Access-Control-Request-Method, Access-Control-Request-Headers',
});

/** Whether a browser asks for permission, which it does without the key. */
export const isPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined;
