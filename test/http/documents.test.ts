import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { preferredCoding } from '../../src/http/negotiation.ts';
import { startPetstore } from '../support/petstore.ts';

const preferences: [string | undefined, string][] = [
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZIP;Q=1', 'gzip'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['gzip;q=0', 'identity'],
  ['gzip ; q=0.001', 'gzip'],
  ['identity, gzip;q=0.5', 'identity'],
  ['identity;q=0.5, gzip;q=0.5', 'gzip'],
  ['*', 'br'],
  ['*;q=0', 'identity'],
  ['br;q=0, *;q=0.1', 'gzip'],
  ['identity;q=0', 'identity'],
  ['identity;q=0, *', 'br'],
  ['zstd, deflate', 'identity'],
  ['gzip;q=2, br;level=1, ,;', 'identity'],
  ['not gzip', 'identity'],
  // As large as the header fields of a request may be. Its members are not parsed one by one.
  [`gzip${', gzip'.repeat(2_500)}`, 'identity'],
];

for (const [field, coding] of preferences)
  test(`a client that sends ${field === undefined ? 'no Accept-Encoding' : `Accept-Encoding: ${field.slice(0, 40)}`} gets ${coding}`, () => {
    assert.equal(preferredCoding(field), coding);
  });

const paths = [
  '/v1/openapi.json',
  '/v1/openapi.yaml',
  '/v1/openapi-3.1.json',
  '/v1/asyncapi.yaml',
  '/lab/openapi.json',
  '/reference/page.js',
  '/reference/operations/createPet',
  '/llms.txt',
];

test('a document has the same content and its own ETag in each coding, and is not sent again to a client that has it', async (t) => {
  const store = await startPetstore(t, { seed: false });
  for (const url of paths) {
    const get = (coding: string, headers = {}, method: 'GET' | 'HEAD' = 'GET') =>
      store.app.inject({ method, url, headers: { 'accept-encoding': coding, ...headers } });
    const decoders = { identity: (bytes: Buffer) => bytes, gzip: gunzipSync, br: brotliDecompressSync };
    const tags = new Set<string>();
    const plain = await get('identity');
    for (const [coding, decode] of Object.entries(decoders)) {
      const answer = await get(coding);
      assert.equal(answer.statusCode, 200);
      assert.ok(decode(answer.rawPayload).equals(plain.rawPayload), `${url} in ${coding}`);
      assert.equal(answer.headers['content-encoding'] ?? 'identity', coding);
      assert.equal(answer.headers.vary, 'Accept-Encoding');
      const etag = answer.headers.etag as string;
      assert.match(etag, /^"/);
      tags.add(etag);
      const known = await get(coding, { 'if-none-match': etag });
      assert.deepEqual([known.statusCode, known.body], [304, '']);
      assert.deepEqual([known.headers.etag, known.headers.vary], [etag, 'Accept-Encoding']);
      const head = await get(coding, {}, 'HEAD');
      assert.deepEqual([head.statusCode, head.body], [200, '']);
      for (const name of ['content-length', 'content-encoding', 'content-type', 'etag'])
        assert.equal(head.headers[name], answer.headers[name], name);
      // Ranges are optional, and the whole document is a valid response.
      const range = await get(coding, { range: 'bytes=0-9' });
      assert.deepEqual([range.statusCode, range.rawPayload.length], [200, answer.rawPayload.length]);
    }
    assert.equal(tags.size, 3);
  }
});

for (const page of ['/reference', '/lab'])
  test(`${page} loads scripts and styles by hashed names, which browsers cache; other names are revalidated each time`, async (t) => {
    const store = await startPetstore(t, { seed: false });
    const get = (url: string, method: 'GET' | 'POST' = 'GET') => store.app.inject({ method, url });
    const { body, headers } = await get(page);
    assert.equal(headers['cache-control'], 'no-cache');
    const [, folder] = new RegExp(`="${page.slice(1)}/([\\w-]{27})/page.js"`).exec(body) ?? [];
    const files = body.matchAll(/(?:src|href)="([^"#]+\.(?:js|css))"/g).map(([, file]) => file as string);
    for (const file of files) {
      assert.match(file, new RegExp(`^${page.slice(1)}/${folder}/`));
      const hashed = await get(`/${file}`);
      assert.equal(hashed.headers['cache-control'], 'public, max-age=31536000, immutable', file);
      for (const other of [file.replace(`${folder}/`, ''), file.replace(`${folder}`, 'x'.repeat(27))]) {
        const answer = await get(`/${other}`);
        assert.equal(answer.headers['cache-control'], 'no-cache', other);
        assert.equal(answer.body, hashed.body);
      }
      assert.notEqual((await get(`/${file.replace(`${folder}`, 'x')}`)).statusCode, 200);
      const refused = await get(`/${file}`, 'POST');
      assert.deepEqual([refused.statusCode, refused.headers.allow], [405, 'GET, HEAD, OPTIONS']);
    }
  });
