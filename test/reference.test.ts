import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type Options, startPetstore } from './support/petstore.ts';

const demoKey = `pet_${'0'.repeat(36)}`;
const anonymous = { key: null };

test('the root leads to the reference, which loads programs and styles from the service alone', async (t) => {
  const store = await startPetstore(t, { seed: false, baseUrl: 'https://pets.example/store/v1' });
  const root = await store.send('GET', '/', anonymous);
  assert.equal(root.status, 302);
  assert.equal(new URL(root.headers.location as string, 'http://localhost:8080/').pathname, '/reference');
  const { status, headers, text } = await store.send('GET', '/reference', anonymous);
  assert.equal(status, 200);
  assert.match(headers['content-type'] as string, /^text\/html/);
  const policy = headers['content-security-policy'] as string;
  assert.match(policy, /default-src 'none'; script-src 'self';/);
  assert.match(policy, /connect-src 'self' https:\/\/pets\.example;/);
  assert.doesNotMatch(text, /\b(src|href)="(https?:|\/)/);
  for (const [, path = ''] of text.matchAll(/(?:src|href)="(.*?)"/g)) {
    assert.equal((await store.send('GET', `/${path}`, anonymous)).status, 200, path);
  }
});

test('the reference is found with a slash at the end, too', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const { headers } = await store.send('GET', '/reference/', anonymous);
  assert.equal(new URL(headers.location as string, 'http://x/reference/').pathname, '/reference');
});

test('what the page loads is sent compressed to those who take it, and not again to those who have it', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const get = (headers: Record<string, string>) => store.app.inject({ url: '/reference/scalar.js', headers });
  const plain = await get({});
  const gzipped = await get({ 'accept-encoding': 'br, gzip' });
  assert.equal(gzipped.headers['content-encoding'], 'gzip');
  assert.ok(gunzipSync(gzipped.rawPayload).equals(plain.rawPayload));
  assert.ok(gzipped.rawPayload.length < plain.rawPayload.length / 2);
  assert.notEqual(gzipped.headers.etag, plain.headers.etag);
  assert.equal((await get({ 'accept-encoding': 'gzip;q=0' })).headers['content-encoding'], undefined);
  const etag = gzipped.headers.etag as string;
  assert.equal((await get({ 'accept-encoding': 'gzip', 'if-none-match': etag })).statusCode, 304);
});

test('the demonstration key is filled in for a browser on this machine, and no other site can read it', async (t) => {
  const store = await startPetstore(t, { seed: false, demoKey });
  for (const host of ['localhost:8080', '127.0.0.1:8080', '[::1]:8080']) {
    const { headers, text } = await store.send('GET', '/reference', { ...anonymous, headers: { host } });
    assert.ok(text.includes(demoKey), host);
    assert.ok(!Object.keys(headers).some((name) => name.startsWith('access-control-')));
    assert.equal(headers['cache-control'], 'no-store');
  }
});

const direct: Record<string, string> = { host: 'localhost:8080' };

const strangers: [who: string, options: Options, headers: Record<string, string>][] = [
  ['under a name that points here', {}, { host: 'evil.example' }],
  [
    'under a forwarded name',
    { trustProxy: ['loopback'] },
    { host: 'evil.example', 'x-forwarded-host': 'localhost' },
  ],
  ['through a proxy', {}, { ...direct, 'x-forwarded-for': '198.51.100.7' }],
  ['through a proxy that names no client', {}, { ...direct, 'x-forwarded-proto': 'https' }],
  ['through a proxy of another kind', {}, { ...direct, via: '1.1 proxy' }],
  ['through nginx', {}, { ...direct, 'x-real-ip': '198.51.100.7' }],
  ['where the API is public', { baseUrl: 'https://pets.example/v1' }, direct],
];

for (const [who, options, headers] of strangers) {
  test(`the demonstration key is not given to a browser that comes ${who}`, async (t) => {
    const store = await startPetstore(t, { seed: false, demoKey, ...options });
    const { status, text } = await store.send('GET', '/reference', { ...anonymous, headers });
    assert.equal(status, 200);
    assert.doesNotMatch(text, /pet_/);
  });
}
