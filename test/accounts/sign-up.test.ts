import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { endInvite, maxUses } from '../../src/accounts/invites.ts';
import { identifier } from '../../src/db/sql.ts';
import { tables } from '../../src/db/tables.ts';
import { forgetOldIdempotencyKeys } from '../../src/http/idempotency.ts';
import { hourMs, newInvite, signUp } from '../support/accounts.ts';
import { type JsonAnswer, type Petstore, type StoreSetup, startPetstore } from '../support/petstore.ts';

const start = (t: TestContext, options: StoreSetup = {}) => startPetstore(t, { seed: false, ...options });

const codeOf = ({ status, body }: JsonAnswer) => [status, body.code];

/** The uses of an invite that are taken, and the number of its members. */
async function used(store: Petstore, id: string): Promise<number[]> {
  const [[taken] = []] = await store.db.read`select used from invites where id = ${id}`;
  const [[members] = []] = await store.db.read`select count(*) from members where invite_id = ${id}`;
  return [Number(taken), Number(members)];
}

/** Everything that is stored, and all lines of the log. */
async function traces(store: Petstore): Promise<string> {
  const names = [...tables.map(({ name }) => name), 'workspaces', 'invites'];
  const rows = await Promise.all(names.map((name) => store.db.read`select * from ${identifier(name)}`));
  return JSON.stringify(rows) + store.log.join('');
}

test('a code gives each person a workspace of its own with the demo data, and a key of the plan of the invite', async (t) => {
  const store = await start(t);
  const { code } = await newInvite(store, { plan: 'pro' });
  const { status, body } = await signUp(store, { invite: code, name: ' Ada <b>Lovelace</b> ' });
  assert.equal(status, 201);
  assert.deepEqual(Object.keys(body), ['workspace', 'keyId', 'key', 'plan', 'labUrl']);
  assert.match(body.workspace, /^ada-b-lovelace-b-[a-z0-9]{8}$/);
  assert.equal(body.plan, 'pro');
  assert.equal(body.labUrl, `http://localhost:8080/lab#key=${body.key}`);
  const pets = await store.call('GET', '/pets?limit=100', { key: body.key });
  assert.deepEqual([pets.body.length, pets.headers['x-ratelimit-limit']], [20, '300']);
  const other = (await signUp(store, { invite: code, name: 'Ada <b>Lovelace</b>' })).body;
  assert.notEqual(other.workspace, body.workspace);
  await store.call('DELETE', '/pets/4', { key: body.key });
  assert.equal((await store.call('GET', '/pets/4', { key: other.key })).status, 200);
});

test('names: any script is welcome; what nobody can read, or what disturbs a list, is refused by name', async (t) => {
  const store = await start(t);
  const { code } = await newInvite(store, { uses: 100 });
  const welcome = [
    'a',
    '李小龍',
    'Zoë',
    'محمد',
    '👩🏽‍🚀',
    '❤️',
    'می‌خواهم',
    'ක්‍රිස්',
    '<script>alert(1)</script>',
    "'; drop table x",
    '-',
    'x'.repeat(40),
  ];
  for (const name of welcome) {
    const { status, body } = await signUp(store, { invite: code, name });
    assert.equal(status, 201, name);
    assert.match(body.workspace, /^[a-z0-9][a-z0-9-]{0,62}$/, name);
  }
  const refused = [
    '',
    ' ',
    '\u0000',
    'a\nb',
    'a\u001b[31m',
    '\u202eada',
    '\u2066a',
    '\u200b',
    '\u3164',
    '\u2800',
    'Ad\u200ba',
    'Ad\u00ada',
    'Ad\u200da',
    'Ada\ufe0f',
    '\u200d',
    'می\u200c ',
    '\u{e0041}',
    'a\u2028',
    'x'.repeat(41),
    7,
    null,
  ];
  for (const name of refused) {
    const { status, body } = await signUp(store, { invite: code, name });
    assert.deepEqual([status, body.code], [400, 'invalid_request'], JSON.stringify(name));
    assert.match(body.message, /Body property name must /, JSON.stringify(name));
  }
});

test('each reason to refuse a code has its error, which repeats no code, and takes no use', async (t) => {
  const store = await start(t);
  const ended = await newInvite(store);
  await store.db.write((sql) => endInvite(sql, ended.id, store.nowMs));
  const expired = await newInvite(store, { expiresAtMs: store.nowMs });
  const full = await newInvite(store, { uses: 1 });
  assert.equal((await signUp(store, { invite: full.code, name: 'Ada' })).status, 201);
  const cases: [code: unknown, status: number, error: string][] = [
    [`inv_${'0'.repeat(16)}`, 403, 'invite_invalid'],
    ['inv_', 403, 'invite_invalid'],
    [`${full.code} `, 403, 'invite_invalid'],
    [ended.code, 403, 'invite_invalid'],
    [expired.code, 403, 'invite_invalid'],
    [full.code, 403, 'invite_used_up'],
    [undefined, 403, 'signup_closed'],
    ['x'.repeat(101), 400, 'invalid_request'],
    [7, 400, 'invalid_request'],
  ];
  for (const [invite, status, code] of cases) {
    const answer = await signUp(store, { invite, name: 'Bob' });
    assert.deepEqual(codeOf(answer), [status, code], String(invite));
    assert.ok(!/inv_[0-9A-Za-z]{16}/.test(answer.text), answer.text);
  }
  assert.deepEqual(await used(store, full.id), [1, 1]);
  assert.deepEqual(await used(store, ended.id), [0, 0]);
});

test('neither a key nor a code stands in the storage, in the log or in the metrics', async (t) => {
  const store = await start(t, { logLevel: 'trace' });
  const { code } = await newInvite(store);
  const value = randomUUID();
  const { body } = await signUp(store, { invite: code, name: 'Ada' }, { 'idempotency-key': value });
  await signUp(store, { invite: code, name: 'Bob' }, { 'x-request-id': code });
  await store.send('POST', `/accounts?invite=${code}`, { key: null, body: { name: 'Eve' } });
  await store.send('GET', `/join/${code}`, { key: null });
  const all = (await traces(store)) + (await store.metrics());
  for (const secret of [code, body.key, value]) assert.ok(!all.includes(secret), secret.slice(0, 4));
  assert.ok(all.includes(`"keyId":"${body.keyId}"`), 'the log names the new key by its id');
});

test('a repetition after a lost response gets the same key and takes no use, even when all are taken or the invite has ended', async (t) => {
  const store = await start(t);
  const { id, code } = await newInvite(store, { uses: 1 });
  const headers = { 'idempotency-key': randomUUID() };
  const body = { invite: code, name: 'Ada' };
  const first = await signUp(store, body, headers);
  await store.db.write((sql) => endInvite(sql, id, store.nowMs));
  store.nowMs += hourMs - 1;
  const again = await signUp(store, body, headers);
  assert.deepEqual([again.status, again.text], [201, first.text]);
  assert.equal(again.headers['idempotency-replayed'], 'true');
  assert.deepEqual(await used(store, id), [1, 1]);
  assert.equal(/created_total\{origin="invite"\} (\d+)/.exec(await store.metrics())?.[1], '1');

  const other = await newInvite(store);
  const changed = [
    { invite: code, name: 'Eve' },
    { invite: other.code, name: 'Ada' },
  ];
  for (const one of changed)
    assert.deepEqual(codeOf(await signUp(store, one, headers)), [422, 'idempotency_key_reused']);
  store.nowMs += 1;
  await forgetOldIdempotencyKeys(store.db, store.nowMs);
  assert.deepEqual(codeOf(await signUp(store, body, headers)), [403, 'invite_invalid']);
});

test('an Idempotency-Key that others could choose is refused, and a twin in progress waits', async (t) => {
  const store = await start(t);
  const { id, code } = await newInvite(store);
  const send = (value: string) => signUp(store, { invite: code, name: 'Ada' }, { 'idempotency-key': value });
  for (const value of ['1', 'my-key', 'x'.repeat(31)]) {
    const { status, body } = await send(value);
    assert.equal(status, 400);
    assert.match(body.message, /^For this operation Idempotency-Key must be a UUID, or have at least 32/);
  }
  const value = randomUUID();
  const twins = await Promise.all([send(value), send(value)]);
  assert.deepEqual(twins.map(({ status }) => status).sort(), [201, 409]);
  const winner = twins.find(({ status }) => status === 201);
  assert.equal((await send(value)).text, winner?.text);
  assert.deepEqual(await used(store, id), [1, 1]);
  // A refusal does not use the value up.
  const full = await newInvite(store, { uses: 1 });
  await signUp(store, { invite: full.code, name: 'Bob' });
  const late = { 'idempotency-key': randomUUID() };
  assert.equal((await signUp(store, { invite: full.code, name: 'Eve' }, late)).status, 403);
  await store.change((sql) => sql`update invites set uses = 2 where id = ${full.id}`);
  assert.equal((await signUp(store, { invite: full.code, name: 'Eve' }, late)).status, 201);
});

test('of 100 people at once with a code for 30, exactly 30 get in', async (t) => {
  const store = await start(t);
  const { id, code } = await newInvite(store);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, i) => signUp(store, { invite: code, name: `Person ${i}` })),
  );
  const admitted = answers.filter(({ status }) => status === 201);
  assert.equal(admitted.length, 30);
  assert.equal(new Set(admitted.map(({ body }) => body.workspace)).size, 30);
  for (const answer of answers)
    if (answer.status !== 201) assert.deepEqual(codeOf(answer), [403, 'invite_used_up']);
  assert.deepEqual(await used(store, id), [30, 30]);
});

test('wrong codes get 429 after 60 a minute from an address, while a valid code is always admitted', async (t) => {
  const store = await start(t, { trustProxy: true });
  const { code } = await newInvite(store, { uses: maxUses });
  const from = (address: string, invite: string) =>
    signUp(store, { invite, name: 'Ada' }, { 'x-forwarded-for': address });
  for (let i = 0; i < 60; i++) {
    const wrong = `inv_${String(i).padStart(16, 'a')}`;
    assert.equal((await from('192.0.2.1', wrong)).status, 403);
  }
  const limited = await from('192.0.2.1', 'inv_aaaaaaaaaaaaaaaa');
  assert.deepEqual(codeOf(limited), [429, 'rate_limited']);
  assert.match(limited.headers['retry-after'] ?? '', /^\d+$/);
  assert.equal((await from('192.0.2.1', code)).status, 201);
  assert.equal((await from('192.0.2.2', 'inv_aaaaaaaaaaaaaaaa')).status, 403);
  // The limits of requests without a key are others.
  const { status } = await store.call('GET', '/pets', {
    key: null,
    headers: { 'x-forwarded-for': '192.0.2.1' },
  });
  assert.equal(status, 401);
  store.nowMs += 60_000;
  assert.equal((await from('192.0.2.1', 'inv_aaaaaaaaaaaaaaaa')).status, 403);
  assert.match(await store.metrics(), /petstore_accounts_refused_total\{code="invite_invalid"\} 62\n/);
});

test('at an address with too many wrong codes, repetitions and new invites still work at once', async (t) => {
  const store = await start(t);
  const first = await newInvite(store, { uses: 1 });
  const body = { invite: first.code, name: 'Ada' };
  const headers = { 'idempotency-key': randomUUID() };
  const { text } = await signUp(store, body, headers);
  for (let i = 0; i < 61; i++) await signUp(store, { ...body, invite: 'inv_aaaaaaaaaaaaaaaa' });
  await store.db.write((sql) => endInvite(sql, first.id, store.nowMs));
  for (let i = 0; i < 61; i++) await signUp(store, body);
  assert.equal((await signUp(store, body)).status, 429);
  assert.equal((await signUp(store, body, headers)).text, text);
  const { code } = await newInvite(store);
  assert.equal((await signUp(store, { invite: code, name: 'Bob' })).status, 201);
});

test('malformed requests get 429 after 60 a minute from an address', async (t) => {
  const store = await start(t);
  const { code } = await newInvite(store);
  const good = { invite: code, name: 'Ada' };
  const malformed = [
    () => signUp(store, { invite: code }),
    () => signUp(store, good, { 'idempotency-key': 'short' }),
    () => store.send('POST', '/accounts', { key: null, body: '{' }),
    () => signUp(store, good, { 'content-type': 'text/plain' }),
    () => signUp(store, { ...good, name: 'x'.repeat(2_000_000) }),
  ];
  for (let i = 0; i < 60; i++) {
    const { status } = await (malformed[i % malformed.length] as (typeof malformed)[0])();
    assert.ok([400, 413, 415].includes(status), String(status));
  }
  for (const send of malformed) {
    const refused = await send();
    assert.deepEqual(codeOf(refused), [429, 'rate_limited']);
    assert.equal(refused.headers['retry-after'], '60');
  }
  assert.equal((await signUp(store, good)).status, 201);
});

test('a used-up code counts for itself, so that two classes of a school do not disturb each other', async (t) => {
  const store = await start(t);
  const { code } = await newInvite(store, { uses: 1 });
  const body = { invite: code, name: 'Ada' };
  const first = { 'idempotency-key': randomUUID() };
  const { text } = await signUp(store, body, first);
  for (let i = 0; i < 59; i++) assert.equal((await signUp(store, body)).status, 403);
  assert.equal((await signUp(store, body, first)).text, text);
  // The repetition counted, too.
  assert.deepEqual(codeOf(await signUp(store, body)), [429, 'rate_limited']);
  const full = await newInvite(store, { uses: 1 });
  await signUp(store, { invite: full.code, name: 'Bob' });
  await store.holdLimits();
  const { writes } = store.db.counts;
  assert.deepEqual(codeOf(await signUp(store, { ...body, invite: full.code })), [403, 'invite_used_up']);
  assert.deepEqual(codeOf(await signUp(store, { invite: 'inv_0', name: 'Eve' })), [403, 'invite_invalid']);
  assert.deepEqual(codeOf(await signUp(store, body)), [429, 'rate_limited']);
  assert.equal(store.db.counts.writes, writes);
});

test('another method than POST gets 405 without a key, and a key is ignored', async (t) => {
  const store = await start(t);
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    const { status, headers } = await store.send(method, '/accounts', { key: null });
    assert.deepEqual([status, headers.allow], [405, 'POST, OPTIONS']);
  }
  assert.equal((await store.send('OPTIONS', '/accounts', { key: null })).status, 204);
  const { code } = await newInvite(store);
  for (const key of ['pet_wrong', store.key]) {
    const { status } = await store.send('POST', '/accounts', { key, body: { invite: code, name: 'Ada' } });
    assert.equal(status, 201);
  }
});

test('without the lab it works too, and then there is no labUrl; the description is served in both forms', async (t) => {
  const store = await start(t, { lab: false });
  const { code } = await newInvite(store);
  const { status, body } = await signUp(store, { invite: code, name: 'Ada' });
  assert.deepEqual([status, 'labUrl' in body], [201, false]);
  const { body: description } = await store.send('GET', '/accounts/openapi.json', { key: null });
  assert.deepEqual(Object.keys(description.paths), [
    '/accounts',
    '/accounts/me',
    '/accounts/me/plan',
    '/accounts/me/key',
  ]);
  assert.deepEqual(description.paths['/accounts'].post.security, []);
  assert.equal((await store.send('GET', '/accounts/openapi.yaml', { key: null })).status, 200);
});
