import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withoutSecrets } from '../../src/foundation/redact.ts';
import { startPetstore } from '../support/petstore.ts';
import { recordedIn, startRecording } from '../support/recordings.ts';

test('neither the log, nor an error, nor the database contains a key', async (t) => {
  const store = await startPetstore(t);
  const { key } = store;
  const asJson = { 'content-type': 'application/json' };
  const requests: [string, string, Parameters<typeof store.call>[2]][] = [
    ['GET', '/pets/1', {}],
    ['GET', '/pets/1', { key: null, headers: { 'x-api-key': key } }],
    ['GET', `/pets/${key}`, {}],
    ['GET', `/${key}`, {}],
    ['GET', `/pets?api_key=${key}`, { key: null }],
    ['GET', `/pets?${key}=1`, {}],
    ['GET', `/pets?key=${key.replace('p', '%70').replace('_', '%5f')}`, {}],
    ['GET', `/pets?key=${key.replace('_', '%255F')}`, {}],
    ['GET', `/pets?key=${encodeEach(key)}`, {}],
    ['GET', `/pets?cursor=${key}`, {}],
    ['GET', `/pets?x=%E0%${key}`, {}],
    ['GET', `/pets/%E0%${key}`, {}],
    ['GET', '/pets/1', { headers: { 'x-request-id': `my-${key}` } }],
    ['PATCH', '/pets/1', { body: { status: 'pending' }, headers: { 'x-request-id': `my-${key}` } }],
    [
      'GET',
      '/pets/1',
      { headers: { 'if-none-match': key, referer: key, 'user-agent': key, cookie: `k=${key}` } },
    ],
    ['GET', '/pets/1', { key: null, headers: { authorization: `Basic ${key}` } }],
    ['POST', '/pets', { body: { name: 5, [key]: 1 } }],
    ['POST', '/pets', { body: `{"a":"${key}"` }],
    ['POST', '/pets', { body: `{"${key}":1,"${key}":2}` }],
    ['POST', '/pets', { body: `{"${escapeEach(key)}":1,"${escapeEach(key)}":2}` }],
    ['GET', `/pets?key=${encodeURIComponent(escapeEach(key))}`, {}],
    ['POST', '/pets', { body: key, headers: asJson }],
    ['POST', '/pets', { body: '{}', headers: { 'content-type': key } }],
    ['PATCH', `/pets/1?${key}`, { body: { status: key } }],
    ['DELETE', `/${key}/${key}`, {}],
  ];
  const errors: string[] = [];
  for (const [method, path, options] of requests) {
    const answer = await store.call(method, path, options);
    if (answer.status >= 400) errors.push(answer.text);
  }
  await store.db.write((sql) => sql`alter table pets rename column name to label`);
  errors.push((await store.call('GET', `/pets/1`, { headers: { 'x-request-id': key } })).text);
  await store.saveLimits();
  const secret = key.slice('pet_'.length);
  assert.ok(errors.length >= 15 && store.log.length >= requests.length);
  assert.ok(!errors.join('').includes(secret), 'errors');
  assert.ok(!store.log.join('').includes(secret), 'log');
  assert.ok(!store.log.join('').includes(encodeEach(secret)), 'log, encoded');
  assert.ok(!(await store.metrics()).includes(secret), 'metrics');
  for (const file of readdirSync(store.folder)) {
    assert.ok(!readFileSync(join(store.folder, file)).includes(secret), file);
  }
});

const escapeOf = (character: string) => `\\u00${character.charCodeAt(0).toString(16)}`;
const escapeEach = (text: string) => text.replaceAll(/./g, escapeOf);

const password = 'hunter2';
const address = `https://me:${password}%40%2F@a.example/p`;
/** Some encoders leave slashes, or colons and at signs, as they are. */
const encoded = encodeURIComponent(address);
const spellings = (key: string) => ({
  'a letter of a key': key.replace('p', escapeOf),
  'the underscore of a key': key.replace('_', '\\u005F'),
  'a whole key': escapeEach(key),
  'slashes of JSON': address.replaceAll('/', '\\/'),
  'escapes of JSON': address.replaceAll(/[:/@]/g, escapeOf),
  'percent signs': encoded,
  'percent signs in lower case': encoded.toLowerCase(),
  'percent signs twice': encodeURIComponent(encoded),
  'slashes as they are': encoded.replaceAll('%2F', '/'),
  'slashes alone': encoded.replaceAll('%3A', ':').replaceAll('%40', '@'),
  'a password of Sentinels': `redis://a.example?sentinel\\u005fpassword\\u003d${password}`,
  'a password of Sentinels with an at sign': `redis:\\/\\/a.example:1?sentinel_password=x\\u0040${password}`,
});

test('keys and passwords are removed from recordings, in every spelling of JSON and URLs', async (t) => {
  const store = await startPetstore(t);
  const { key } = store;
  const recording = await startRecording(store);
  const spelled = Object.entries(spellings(key));
  for (const [, text] of spelled) await store.call('POST', '/pets', { body: `{"a":"${text}"}` });
  const recorded = await recordedIn(store, recording);
  assert.equal(recorded.length, spelled.length);
  for (const [i, [name]] of spelled.entries()) {
    const { body } = recorded[i] as { body: string };
    assert.match(body, /^{"a":".*\*\*\*.*"}$/, name);
    for (const secret of [password, key.slice(4), escapeEach(key.slice(4))]) {
      assert.ok(!body.includes(secret), `${name}: ${body}`);
    }
  }
});

test('removing secrets from nested JSON leaves valid JSON', () => {
  for (const [name, text] of Object.entries(spellings(`pet_${'a1'.repeat(18)}`))) {
    const line = JSON.stringify({ body: JSON.stringify({ text }), next: 'x' });
    const clean = withoutSecrets(line);
    assert.ok(clean.includes('***') && !clean.includes(password), `${name}: ${clean}`);
    const { body, next } = JSON.parse(clean);
    assert.equal(next, 'x');
    assert.ok(JSON.parse(body).text, name);
  }
});

test('an address without a password stays unchanged', () => {
  for (const text of [
    'https://a.example:8080/b?c=d@e',
    'x=https%3A%2F%2Fa.example%3A80%2Fb&mail=a%40b',
    'a\\/b:c@d',
  ])
    assert.equal(withoutSecrets(text), text);
});

const encodeEach = (text: string) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&');

test('names from Object.prototype, such as __proto__, are ordinary names and change no object', async (t) => {
  const store = await startPetstore(t);
  for (const body of [
    '{"__proto__":{"name":"Evil","categoryId":1}}',
    '{"constructor":{"prototype":{"name":"Evil"}},"categoryId":1}',
  ]) {
    assert.equal((await store.call('POST', '/pets', { body })).status, 400);
  }
  const patch = '{"__proto__":{"status":"sold"},"constructor":1,"toString":2}';
  const patched = await store.call('PATCH', '/pets/1', { body: patch });
  assert.deepEqual(patched.body, { id: 1, name: 'Bella', categoryId: 1, status: 'available' });
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    assert.equal((await store.call('GET', `/pets?${name}=1`)).status, 400, name);
  }
  assert.equal(({} as { name?: string }).name, undefined);
});

test('a caller cannot add a header to a response', async (t) => {
  const store = await startPetstore(t);
  const evil = '%0d%0aX-Evil:%201';
  for (const path of [
    `/pets?limit=1&status=available${evil}`,
    `/pets/1${evil}`,
    `/${evil}`,
    `/pets?cursor=${evil}`,
  ]) {
    assert.ok(!('x-evil' in (await store.call('GET', path)).headers), path);
  }
  const page = await store.call('GET', '/pets?status=available&limit=1');
  assert.match(page.headers.link as string, /^<[^<>\s]+>; rel="next"$/);
  const headers = { 'x-request-id': 'walk\r\nX-Evil: 1' };
  const answer = await store.call('GET', '/pets/1', { headers });
  assert.match(answer.headers['x-request-id'] as string, /^[0-9a-f-]{36}$/);
});

test('no regular expression is slow on text that was built to make it slow', async (t) => {
  const store = await startPetstore(t);
  const spaces = ' '.repeat(60_000);
  const startMs = performance.now();
  await store.call('POST', '/categories', { body: { name: `${spaces}\u0000` } });
  await store.call('POST', '/store/orders', {
    body: { shipDate: `2026-01-01T00:00:00.${'1'.repeat(50_000)}` },
  });
  await store.call('POST', '/pets', { body: `{"a":"${'\\\\'.repeat(30_000)}` });
  await store.call('POST', '/pets', { body: `{"a":${'"\\"'.repeat(15_000)}` });
  for (const value of [
    ',\t '.repeat(5_000),
    '"a",'.repeat(3_500),
    `"${'!'.repeat(14_000)}`,
    `${'"a" '.repeat(3_000)}x`,
    `%${'25'.repeat(7_000)}`,
    'pet_%25'.repeat(2_000),
  ]) {
    await store.call('DELETE', '/pets/1', { headers: { 'if-match': value } });
    await store.call('GET', `/pets?${encodeURI(value)}`);
    await store.call('GET', `/pets?${value.replaceAll(/\s/g, '')}`);
    await store.call('POST', '/pets', { body: {}, headers: { 'idempotency-key': value } });
  }
  for (const unit of [
    '\\',
    'pet_\\',
    '\\u0070',
    ':\\/\\/',
    ':\\u002f\\u002f:',
    '://a:\\',
    '%3A%2F%2F',
    '%3A//a%3A%2540',
    ':%2F%2Fa:',
    '%3A//%253A//%25253A//',
  ])
    withoutSecrets(`://a:${unit.repeat(1_000_000 / unit.length)}`);
  // A pattern that backtracks without bound would take minutes.
  assert.ok(performance.now() - startMs < 10_000);
});
