import assert from 'node:assert/strict';
import { once } from 'node:events';
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

interface Kind {
  request: string;
  status: number;
  /** Some of its header fields. */
  fields: string[];
  body?: string;
}

const json = 'Content-Type: application/json';

/** Each kind of response: who writes it, and its header fields. */
const kinds: Record<string, Kind> = {
  'a resource': { request: 'GET /v1/pets/1', status: 200, fields: ['ETag', 'Deprecation', 'Sunset', 'Link'] },
  'a page': { request: 'GET /v1/pets?limit=1', status: 200, fields: ['ETag', 'Link', 'X-RateLimit-Limit'] },
  'a page of events': { request: 'GET /v1/store/events?limit=1', status: 200, fields: ['Last-Event-ID'] },
  'a head': { request: 'HEAD /v1/pets', status: 200, fields: ['ETag', 'Content-Length'] },
  'a new resource': {
    request: `POST /v1/categories\n${json}\nIdempotency-Key: a`,
    body: '{"name":"Dragons"}',
    status: 201,
    fields: ['Location', 'ETag', 'RateLimit-Policy'],
  },
  'a repeated answer': {
    request: `POST /v1/categories\n${json}\nIdempotency-Key: a`,
    body: '{"name":"Dragons"}',
    status: 201,
    fields: ['Location', 'ETag', 'Idempotency-Replayed'],
  },
  'nothing new': {
    request: 'GET /v1/pets\nIf-None-Match: *',
    status: 304,
    fields: ['ETag', 'Cache-Control'],
  },
  'an empty answer': { request: 'DELETE /v1/categories/8', status: 204, fields: ['X-RateLimit-Remaining'] },
  options: { request: 'OPTIONS /v1/pets', status: 204, fields: ['Allow', 'X-RateLimit-Reset'] },
  'a preflight': {
    request: 'OPTIONS /v1/pets\nOrigin: http://x\nAccess-Control-Request-Method: POST',
    status: 204,
    fields: ['Access-Control-Allow-Methods', 'Access-Control-Allow-Headers', 'Vary'],
  },
  'a stream': {
    request: 'HEAD /v1/store/events/stream',
    status: 200,
    fields: ['Last-Event-ID', 'X-Accel-Buffering'],
  },
  'a refusal of values': {
    request: 'GET /v1/pets?limit=0',
    status: 400,
    fields: ['X-Request-Id', 'Content-Length'],
  },
  'a path that cannot be decoded': { request: 'GET /v1/%', status: 400, fields: ['X-RateLimit-Limit'] },
  'a caller unknown': { request: 'GET /v1/pets\nX-API-Key: x', status: 401, fields: ['WWW-Authenticate'] },
  'a missing resource': { request: 'GET /v1/categories/4711', status: 404, fields: ['RateLimit'] },
  'a missing path': { request: 'GET /v1/petz', status: 404, fields: ['Access-Control-Allow-Origin'] },
  'a missing path outside the API': { request: 'GET /petz', status: 404, fields: ['Cache-Control'] },
  'a method that is not taken': { request: 'PUT /v1/pets', status: 405, fields: ['Allow'] },
  'events that are gone': { request: 'GET /v1/store/events?after=0', status: 410, fields: ['Link'] },
  'a body that is too large': {
    request: `POST /v1/pets\n${json}`,
    body: ' '.repeat(70_000),
    status: 413,
    fields: ['Connection'],
  },
  'a request that is not HTTP': {
    request: 'GET /v1/pets\n:',
    status: 400,
    fields: ['X-RateLimit-Limit', 'Date'],
  },
  'header fields that are too large': {
    request: `GET /v1/pets\nX-Large: ${'x'.repeat(20_000)}`,
    status: 431,
    fields: ['X-RateLimit-Limit', 'Content-Type'],
  },
  'a request that takes too long': {
    request: `POST /v1/pets\n${json}\nContent-Length: 9`,
    status: 408,
    fields: ['X-Request-Id', 'RateLimit'],
  },
  'a request within the limit': {
    request: 'GET /v1/pets\nX-API-Key: LIMITED',
    status: 200,
    fields: ['ETag'],
  },
  'one request too many': {
    request: 'GET /v1/pets\nX-API-Key: LIMITED',
    status: 429,
    fields: ['Retry-After'],
  },
  'a request for a proxy': { request: 'CONNECT x:1', status: 400, fields: ['X-Request-Id'] },
  health: { request: 'GET /healthz', status: 200, fields: ['Content-Type', 'X-Request-Id'] },
  readiness: { request: 'GET /readyz', status: 200, fields: ['Content-Type'] },
  metrics: { request: 'GET /metrics', status: 200, fields: ['Content-Type'] },
  'the description': {
    request: 'GET /v1/openapi.json\nAccept-Encoding: gzip',
    status: 200,
    fields: ['ETag', 'Content-Encoding', 'Vary'],
  },
  'the description again': {
    request: 'GET /v1/openapi.json\nIf-None-Match: *',
    status: 304,
    fields: ['ETag'],
  },
  'the reference': {
    request: 'GET /reference',
    status: 200,
    fields: ['Content-Security-Policy', 'Cross-Origin-Opener-Policy', 'Referrer-Policy'],
  },
  'another place': { request: 'GET /', status: 302, fields: ['Location'] },
};

/** More time than any request takes that is not delayed on purpose. */
const limitMs = 400;

/** The exact bytes of a response on a new connection. */
async function ask(store: Petstore, { request, body }: Kind) {
  const [target, ...fields] = request.split('\n');
  const own = request.includes('X-API-Key') ? [] : [`X-API-Key: ${store.key}`];
  const length = body === undefined ? [] : [`Content-Length: ${body.length}`];
  const head = [`${target} HTTP/1.1`, 'Host: x', 'Connection: close', ...own, ...length, ...fields].join(
    '\r\n',
  );
  const socket = store.connect(`${head}\r\n\r\n${body ?? ''}`);
  const chunks: Buffer[] = [];
  socket.on('end', () => socket.end()).on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  const bytes = Buffer.concat(chunks);
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
  for (const [what, kind] of Object.entries(kinds)) {
    const { status, fields, content } = await ask(store, {
      ...kind,
      request: kind.request.replace('LIMITED', limited.key),
    });
    assert.equal(status, kind.status, `${what}: ${content}`);
    for (const [name] of fields) assert.ok(names.has(name), `${what}: ${name}`);
    for (const name of kind.fields)
      assert.ok(
        fields.some(([sent]) => sent === name),
        `${what}: no ${name}`,
      );
    const { 'Content-Length': length, 'Content-Encoding': encoding } = Object.fromEntries(fields);
    if (kind.request.startsWith('HEAD')) continue;
    if (length !== undefined) assert.equal(content.length, Number(length), what);
    if (content.length > 0 && !encoding) assert.match(content.toString(), /\S\n$/, what);
  }
});
