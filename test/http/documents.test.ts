import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { formsOf, preferredCoding } from '../../src/http/content-codings.ts';
import { serveDocument } from '../../src/http/document.ts';
import { type DocumentBounds, DocumentSender } from '../../src/http/document-sender.ts';
import { startPetstore } from '../support/petstore.ts';
import { until } from '../support/until.ts';

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

const text = 'x'.repeat(10_000_000);

/** An app with a document of 10 MB, more than a system buffers for a client. */
async function startApp(t: TestContext, bounds: DocumentBounds) {
  const app = fastify();
  app.decorate('documents', new DocumentSender(undefined, bounds));
  serveDocument(app, { path: '/large', mediaType: 'text/plain', forms: () => formsOf(text) });
  serveDocument(app, { path: '/small', mediaType: 'text/plain', forms: () => formsOf('small') });
  app.get('/healthz', async () => 'fine');
  let asked = 0;
  app.addHook('onRequest', async () => {
    asked++;
  });
  t.after(() => {
    app.server.closeAllConnections();
    return app.close();
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  /** Requests the large document and reads nothing. Resolves after the request has arrived. */
  const ask = async (): Promise<Socket> => {
    const before = asked;
    const { port } = app.server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1' }).on('error', () => {});
    t.after(() => socket.destroy());
    socket.pause().write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => asked > before);
    return socket;
  };
  return { app, ask };
}

const get = async (app: FastifyInstance, path: string) =>
  fetch(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}${path}`);

test('document requests beyond the limit of an address wait; too many waiting ones are refused', async (t) => {
  const { app, ask } = await startApp(t, { sending: 2, waiting: 1, slowMs: 1_000_000 });
  const [first, second] = [await ask(), await ask()];
  await ask();
  const refused = await get(app, '/small');
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '1']);
  assert.match(await refused.text(), /^.*1 requests from this address already wait/);
  assert.equal(await (await get(app, '/healthz')).text(), 'fine');
  // A client that disconnects frees its place for the next.
  first.destroy();
  second.destroy();
  await until(async () => (await (await get(app, '/small')).text()) === 'small');
});

test('a slow client keeps its place until another client waits for it', async (t) => {
  const { app, ask } = await startApp(t, { sending: 1, waiting: 10, slowMs: 20 });
  const slow = await ask();
  let isClosed = false;
  slow.once('close', () => {
    isClosed = true;
  });
  const answers = Array.from({ length: 3 }, () => get(app, '/small'));
  // The client can still read the bytes that had reached it.
  for (const answer of answers) assert.equal(await (await answer).text(), 'small');
  slow.resume();
  await until(() => isClosed);
  // A client that reads is never too slow.
  assert.equal((await (await get(app, '/large')).text()).length, text.length);
});

test('a turn of the event loop writes one piece of one document, and addresses take turns', async () => {
  const sender = new DocumentSender();
  const written: string[] = [];
  /** Starts to send a document of 640 KiB to an address whose client reads everything at once. */
  const send = (ip: string) => {
    const response = {
      once: () => {},
      off: () => {},
      end: () => {},
      write: (piece: Uint8Array, done: () => void) => {
        assert.ok(piece.length <= 64 * 1024);
        written.push(ip);
        done();
      },
    } as unknown as ServerResponse;
    const request = { ip, raw: { socket: {} } } as unknown as FastifyRequest;
    return sender.answer(request, response, (write) => write(new Uint8Array(640 * 1024)));
  };
  const greedy = Array.from({ length: 40 }, () => send('192.0.2.1'));
  for (let turn = 0; turn < 50; turn++) {
    const before = written.length;
    await nextTurn();
    assert.ok(written.length <= before + 1);
  }
  const sofar = written.length;
  await send('192.0.2.2');
  // Ten pieces of its own, and as many of the other document.
  assert.ok(written.length <= sofar + 21, `${written.length - sofar} pieces`);
  await Promise.all(greedy);
  assert.equal(written.length, 41 * 10);
});
