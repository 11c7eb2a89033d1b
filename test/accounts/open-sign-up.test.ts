import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { suite, type TestContext, test } from 'node:test';
import { createKey, revokeKey } from '../../src/access/keys/store.ts';
import { deleteClosed, expireMembers, makeRoom } from '../../src/accounts/members.ts';
import { Fragment } from '../../src/db/sql.ts';
import { addStream, deleteStream } from '../../src/store/events/stream-store.ts';
import { dayMs, hourMs, minuteMs, newMember, signUp } from '../support/accounts.ts';
import { filledTables } from '../support/content.ts';
import { type JsonAnswer, type Petstore, type StoreSetup, startPetstore } from '../support/petstore.ts';
import { openStream } from '../support/streams.ts';
import { until } from '../support/until.ts';

const start = (t: TestContext, accounts: StoreSetup['accounts'] = {}, options: StoreSetup = {}) =>
  startPetstore(t, { seed: false, trustProxy: true, ...options, accounts: { signUp: true, ...accounts } });

let addresses = 0;
/** Signs up from an address, by default a new one. */
const join = (store: Petstore, address = `192.0.2.${++addresses}`, headers: Record<string, string> = {}) =>
  signUp(store, { name: 'Ada' }, { 'x-forwarded-for': address, ...headers });

const codeOf = ({ status, body }: JsonAnswer) => [status, body.code];
const retryAfterMs = ({ headers }: JsonAnswer) => Number(headers['retry-after']) * 1_000;

const use = (store: Petstore, { body: { key } }: JsonAnswer) => store.call('GET', '/pets?limit=1', { key });

/** Stores the last requests, closes what has expired, and deletes what is closed. */
async function sweep(store: Petstore): Promise<void> {
  await store.app.sweepAccounts();
  await deleteClosed(store.db, store.nowMs);
}

/** Whether the key still works. The service caches keys for half a second. */
async function isAlive(store: Petstore, answer: JsonAnswer): Promise<boolean> {
  store.app.startOver();
  return (await use(store, answer)).status !== 401;
}

const livingOf = async (store: Petstore) =>
  Number((await store.db.read`select count(*) from members where closed_at_ms is null`)[0]?.[0]);

test('an address creates five accounts a day and no more, whatever it deletes, and a repetition counts once', async (t) => {
  const store = await start(t);
  const value = { 'idempotency-key': randomUUID() };
  const first = await join(store, '192.0.2.1', value);
  assert.deepEqual([first.status, first.body.plan], [201, 'free']);
  for (let i = 0; i < 3; i++) assert.equal((await join(store, '192.0.2.1')).status, 201);
  await store.change((sql) => sql`update members set closed_at_ms = ${store.nowMs}`, undefined);
  await deleteClosed(store.db, store.nowMs);
  assert.equal((await join(store, '192.0.2.1')).status, 201);
  const refused = await join(store, '192.0.2.1');
  assert.deepEqual(codeOf(refused), [429, 'rate_limited']);
  assert.equal(retryAfterMs(refused), dayMs / 2, 'until midnight');
  assert.equal((await join(store, '192.0.2.1', value)).text, first.text);
  assert.equal((await join(store, '192.0.2.2')).status, 201);
  store.nowMs += dayMs / 2;
  assert.equal((await join(store, '192.0.2.1')).status, 201);
});

test('a /64 of IPv6 is one address, and a /48 has four times its sign-ups', async (t) => {
  const store = await start(t, { signUpsPerDay: 1 });
  assert.equal((await join(store, '2001:db8:1:2::1')).status, 201);
  assert.equal((await join(store, '2001:db8:1:2:ffff::9')).status, 429);
  for (const i of [3, 4, 5]) assert.equal((await join(store, `2001:db8:1:${i}::1`)).status, 201);
  assert.equal((await join(store, '2001:db8:1:6::1')).status, 429);
  assert.equal((await join(store, '2001:db8:2:6::1')).status, 201);
});

test('an address that has sent too many requests still gets the response to a repetition', async (t) => {
  const store = await start(t, { signUpsPerDay: 1 });
  const value = { 'idempotency-key': randomUUID() };
  const first = await join(store, '192.0.2.1', value);
  for (let i = 0; i < 60; i++) assert.equal((await join(store, '192.0.2.1')).status, 429);
  assert.equal((await join(store, '192.0.2.1', value)).text, first.text);
});

test('requests for sign-up are bounded before they reach the storage', async (t) => {
  const store = await start(t, { signUpsPerDay: 1 });
  assert.equal((await join(store, '192.0.2.1')).status, 201);
  for (let i = 1; i < 60; i++) assert.equal((await join(store, '192.0.2.1')).status, 429);
  await store.holdLimits();
  const { writes, reads } = store.db.counts;
  for (let i = 0; i < 100; i++) assert.equal((await join(store, '192.0.2.1')).status, 429);
  assert.deepEqual([store.db.counts.writes, store.db.counts.reads], [writes, reads]);
});

test('a web page of another site cannot sign its visitors up, but can use an invite', async (t) => {
  const store = await start(t, { signUpsPerDay: 100 });
  const cases: [origin: string, host: string, status: number][] = [
    ['http://localhost:8080', 'anything', 201],
    ['http://192.168.1.5:8080', '192.168.1.5:8080', 201],
    ['http://[2001:db8::1]:8080', '[2001:db8::1]:8080', 201],
    ['http://laptop.local:8080', 'laptop.local:8080', 201],
    ['http://laptop.local:8080', 'localhost:8080', 403],
    ['http://evil.local.example', 'evil.local.example', 403],
    ['https://evil.example', 'localhost:8080', 403],
    ['http://evil.example', 'evil.example', 403],
    ['http://192.168.1.5:8081', '192.168.1.5:8080', 403],
    ['null', 'localhost:8080', 403],
  ];
  for (const [origin, host, status] of cases)
    assert.equal((await join(store, '192.0.2.1', { origin, host })).status, status, `${origin} ${host}`);
  const evil = { origin: 'https://evil.example' };
  for (let i = 0; i < 62; i++) await join(store, '192.0.2.9', evil);
  assert.equal((await join(store, '192.0.2.9')).status, 201, 'it used up no try of its visitor');
  const preflight = { 'access-control-request-method': 'POST', ...evil };
  assert.equal((await store.send('OPTIONS', '/accounts', { key: null, headers: preflight })).status, 204);
  const { key } = await newMember(store);
  assert.equal((await store.call('GET', '/pets', { key })).status, 200);
});

test('an account that was never used expires after an hour, a used one 30 days after its last request', async (t) => {
  const store = await start(t);
  const [unused, used, class_] = [await join(store), await join(store), await newMember(store)];
  assert.equal((await use(store, used)).status, 200);
  store.nowMs += hourMs;
  await sweep(store);
  assert.equal(await livingOf(store), 3);
  store.nowMs += 2 * minuteMs;
  await sweep(store);
  assert.deepEqual([await isAlive(store, unused), await isAlive(store, used)], [false, true]);
  assert.match(await store.metrics(), /petstore_accounts_expired_total 1\n/);

  await store.app.sweepAccounts();
  store.nowMs += 30 * dayMs;
  await sweep(store);
  assert.equal(await isAlive(store, used), true);
  await sweep(store);
  await store.db.write(
    (sql) => sql`update members set last_request_at_ms = ${store.nowMs - 30 * dayMs - 2 * minuteMs}`,
  );
  await store.app.sweepAccounts();
  assert.equal(await isAlive(store, used), false);
  assert.equal(
    (await store.call('GET', '/pets', { key: class_.key })).status,
    200,
    'a class does not expire',
  );
});

test('nothing is left of an expired account, and a workspace to which an operator gave a key stays', async (t) => {
  const store = await start(t);
  const [gone, kept] = [await join(store), await join(store)];
  const idOf = async ({ body }: JsonAnswer) =>
    Number((await store.db.read`select id from workspaces where name = ${body.workspace}`)[0]?.[0]);
  const [goneId, keptId] = [await idOf(gone), await idOf(kept)];
  await store.db.write((sql) => createKey(sql, { workspaceId: keptId, plan: 'free' }, store.nowMs));
  await store.saveLimits();
  store.nowMs += 2 * hourMs;
  await sweep(store);
  assert.deepEqual(await filledTables(store.db.read, goneId), []);
  assert.equal(Number.isNaN(await idOf(gone)), true);
  assert.ok((await filledTables(store.db.read, keptId)).includes('pets'));
  assert.equal(await isAlive(store, kept), true);
});

test('an account with an open stream is used', async (t) => {
  const store = await start(t);
  const answer = await join(store);
  const [[workspaceId = 0] = []] = await store.db.read`select workspace_id from members`;
  const stream = { workspaceId: Number(workspaceId), id: 's', keyId: answer.body.keyId, instance: 'i' };
  await store.db.write((sql) => addStream(sql, stream, store.nowMs));
  store.nowMs += 2 * hourMs;
  await sweep(store);
  assert.equal(await livingOf(store), 1);
  await store.db.write((sql) => deleteStream(sql, stream));
  await sweep(store);
  assert.equal(await livingOf(store), 0);
});

suite('an account with a request is never closed, whatever another instance knows', () => {
  for (const [what, isUsed, idleMs] of [
    ['that was idle for two days, when all are taken', true, 2 * dayMs],
    ['that was idle for 31 days', true, 31 * dayMs],
    ['that was created two hours before', false, 2 * hourMs],
  ] as const)
    test(`an account ${what}`, async (t) => {
      const store = await start(t, { maxSignUps: 1 });
      const answer = await join(store);
      if (isUsed) await use(store, answer);
      await store.app.sweepAccounts();
      store.nowMs += idleMs;
      store.app.startOver();
      assert.equal((await use(store, answer)).status, 200);
      // Stored before its response, so it survives kill -9.
      assert.deepEqual(await store.db.read`select last_request_at_ms from members`, [[store.nowMs]]);
      assert.deepEqual(codeOf(await join(store)), [403, 'signup_closed']);
      assert.deepEqual(await expireMembers(store.db, store.nowMs), []);
      assert.equal(await isAlive(store, answer), true);
    });
});

test('of requests and sign-ups at once, each account serves its request and stays, or refuses it and made room', async (t) => {
  const store = await start(t, { maxSignUps: 10 });
  const members = await Promise.all(Array.from({ length: 10 }, () => join(store)));
  store.nowMs += 2 * dayMs;
  const answers = await Promise.all(
    members.map(async (member) => (await Promise.all([use(store, member), join(store)]))[0]),
  );
  for (const [i, { status }] of answers.entries())
    assert.equal(await isAlive(store, members[i] as JsonAnswer), status === 200);
  assert.equal(await livingOf(store), 10);
});

test('the end of a stream is a use, however long it was open', async (t) => {
  const store = await start(t, { maxSignUps: 1 });
  const answer = await join(store);
  const reader = await openStream(t, await store.listen(), { key: answer.body.key });
  store.nowMs += 2 * dayMs;
  reader.cut();
  await until(async () => (await store.db.read`select count(*) from streams`)[0]?.[0] === 0);
  assert.deepEqual(codeOf(await join(store)), [403, 'signup_closed']);
  assert.equal(await isAlive(store, answer), true);
});

test('below a lowered maximum several idle accounts make room, and an account whose key was revoked takes none', async (t) => {
  const store = await start(t, { maxSignUps: 3 });
  const members = [await join(store), await join(store), await join(store)];
  const { body } = members[0] as JsonAnswer;
  await store.db.write((sql) => revokeKey(sql, body.keyId, store.nowMs));
  members.push(await join(store));
  assert.deepEqual(
    members.map(({ status }) => status),
    [201, 201, 201, 201],
  );
  assert.deepEqual(codeOf(await join(store)), [403, 'signup_closed']);
  store.nowMs += 2 * hourMs;
  await store.db.write((sql) => makeRoom(sql, 1, '', store.nowMs));
  assert.equal(await livingOf(store), 2, 'one, and the revoked one');
});

test('an address gets 429 after 600 repetitions in a minute', async (t) => {
  const store = await start(t);
  const headers = { 'idempotency-key': randomUUID() };
  for (let i = 0; i < 600; i++) assert.equal((await join(store, '192.0.2.1', headers)).status, 201);
  assert.deepEqual(codeOf(await join(store, '192.0.2.1', headers)), [429, 'rate_limited']);
  assert.equal((await join(store)).status, 201);
});

test('a request costs no write after the first in an hour: the last one of each key is stored once a minute, with its last error', async (t) => {
  const store = await start(t);
  const answer = await join(store);
  const { key, keyId } = answer.body;
  await store.holdLimits();
  await use(store, answer);
  const before = store.db.counts.writes;
  for (let i = 0; i < 20; i++) await use(store, answer);
  await store.call('GET', '/pets/4711', { key });
  store.nowMs += 1_000;
  await use(store, answer);
  assert.equal(store.db.counts.writes, before);
  await store.app.sweepAccounts();
  await store.app.sweepAccounts();
  assert.equal(store.db.counts.writes, before + 1);
  const rows = await store.db.read`select id, last_request_at_ms, last_error, last_error_at_ms from members`;
  assert.deepEqual(rows, [[keyId, store.nowMs, 'not_found', store.nowMs - 1_000]]);
});

test('when all accounts are taken, the one idle longest makes room if that is a day, and otherwise nobody gets in', async (t) => {
  const store = await start(t, { maxSignUps: 3 });
  const [idle, ...active] = [await join(store), await join(store), await join(store)];
  store.nowMs += hourMs / 2;
  for (const one of active) await use(store, one);
  await use(store, idle);
  const full = await join(store);
  assert.deepEqual(codeOf(full), [403, 'signup_closed']);
  assert.ok(retryAfterMs(full) > 23 * hourMs && retryAfterMs(full) <= dayMs + 2 * minuteMs);
  assert.equal(await livingOf(store), 3);

  await store.app.sweepAccounts();
  store.nowMs += dayMs;
  for (const one of active) await use(store, one);
  await store.app.sweepAccounts();
  store.nowMs += 2 * minuteMs;
  assert.equal((await join(store)).status, 201);
  assert.equal(await livingOf(store), 3);
  assert.equal(await isAlive(store, idle), false);
  assert.ok(store.log.some((line) => line.includes(idle.body.keyId) && line.includes('an account expired')));
  assert.match(await store.metrics(), /petstore_accounts_expired_total 1\n/);
  for (const one of active) assert.equal(await isAlive(store, one), true);
  assert.deepEqual(codeOf(await join(store)), [403, 'signup_closed']);
});

test('without an account that may ever make room, nobody gets in, and the response says when to try again', async (t) => {
  const store = await start(t, { maxSignUps: 1 });
  const { keyId } = (await join(store)).body;
  const stream = { workspaceId: 2, id: 's', keyId, instance: 'i' };
  await store.db.write((sql) => addStream(sql, stream, store.nowMs));
  store.nowMs += 2 * dayMs;
  const full = await join(store);
  assert.deepEqual([...codeOf(full), retryAfterMs(full)], [403, 'signup_closed', hourMs]);
  assert.equal(await livingOf(store), 1);
});

test('a workspace whose deletion fails does not stop the deletion of others', async (t) => {
  const store = await start(t);
  const [first, second] = [await join(store), await join(store)];
  await store.db.write((sql) => sql`update members set closed_at_ms = ${store.nowMs}`);
  const isFirst = `workspace_id = (select id from workspaces where name = '${first.body.workspace}')`;
  const guard = new Fragment(
    [
      `create trigger guard before delete on api_keys when old.${isFirst} begin select raise(abort, 'no'); end`,
    ],
    [],
  );
  await store.db.write((sql) => sql`${guard}`);
  await assert.rejects(deleteClosed(store.db, store.nowMs));
  const names = (await store.db.read`select name from workspaces`).flat();
  assert.ok(names.includes(first.body.workspace));
  assert.ok(!names.includes(second.body.workspace));
});

test('of 50 sign-ups at once, as many get in as there is room for', async (t) => {
  const store = await start(t, { maxSignUps: 20 });
  const answers = await Promise.all(Array.from({ length: 50 }, () => join(store)));
  assert.equal(answers.filter(({ status }) => status === 201).length, 20);
  assert.equal(await livingOf(store), 20);
});
