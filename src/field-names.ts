/** Header fields of answers that browsers show to a web page only if the API exposes them. */
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

/** The name of a header field of an answer, as it is documented and sent. */
export type FieldName = (typeof exposedNames)[number] | (typeof otherNames)[number];

/** Header fields of an answer. */
export type Fields = Readonly<Partial<Record<FieldName, string>>>;

const documented = new Map<string, string>(
  [...exposedNames, ...otherNames].map((name) => [name.toLowerCase(), name]),
);

/** The same values under names as they are documented, whatever their case was. */
export function withDocumentedNames<Value>(fields: Readonly<Record<string, Value>>): Record<string, Value> {
  const named: Record<string, Value> = {};
  for (const name in fields) named[documented.get(name.toLowerCase()) ?? name] = fields[name] as Value;
  return named;
}
