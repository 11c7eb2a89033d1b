import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { clearBan, findKey, revokeKey } from '../../src/access/keys/store.ts';
import { labKeptBounds } from '../../src/lab/lab-bounds.ts';
import { prepareDemo } from '../../src/store/demo/seed.ts';
import { newMember } from '../support/accounts.ts';
import { contentOf } from '../support/content.ts';
import { temporaryFolder } from '../support/folder.ts';
import { remaining, times } from '../support/limits.ts';
import { addKeyOf, changeKey, changePlan, deleteOwn, ownAccount } from '../support/own-account.ts';
import { type Petstore, startPetstore } from '../support/petstore.ts';
import { openStream } from '../support/streams.ts';
import { until } from '../support/until.ts';

const hourMs = 3_600_000;
const ask = (store: Petstore, key: string) => store.call('GET', '/pets/1', { key });
const statusOf = async (store: Petstore, key: string) => (await ask(store, key)).status;

/** A member with the secret before a change and the one after it. */
async function rotated(store: Petstore) {
  const { key: old, keyId } = await newMember(store, { upgrades: ['free', 'pro'] });
  const { status, body } = await changeKey(store, old);
  assert.equal(status, 201);
  return { old, keyId, key: body.key as string, body };
}

test('a new secret keeps the id of the key, its windows, strikes and ban', async (t) => {
  const store = await startPetstore(t);
  const { key: old, keyId } = await newMember(store);
  await times(60 + 5, () => ask(store, old));
  const before = await ownAccount(store, old);
  const { body } = await changeKey(store, old);
  assert.equal(body.keyId, keyId);
  assert.match(body.key, /^pet_\w{36}$/);
  assert.deepEqual(await ownAccount(store, body.key), { ...before, oldKeyUntil: '2026-06-01T13:00:00.000Z' });
  await times(56, () => ask(store, old));
  assert.equal(
    (await ask(store, body.key)).body.code,
    'key_banned',
    'both secrets share the strikes and the ban',
  );
  const next = await changeKey(store, body.key);
  assert.equal(next.status, 201, 'during a ban, too');
  assert.equal((await ask(store, next.body.key)).body.code, 'key_banned');
});

test('a key of an operator may get a new secret', async (t) => {
  const store = await startPetstore(t);
  const { key, id } = await addKeyOf(store, 'free');
  assert.equal((await ownAccount(store, key)).canChangeKey, true);
  const { body } = await changeKey(store, key);
  assert.equal(body.keyId, id);
  assert.equal(await statusOf(store, body.key), 200);
});

test('the key of the demo cannot change its secret, and a restart makes no other key', async (t) => {
  const store = await startPetstore(t);
  const folder = temporaryFolder(t);
  const key = await prepareDemo(store.db, folder, store.nowMs);
  assert.equal((await ownAccount(store, key)).canChangeKey, false);
  for (const body of [{}, { revokeOldNow: true }]) {
    const refused = await changeKey(store, key, body);
    assert.deepEqual([refused.status, refused.body.code], [403, 'account_kept']);
    assert.match(refused.body.message, /others use it too/);
  }
  assert.equal(await statusOf(store, key), 200);
  assert.equal(await prepareDemo(store.db, folder, store.nowMs), key);
});

test('the old secret works for an hour, for everything but a change of its key', async (t) => {
  const store = await startPetstore(t);
  const { old, key, body } = await rotated(store);
  assert.equal(body.oldKeyUntil, '2026-06-01T13:00:00.000Z');
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const accept = { accept: 'application/json, text/event-stream' };
  for (const [method, path, options] of [
    ['GET', '/v1/pets/1', {}],
    ['POST', '/v1/store/orders', { body: {} }],
    ['GET', '/lab/account', {}],
    ['POST', '/lab/recordings', { body: {} }],
    ['GET', '/accounts/me', {}],
    ['POST', '/mcp', { body: message, headers: accept }],
  ] as const) {
    const { status, text } = await store.send(method, path, { key: old, ...options });
    assert.ok(status === 200 || status === 201, `${path}: ${text}`);
  }
  for (const refused of [
    await changePlan(store, old, 'pro'),
    await changeKey(store, old),
    await changeKey(store, old, { revokeOldNow: true }),
    await deleteOwn(store, old),
  ]) {
    // Not 401, which after a DELETE means that it is done.
    assert.deepEqual([refused.status, refused.body.code], [409, 'conflict']);
    assert.match(refused.body.message, /newer secret/);
  }
  store.nowMs += hourMs;
  store.app.startOver();
  assert.equal(await statusOf(store, old), 401);
  assert.equal(await statusOf(store, key), 200);
  assert.equal((await ownAccount(store, key)).oldKeyUntil, undefined);
  assert.equal((await changePlan(store, old, 'pro')).status, 401);
});

test('revokeOldNow with the new secret ends the old one at once, makes none, and may be repeated', async (t) => {
  const store = await startPetstore(t);
  const { old, key, keyId } = await rotated(store);
  assert.equal(await statusOf(store, old), 200);
  for (let i = 0; i < 2; i++) {
    const { status, body } = await changeKey(store, key, { revokeOldNow: true });
    assert.deepEqual([status, body], [201, { keyId }]);
    assert.equal(await statusOf(store, old), 401);
    assert.equal(await statusOf(store, key), 200);
  }
});

test('the end of an old secret ends the streams of the key', async (t) => {
  const store = await startPetstore(t);
  const origin = await store.listen();
  const { old, key } = await rotated(store);
  const reader = await openStream(t, origin, { key: old });
  await changeKey(store, key, { revokeOldNow: true });
  await until(() => reader.ended === 'whole');
});

test('streams from before the end of an old secret end with it after the hour, later ones stay', async (t) => {
  const store = await startPetstore(t);
  const origin = await store.listen();
  const { old, key } = await rotated(store);
  const reader = await openStream(t, origin, { key: old });
  store.nowMs += hourMs;
  const late = await openStream(t, origin, { key: old });
  assert.ok(late.status === 200 || late.status === 401);
  store.nowMs += 2_000;
  await until(() => reader.ended === 'whole' && (late.status === 401 || late.ended === 'whole'));
  const current = await openStream(t, origin, { key });
  store.nowMs += hourMs;
  await sleep(1_100);
  assert.equal(current.ended, 'no');
});

test('at most two secrets live: a second new one ends the oldest', async (t) => {
  const store = await startPetstore(t);
  const { old, key } = await rotated(store);
  const third = (await changeKey(store, key)).body.key;
  assert.deepEqual(
    await Promise.all([old, key, third].map((secret) => statusOf(store, secret))),
    [401, 200, 200],
  );
});

test('of many new secrets at once with one secret, one is made, and all others get 409', async (t) => {
  const store = await startPetstore(t);
  const { key, keyId } = await newMember(store);
  const answers = await Promise.all(Array.from({ length: 20 }, () => changeKey(store, key)));
  const made = answers.filter(({ status }) => status === 201);
  assert.equal(made.length, 1);
  assert.ok(answers.every(({ status, body }) => status === 201 || body.code === 'conflict'));
  assert.equal(await statusOf(store, made[0]?.body.key), 200);
  assert.equal((await ownAccount(store, key)).keyId, keyId);
});

test('after a lost response the old secret gets the new one by the same Idempotency-Key, once and for an hour', async (t) => {
  const store = await startPetstore(t);
  const { key: old } = await newMember(store);
  const again = { 'Idempotency-Key': randomUUID() };
  const lost = await changeKey(store, old, {}, again);
  const repeated = await changeKey(store, old, {}, again);
  assert.deepEqual([repeated.status, repeated.text], [201, lost.text]);
  assert.equal(repeated.headers['idempotency-replayed'], 'true');
  assert.equal(await statusOf(store, repeated.body.key), 200);
  assert.equal((await changeKey(store, old, { revokeOldNow: true }, again)).status, 422, 'another body');
  const stranger = await newMember(store);
  const other = await changeKey(store, stranger.key, {}, again);
  assert.equal(other.status, 201);
  assert.notEqual(other.body.key, lost.body.key, 'the value belongs to a key');
  for (const short of ['1', 'rotate', 'x'.repeat(31)]) {
    const { status, body } = await changeKey(store, repeated.body.key, {}, { 'Idempotency-Key': short });
    assert.deepEqual([status, body.code], [400, 'invalid_request']);
    assert.match(body.message, /Idempotency-Key/);
  }
  store.nowMs += hourMs;
  store.app.startOver();
  assert.equal((await changeKey(store, old, {}, again)).status, 401);
});

test('twins with one Idempotency-Key at once make one secret', async (t) => {
  const store = await startPetstore(t);
  const { key } = await newMember(store);
  const again = { 'Idempotency-Key': randomUUID() };
  const answers = await Promise.all(Array.from({ length: 10 }, () => changeKey(store, key, {}, again)));
  const secrets = new Set(answers.flatMap(({ body }) => body.key ?? []));
  assert.equal(secrets.size, 1);
  assert.ok(answers.every(({ status, body }) => status === 201 || body.code === 'idempotency_key_in_use'));
});

test('a key gets ten new secrets in an hour; the end of an old one is not counted', async (t) => {
  const store = await startPetstore(t);
  store.nowMs += 30 * 60_000;
  let { key } = await newMember(store);
  for (let i = 0; i < 10; i++) {
    key = (await changeKey(store, key)).body.key;
    assert.equal((await changeKey(store, key, { revokeOldNow: true })).status, 201);
  }
  const refused = await changeKey(store, key);
  assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '1800']);
  assert.equal((await changeKey(store, key, { revokeOldNow: true })).status, 201);
  store.nowMs += 30 * 60_000;
  assert.equal((await changeKey(store, key)).status, 201);
});

test('Idempotency-Keys for new secrets have the bounds of their key', async (t) => {
  const store = await startPetstore(t);
  const [{ key, keyId }, other] = [await newMember(store), await newMember(store)];
  await store.db.write(
    (sql) => sql`
      insert into idempotency_hours (workspace_id, account, hour, kept, bytes)
      values (0, ${`accounts ${keyId}`}, ${Math.floor(store.nowMs / hourMs)}, ${labKeptBounds.keys - 1}, 0)`,
  );
  const endOld = (key: string) =>
    changeKey(store, key, { revokeOldNow: true }, { 'Idempotency-Key': randomUUID() });
  assert.equal((await endOld(key)).status, 201);
  const { status, body } = await endOld(key);
  assert.deepEqual([status, body.code], [409, 'conflict']);
  assert.match(body.message, /limit of Idempotency-Keys/);
  assert.equal((await endOld(other.key)).status, 201);
});

test('a revoked key has no secret that works, and an unban reaches both', async (t) => {
  const store = await startPetstore(t);
  const { old, key, keyId } = await rotated(store);
  await times(121, () => ask(store, old));
  assert.equal(await statusOf(store, key), 403);
  await store.db.write((sql) => clearBan(sql, keyId, store.nowMs));
  store.app.startOver();
  assert.deepEqual([await statusOf(store, old), await statusOf(store, key)], [429, 429]);
  await store.db.write((sql) => revokeKey(sql, keyId, store.nowMs));
  store.app.startOver();
  for (const secret of [old, key]) {
    assert.equal(await statusOf(store, secret), 401);
    assert.equal((await changeKey(store, secret)).status, 401);
  }
});

test('no secret is stored, logged or repeated in a refusal, and each change is logged with the id of the key', async (t) => {
  const store = await startPetstore(t, { logLevel: 'trace' });
  const { key: old, keyId } = await newMember(store);
  const value = randomUUID();
  const { key } = (await changeKey(store, old, {}, { 'Idempotency-Key': value })).body;
  const refused = await changeKey(store, old);
  await changeKey(store, key, { revokeOldNow: true });
  const keys = await store.db.read`select * from api_keys`;
  const stored = (await contentOf(store.db.read)) + JSON.stringify(keys);
  for (const secret of [old, key, value]) {
    const random = secret.replace('pet_', '');
    assert.ok(!stored.includes(random));
    assert.ok(!refused.text.includes(random));
    assert.ok(!store.log.some((line) => line.includes(random)));
  }
  for (const what of ['got a new secret', 'ended its old secret']) {
    const lines = store.log.filter((line) => line.includes(what));
    assert.equal(lines.length, 1, what);
    assert.equal(JSON.parse(lines[0] as string).keyId, keyId);
  }
  assert.ok(await findKey(store.db.read, keyId));
});

test('requests that are under way with the old secret while it is replaced all succeed', async (t) => {
  const store = await startPetstore(t);
  const { key: old } = await newMember(store);
  const [rotation, ...answers] = await Promise.all([
    changeKey(store, old),
    ...Array.from({ length: 20 }, () => ask(store, old)),
  ]);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(remaining(await ask(store, rotation.body.key)), 39);
});
