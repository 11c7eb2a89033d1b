/** Response headers that web pages may read (Access-Control-Expose-Headers). */
export const exposedNames = [
  'Allow',
  'Deprecation',
  'ETag',
  'Idempotency-Replayed',
  'Last-Event-ID',
  'Link',
  'Location',
  'Petstore-Rehearsal',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
] as const;

const otherNames = [
  'Access-Control-Allow-Headers',
  'Access-Control-Allow-Methods',
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
  'Access-Control-Max-Age',
  'Cache-Control',
  'Connection',
  'Content-Encoding',
  'Content-Length',
  'Content-Security-Policy',
  'Cross-Origin-Opener-Policy',
  'Content-Type',
  'Date',
  'Referrer-Policy',
  'Vary',
  'X-Accel-Buffering',
  'X-Content-Type-Options',
] as const;

/** The names of all response headers. */
export const fieldNames = [...exposedNames, ...otherNames] as const;

export type FieldName = (typeof fieldNames)[number];

/** Headers of a response. */
export type Fields = Readonly<Partial<Record<FieldName, string>>>;

const documented = new Map<string, string>(fieldNames.map((name) => [name.toLowerCase(), name]));

/** Gives headers their documented names. The case of the given names does not matter. */
export function withDocumentedNames<Value>(fields: Readonly<Record<string, Value>>): Record<string, Value> {
  const named: Record<string, Value> = {};
  for (const name in fields) named[documented.get(name.toLowerCase()) ?? name] = fields[name] as Value;
  return named;
}
