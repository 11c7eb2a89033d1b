import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { referenceUrlWithKey } from '../../../src/http/target.ts';
import { referencePaths } from '../../../src/reference/pages/interactive-page.ts';
import { startPetstore } from '../../support/petstore.ts';
import { startService } from '../../support/service.ts';
import { temporaryStorage } from '../../support/storage.ts';

const anonymous = { key: null };
const store = await startPetstore({ after }, { seed: false });

test('the root and a trailing slash redirect to the reference, which loads scripts and styles only from the service', async (t) => {
  const store = await startPetstore(t, { seed: false, baseUrl: 'https://pets.example/store/v1' });
  for (const path of ['/', '/reference/']) {
    const { status, headers } = await store.send('GET', path, anonymous);
    assert.equal(status, 302);
    assert.equal(new URL(headers.location as string, `http://x${path}`).pathname, '/reference');
  }
  const { status, headers, text } = await store.send('GET', '/reference', anonymous);
  assert.equal(status, 200);
  assert.match(headers['content-type'] as string, /^text\/html/);
  const policy = headers['content-security-policy'] as string;
  assert.match(policy, /default-src 'none'; script-src 'self';/);
  assert.match(policy, /; style-src 'self'; img-src 'self'; connect-src 'self'; /);
  const links = text.replace(/<link rel="canonical" .*>/, '');
  assert.doesNotMatch(links, /\b(src|href)="(https?:|\/)/);
  for (const [, path = ''] of links.matchAll(/(?:src|href)="([^"#]+)"/g))
    assert.equal((await store.send('GET', `/${path}`, anonymous)).status, 200, path);
});

test('a compressed document has less than half of its bytes', async () => {
  const [plain, gzipped] = await Promise.all(
    ['identity', 'gzip'].map((coding) =>
      store.app.inject({ url: '/v1/openapi.json', headers: { 'accept-encoding': coding } }),
    ),
  );
  assert.ok(Number(gzipped?.rawPayload.length) < Number(plain?.rawPayload.length) / 2);
});

test('a 400 for a malformed condition has no header fields of the document', async () => {
  const ofDocuments = /^(etag|content-security-policy|cross-origin-opener-policy|referrer-policy)$/;
  for (const path of ['/reference', '/reference/page.js', '/v1/openapi.json', '/changelog']) {
    const { status, headers } = await store.send('GET', path, { headers: { 'if-none-match': 'unquoted' } });
    assert.deepEqual([status, headers.vary], [400, 'Accept'], path);
    for (const name of Object.keys(headers)) assert.doesNotMatch(name, ofDocuments, path);
  }
});

test('no response outside the API contains the demo key', async (t) => {
  const dataDir = join(await temporaryStorage(t), 'data');
  const service = await startService(t, dataDir);
  const secret = readFileSync(join(dataDir, 'demo.key'), 'utf8').trim().slice('pet_'.length);
  const origin = service.origin.replace('127.0.0.1', 'localhost');
  const forwarded = { 'x-forwarded-for': '198.51.100.7', 'x-forwarded-host': 'localhost', via: '1.1 proxy' };
  for (const path of [...referencePaths, '/v1/openapi.json', '/v1/openapi.yaml', '/metrics']) {
    const texts = await Promise.all(
      [{}, forwarded].map(async (headers) => {
        const answer = await fetch(`${origin}${path}`, { headers });
        assert.equal(answer.status, 200, path);
        return JSON.stringify([...answer.headers]) + (await answer.text());
      }),
    );
    for (const text of texts) assert.ok(!text.includes(secret), path);
  }
});

test('the URL of the reference has the address of the API, with the key behind #', () => {
  assert.equal(
    referenceUrlWithKey('https://pets.example/store/v1', 'pet_1'),
    'https://pets.example/store/reference#key=pet_1',
  );
});
