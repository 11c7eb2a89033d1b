import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import type { JsonObject } from '../../src/reference/description/schemas.ts';
import { description, resolve } from '../support/description.ts';
import { type Petstore, startPetstore } from '../support/petstore.ts';

/** The spelling of response header fields in the description. */
const described = Object.values(description.paths as Record<string, Record<string, JsonObject>>)
  .flatMap(Object.values)
  .flatMap(({ responses }) => Object.values(responses as Record<string, JsonObject>))
  .flatMap((response) => Object.keys((resolve(response).headers ?? {}) as object));

/** The spelling of other response header fields in the documents that define them. */
const others = [
  ...['Access-Control-Allow-Headers', 'Access-Control-Allow-Methods', 'Access-Control-Allow-Origin'],
  ...['Access-Control-Expose-Headers', 'Access-Control-Max-Age', 'Allow', 'Cache-Control', 'Connection'],
  ...['Content-Encoding', 'Content-Length', 'Content-Security-Policy', 'Content-Type', 'Date', 'Keep-Alive'],
  ...[
    'Cross-Origin-Opener-Policy',
    'Referrer-Policy',
    'Transfer-Encoding',
    'Vary',
    'X-Accel-Buffering',
    'X-Content-Type-Options',
  ],
];

const names = new Set([...described, ...others]);

/** A request, the status of its response, some of its header fields, and the body of the request. */
type Kind = [request: string, status: number, fields: string[], body?: string];

const json = 'Content-Type: application/json';
const keyedPost = `POST /v1/categories\n${json}\nIdempotency-Key: a`;
const dragons = '{"name":"Dragons"}';

/** Each kind of response: who writes it, and its header fields. */
const kinds: Record<string, Kind> = {
  'a resource': ['GET /v1/pets/1', 200, ['ETag', 'Deprecation', 'Sunset', 'Link']],
  'a page': ['GET /v1/pets?limit=1', 200, ['ETag', 'Link', 'X-RateLimit-Limit']],
  'a page of events': ['GET /v1/store/events?limit=1', 200, ['Last-Event-ID']],
  'a head': ['HEAD /v1/pets', 200, ['ETag', 'Content-Length']],
  'a new resource': [keyedPost, 201, ['Location', 'ETag', 'RateLimit-Policy'], dragons],
  'a repeated answer': [keyedPost, 201, ['Location', 'ETag', 'Idempotency-Replayed'], dragons],
  'nothing new': ['GET /v1/pets\nIf-None-Match: *', 304, ['ETag', 'Cache-Control']],
  'an empty answer': ['DELETE /v1/categories/8', 204, ['X-RateLimit-Remaining']],
  options: ['OPTIONS /v1/pets', 204, ['Allow', 'X-RateLimit-Reset']],
  'a preflight': [
    'OPTIONS /v1/pets\nOrigin: http://x\nAccess-Control-Request-Method: POST',
    204,
    ['Access-Control-Allow-Methods', 'Access-Control-Allow-Headers', 'Vary'],
  ],
  'a stream': ['HEAD /v1/store/events/stream', 200, ['Last-Event-ID', 'X-Accel-Buffering']],
  'a refusal of values': ['GET /v1/pets?limit=0', 400, ['X-Request-Id', 'Content-Length']],
  'a path that cannot be decoded': ['GET /v1/%', 400, ['X-RateLimit-Limit']],
  'a caller unknown': ['GET /v1/pets\nX-API-Key: x', 401, ['WWW-Authenticate']],
  'a missing resource': ['GET /v1/categories/4711', 404, ['RateLimit']],
  'a missing path': ['GET /v1/petz', 404, ['Access-Control-Allow-Origin']],
  'a missing path outside the API': ['GET /petz', 404, ['Cache-Control']],
  'a method that is not taken': ['PUT /v1/pets', 405, ['Allow']],
  'events that are gone': ['GET /v1/store/events?after=0', 410, ['Link']],
  'a body that is too large': [`POST /v1/pets\n${json}`, 413, ['Connection'], ' '.repeat(70_000)],
  'a request that is not HTTP': ['GET /v1/pets\n:', 400, ['X-RateLimit-Limit', 'Date']],
  'header fields that are too large': [
    `GET /v1/pets\nX-Large: ${'x'.repeat(20_000)}`,
    431,
    ['X-RateLimit-Limit', 'Content-Type'],
  ],
  'a request that takes too long': [
    `POST /v1/pets\n${json}\nContent-Length: 9`,
    408,
    ['X-Request-Id', 'RateLimit'],
  ],
  'a request within the limit': ['GET /v1/pets\nX-API-Key: LIMITED', 200, ['ETag']],
  'one request too many': ['GET /v1/pets\nX-API-Key: LIMITED', 429, ['Retry-After']],
  'a request for a proxy': ['CONNECT x:1', 400, ['X-Request-Id']],
  health: ['GET /healthz', 200, ['Content-Type', 'X-Request-Id']],
  readiness: ['GET /readyz', 200, ['Content-Type']],
  metrics: ['GET /metrics', 200, ['Content-Type']],
  'the description': [
    'GET /v1/openapi.json\nAccept-Encoding: gzip',
    200,
    ['ETag', 'Content-Encoding', 'Vary'],
  ],
  'the description again': ['GET /v1/openapi.json\nIf-None-Match: *', 304, ['ETag']],
  'the reference': [
    'GET /reference',
    200,
    ['Content-Security-Policy', 'Cross-Origin-Opener-Policy', 'Referrer-Policy'],
  ],
  'another place': ['GET /', 302, ['Location']],
};

/** More time than any request takes that is not delayed on purpose. */
const limitMs = 400;

/** The exact bytes of a response on a new connection. */
async function ask(store: Petstore, request: string, body: string | undefined) {
  const [target, ...fields] = request.split('\n');
  const own = request.includes('X-API-Key') ? [] : [`X-API-Key: ${store.key}`];
  const length = body === undefined ? [] : [`Content-Length: ${body.length}`];
  const head = [`${target} HTTP/1.1`, 'Host: x', 'Connection: close', ...own, ...length, ...fields].join(
    '\r\n',
  );
  const socket = store.connect(`${head}\r\n\r\n${body ?? ''}`);
  const bytes = await buffer(socket.on('end', () => socket.end()));
  const end = bytes.indexOf('\r\n\r\n');
  const [line = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  return {
    status: Number(line.split(' ')[1]),
    fields: lines.map((field) => field.split(': ', 2) as [string, string]),
    content: bytes.subarray(end + 4),
  };
}

test('responses of every kind have the documented spelling of header fields, and end their text with a newline', async (t) => {
  const store = await startPetstore(t, {
    timeLimits: { headersMs: limitMs, requestMs: limitMs, checkEveryMs: 50 },
  });
  const limited = await store.addKey('enterprise', { perMinute: 1, perDay: 1 });
  await store.change((sql) => sql`delete from events`);
  await store.listen();
  for (const [what, [request, expected, someFields, body]] of Object.entries(kinds)) {
    const { status, fields, content } = await ask(store, request.replace('LIMITED', limited.key), body);
    assert.equal(status, expected, `${what}: ${content}`);
    for (const [name] of fields) assert.ok(names.has(name), `${what}: ${name}`);
    for (const name of someFields)
      assert.ok(
        fields.some(([sent]) => sent === name),
        `${what}: no ${name}`,
      );
    const { 'Content-Length': length, 'Content-Encoding': encoding } = Object.fromEntries(fields);
    if (request.startsWith('HEAD')) continue;
    if (length !== undefined) assert.equal(content.length, Number(length), what);
    if (content.length > 0 && !encoding) assert.match(content.toString(), /\S\n$/, what);
  }
});
