import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateKey } from '../../../src/access/keys/store.ts';
import { addressGroup } from '../../../src/http/address.ts';
import { clockWithLeft } from '../../support/clock.ts';
import { assertAdmitted, remaining, startWithKey, times } from '../../support/limits.ts';
import { fetchChecked, type JsonAnswer, type Petstore, startPetstore } from '../../support/petstore.ts';
import { createKeyWith, startService } from '../../support/service.ts';
import { temporaryStorage } from '../../support/storage.ts';

for (const [plan, perMinute] of [
  ['free', 60],
  ['pro', 300],
] as const) {
  test(`under 200 concurrent connections a ${plan} key gets exactly ${perMinute} admissions in a minute`, async (t) => {
    const { store, key } = await startWithKey(t, plan);
    const origin = await store.listen();
    const client = () => times(3, () => fetchChecked(origin, 'GET', '/pets/1', { key }));
    const answers = (await Promise.all(Array.from({ length: 200 }, client))).flat();
    assertAdmitted(answers, perMinute, [429, 403]);
  });
}

test('without the headers of the draft, responses and descriptions have only X-RateLimit-*', async (t) => {
  const store = await startPetstore(t, { hasDraftLimits: false });
  const limitNames = (all: string[]) => all.filter((name) => /ratelimit/.test(name));
  const names = async (path: string, headers = {}) => {
    const { key, app } = store;
    const answer = await app.inject({ url: path, headers: { authorization: `Bearer ${key}`, ...headers } });
    return limitNames(Object.keys(answer.headers));
  };
  const plain = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
  for (const path of ['/v1/pets', '/v1/pets/4711', '/lab/account'])
    assert.deepEqual(await names(path), plain, path);
  assert.deepEqual(await names('/v1/pets', { authorization: 'Bearer wrong' }), plain);
  for (const fault of ['near-limit', 'rate-limited']) {
    const rehearsal = { method: 'POST', url: '/lab/rehearsals', payload: { faults: [{ fault }] } } as const;
    await store.app.inject({ ...rehearsal, headers: { 'x-api-key': store.key } });
    assert.deepEqual(await names('/v1/pets'), plain, fault);
  }
  const account = await store.app.inject({ url: '/lab/account', headers: { 'x-api-key': store.key } });
  const shown = Object.keys(account.json().headers).map((name) => name.toLowerCase());
  assert.deepEqual(limitNames(shown), plain);
  for (const path of ['/v1/openapi.json', '/v1/openapi-3.2.json', '/lab/openapi.json']) {
    const { text } = await store.send('GET', path, { key: null });
    const document = JSON.parse(text);
    const { components, paths } = document;
    for (const [, reference = ''] of text.matchAll(/"\$ref": "#\/(.+?)"/g))
      assert.ok(
        reference.split('/').reduce((part, name) => part?.[name], document),
        reference,
      );
    assert.doesNotMatch(JSON.stringify([components, paths]), /"RateLimit[^"]*":\{"\$ref"/, path);
    assert.ok('XRateLimitLimit' in components.headers);
  }
  for (const path of ['/llms-full.txt', '/reference/operations/listPets', '/guides/rate-limits.md'])
    assert.equal((await store.send('GET', path, { key: null })).status, 200, path);
});

test('every response under /v1 has the limit headers, also unusual ones; a preflight has none', async (t) => {
  const { store, key } = await startWithKey(t, 'free');
  const json = (body: string, headers = {}) => ({ key, body, headers });
  const etag = (await store.call('GET', '/categories/1', { key })).headers.etag as string;
  // The test helper checks the limit headers of each response. The count here shows that each was counted for the key.
  const requests: [number, string, string, object][] = [
    [200, 'GET', '/pets', { key }],
    [200, 'HEAD', '/pets', { key }],
    [304, 'GET', '/categories/1', { key, headers: { 'if-none-match': etag } }],
    [400, 'POST', '/pets', json('{')],
    [400, 'GET', '/pets/%E0%', { key }],
    [404, 'GET', '/nowhere', { key }],
    [404, 'GET', '/pets/4711', { key }],
    [405, 'DELETE', '/pets', { key }],
    [409, 'DELETE', '/categories/1', { key }],
    [412, 'DELETE', '/categories/1', { key, headers: { 'if-match': '"x"' } }],
    [413, 'POST', '/pets', json('x'.repeat(70_000))],
    [415, 'POST', '/pets', json('x', { 'content-type': 'text/plain' })],
    [204, 'OPTIONS', '/pets', { key }],
  ];
  let left = 59;
  for (const [status, method, path, options] of requests) {
    const answer = await store.call(method, path, options);
    assert.equal(answer.status, status, answer.text);
    assert.equal(remaining(answer), --left, `${method} ${path}`);
  }
  await store.db.write((sql) => sql`alter table pets rename column name to label`);
  const failed = await store.call('GET', '/pets/1', { key });
  assert.deepEqual([failed.status, remaining(failed)], [500, --left]);
  const preflight = { origin: 'https://shop.example', 'access-control-request-method': 'GET' };
  const { status, headers } = await store.call('OPTIONS', '/pets', { key: null, headers: preflight });
  assert.equal(status, 204);
  assert.ok(!('x-ratelimit-limit' in headers));
});

test('the headers show the binding window in both forms', async (t) => {
  const { store, ask } = await startWithKey(t, 'free');
  store.nowMs = Date.parse('2026-06-01T12:34:18.400Z');
  assert.partialDeepStrictEqual((await ask()).headers, {
    'x-ratelimit-limit': '60',
    'x-ratelimit-remaining': '59',
    'x-ratelimit-reset': String(Date.parse('2026-06-01T12:35:00Z') / 1000),
    'ratelimit-policy': '"minute";q=60;w=60,"day";q=1000;w=86400',
    ratelimit: '"minute";r=59;t=42,"day";r=999;t=41142',
  });
});

test('if fewer requests remain of the day than of the minute, the headers and Retry-After describe the day', async (t) => {
  const { store, ask } = await startWithKey(t, { perMinute: 10, perDay: 3 });
  const [first, , third, refused] = [await ask(), await ask(), await ask(), await ask()];
  assert.equal(first.headers['x-ratelimit-limit'], '3');
  assert.equal(third.headers['x-ratelimit-reset'], String(Date.parse('2026-06-02T00:00:00Z') / 1000));
  assert.equal(refused.status, 429);
  assert.equal(refused.headers['retry-after'], String(12 * 60 * 60));
  assert.match(refused.body.message, /3 requests per day/);
  store.nowMs += 12 * 60 * 60 * 1000 - 1;
  assert.equal((await ask()).status, 429);
  store.nowMs += 1;
  assert.equal((await ask()).status, 200);
});

test('refused requests are not counted: the next minute has its full limit', async (t) => {
  const { store, ask } = await startWithKey(t, 'free');
  const answers = await times(110, ask);
  assert.equal(answers.filter(({ status }) => status === 200).length, 60);
  const refused = answers.at(-1) as JsonAnswer;
  assert.equal(refused.body.code, 'rate_limited');
  assert.equal(refused.headers['retry-after'], '60');
  store.nowMs += 60_000;
  const next = await ask();
  assert.equal(remaining(next), 59);
  assert.match(next.headers.ratelimit as string, /"day";r=939/);
});

test('a crash loses at most the last second of counting', async (t) => {
  const folder = await temporaryStorage(t);
  const service = await startService(t, folder);
  const { key } = await createKeyWith(1_000, 2_000, { PETSTORE_DATA_DIR: folder });
  await times(20, () => fetchChecked(service.origin, 'GET', '/pets/1', { key }));
  await sleep(1_000);
  await service.stop('SIGKILL');
  const restarted = await startService(t, folder);
  const { headers } = await fetchChecked(restarted.origin, 'GET', '/pets/1', { key });
  assert.match(headers.ratelimit as string, /"day";r=1979/);
});

test('callers without a valid key share the Free limits of their address, which also stops guessing', async (t) => {
  const store = await startPetstore(t);
  const guesses = await times(60, () => store.call('GET', '/pets/1', { key: generateKey() }));
  assert.ok(guesses.every(({ status }) => status === 401));
  assert.equal(remaining(guesses.at(-1) as JsonAnswer), 0);
  for (const key of [null, generateKey(), 'pet_x']) {
    const refused = await store.call('GET', '/pets/1', { key });
    assert.equal(refused.body.code, 'rate_limited');
    assert.ok(refused.headers['retry-after']);
  }
  assert.equal((await store.call('GET', '/pets/1')).status, 200, 'a valid key has an account of its own');
  const insisting = await times(100, () => store.call('GET', '/pets/1', { key: null }));
  assert.ok(
    insisting.every(({ status }) => status === 429),
    'an address is never banned',
  );
  store.nowMs += 60_000;
  assert.equal((await store.call('GET', '/pets/1', { key: null })).status, 401);
});

test('a key is accepted only in the form of its header field', async (t) => {
  const store = await startPetstore(t);
  for (const [name, value, status] of [
    ['x-api-key', store.key, 200],
    ['authorization', store.key, 401],
    ['authorization', `Bearer ${store.key}`, 200],
    ['x-api-key', `Bearer ${store.key}`, 401],
  ] as const) {
    const answer = await store.call('GET', '/pets/1', { key: null, headers: { [name]: value } });
    assert.equal(answer.status, status, `${name}: ${value}`);
  }
});

test('while the storage cannot find keys, no request is counted', async (t) => {
  const store = await startPetstore(t);
  await store.call('GET', '/pets/1', { key: null });
  const { key } = await store.addKey('pro');
  await store.db.write((sql) => sql`alter table api_keys rename column plan to scheme`);
  for (let i = 0; i < 3; i++) {
    const failed = await store.call('GET', '/pets/1', { key });
    assert.deepEqual([failed.status, remaining(failed)], [500, 59]);
  }
  await store.db.write((sql) => sql`alter table api_keys rename column scheme to plan`);
  const back = await store.call('GET', '/pets/1', { key });
  assert.deepEqual([back.status, remaining(back)], [200, 299]);
});

test('the headers of a failure show the remaining requests even if the clock was set back', async (t) => {
  const store = await startPetstore(t);
  await times(60, () => store.call('GET', '/pets/1', { key: null }));
  const { key } = await store.addKey('pro');
  store.nowMs -= 30_000;
  const refused = await store.call('GET', '/pets/1', { key: null });
  assert.deepEqual([refused.status, remaining(refused)], [429, 0]);
  await store.db.write((sql) => sql`alter table api_keys rename column plan to scheme`);
  const failed = await store.call('GET', '/pets/1', { key });
  assert.equal(failed.status, 500);
  assert.equal(failed.headers.ratelimit, refused.headers.ratelimit);
  await store.db.write((sql) => sql`alter table api_keys rename column scheme to plan`);
});

test('counts that cannot be saved are kept and saved later', async (t) => {
  const { store, ask, id } = await startWithKey(t, 'free');
  await store.call('GET', '/pets/1');
  await store.db.write((sql) => sql`alter table limit_accounts rename to hidden`);
  await store.call('GET', '/pets/1');
  await store.saveLimits();
  assert.equal(store.log.filter((line) => line.includes('cannot be saved')).length, 1, 'logged once');
  await store.db.write((sql) => sql`alter table hidden rename to limit_accounts`);
  await ask();
  await store.saveLimits();
  assert.deepEqual(await store.db.read`select minute_count from limit_accounts where id = ${id}`, [[1]]);
  assert.equal((await store.db.read`select id from limit_accounts where workspace_id = 1`).length, 2);
});

test('a mistyped key causes no look-up', async (t) => {
  const store = await startPetstore(t);
  await store.call('GET', '/pets/1', { key: null });
  const { reads } = store.db.counts;
  const key = generateKey();
  const typo = key.slice(0, 10) + (key[10] === 'a' ? 'b' : 'a') + key.slice(11);
  await times(5, () => store.call('GET', '/pets/1', { key: typo }));
  assert.equal(store.db.counts.reads, reads);
  await store.call('GET', '/pets/1', { key });
  assert.equal(store.db.counts.reads, reads + 1);
});

test('callers are grouped by address: IPv4 alone, IPv6 by /64', () => {
  const groups: [string | undefined, string | undefined][] = [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['203.0.113.7:5555', '203.0.113.7'],
    ['[2001:db8:1:2::1]:44', '2001:db8:1:2::/64'],
    ['nonsense', undefined],
    [undefined, undefined],
  ];
  for (const [address, group] of groups) assert.equal(addressGroup(address), group, String(address));
});

test('X-Forwarded-For is used only from a trusted proxy', async (t) => {
  const from = async (store: Petstore, remoteAddress: string, forwardedFor: string) => {
    const request = { url: '/v1/pets', remoteAddress, headers: { 'x-forwarded-for': forwardedFor } };
    return Number((await store.app.inject(request)).headers['x-ratelimit-remaining']);
  };
  const direct = await startPetstore(t);
  const proxied = await startPetstore(t, { trustProxy: ['198.51.100.0/24', 'loopback'] });
  for (const [store, address, forwardedFor, left, why] of [
    [direct, '198.51.100.1', '203.0.113.1', 59, 'the caller is new'],
    [direct, '198.51.100.1', '203.0.113.2', 58, 'no proxy is trusted by default'],
    [proxied, '198.51.100.1', '203.0.113.1', 59, 'a trusted proxy names its caller'],
    [proxied, '198.51.100.9', '203.0.113.2', 59, 'each caller has its own limit'],
    [proxied, '198.51.100.1', '203.0.113.9, 203.0.113.1', 58, 'what a client adds in front is not believed'],
    [proxied, '192.0.2.1', '203.0.113.1', 59, 'an untrusted proxy is the caller itself'],
  ] as const)
    assert.equal(await from(store, address, forwardedFor), left, why);
});

test('with a real socket and a real minute, a client that respects Retry-After is admitted', async (t) => {
  const { store, key } = await startWithKey(t, { perMinute: 2, perDay: 100 });
  await store.close();
  const clock = await clockWithLeft(3_000);
  const service = await startService(t, store.folder, clock.env);
  const call = () => fetchChecked(service.origin, 'GET', '/pets/1', { key });
  let refused = await call();
  while (refused.status !== 429) refused = await call();
  await sleep(Number(refused.headers['retry-after']) * 1000);
  assert.equal((await call()).status, 200);
});
