import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKey } from '../../src/access/keys/store.ts';
import { findInvite } from '../../src/accounts/invites.ts';
import { deleteClosed } from '../../src/accounts/members.ts';
import { ownAccountOperations } from '../../src/accounts/own-operations.ts';
import { findWorkspace, listWorkspaces } from '../../src/store/workspaces/store.ts';
import { newInvite, newMember, signedUp, signUp } from '../support/accounts.ts';
import { times } from '../support/limits.ts';
import { addKeyOf, deleteOwn, ownAccount } from '../support/own-account.ts';
import { type Petstore, startPetstore } from '../support/petstore.ts';
import { openStream } from '../support/streams.ts';
import { until } from '../support/until.ts';
import { statusesOf } from '../support/values.ts';

const ask = (store: Petstore, key: string) => store.call('GET', '/pets/1', { key });

for (const how of ['an invite', 'open sign-up'])
  test(`a member by ${how} deletes its workspace, data and keys, and a repetition gets 401`, async (t) => {
    const store = await startPetstore(t, { accounts: { signUp: true } });
    const others = await listWorkspaces(store.db.read);
    const { key, keyId, workspace } = await (how === 'an invite' ? newMember(store) : signedUp(store));
    const { id: workspaceId } = (await findWorkspace(store.db.read, workspace)) ?? {};
    const added = await store.call('POST', '/store/webhooks', { key, body: { url: 'http://127.0.0.1:9/' } });
    assert.equal(added.status, 201);
    assert.equal((await ownAccount(store, key)).canDelete, true);
    const { status, text } = await deleteOwn(store, key);
    assert.deepEqual([status, text], [204, '']);
    assert.equal((await deleteOwn(store, key)).status, 401);
    assert.equal((await ask(store, key)).status, 401);
    assert.deepEqual(
      await store.db.read`select id from webhooks where workspace_id = ${workspaceId ?? 0}`,
      [],
    );
    await deleteClosed(store.db, store.nowMs);
    assert.equal(await findWorkspace(store.db.read, workspace), undefined);
    assert.deepEqual(await listWorkspaces(store.db.read), others, 'nothing else changed');
    const lines = store.log.filter((line) => line.includes('deleted its workspace'));
    assert.equal(lines.length, 1);
    assert.equal(JSON.parse(lines[0] as string).keyId, keyId);
  });

test("keys of operators and of the demo cannot delete their workspace, nor can an operator's key in the workspace of a member", async (t) => {
  const store = await startPetstore(t);
  const member = await newMember(store);
  const { id = 0 } = (await findWorkspace(store.db.read, member.workspace)) ?? {};
  const guest = await store.db.write((sql) => createKey(sql, { workspaceId: id, plan: 'free' }, store.nowMs));
  assert.equal((await deleteOwn(store, guest.key)).body.code, 'account_kept');
  assert.equal((await ask(store, member.key)).status, 200);
  for (const origin of [undefined, 'demo'] as const) {
    const { key } = await addKeyOf(store, 'free', origin);
    assert.equal((await ownAccount(store, key)).canDelete, false);
    const { status, body } = await deleteOwn(store, key);
    assert.deepEqual([status, body.code], [403, 'account_kept']);
    assert.match(body.message, /workspace first/);
    assert.equal((await ask(store, key)).status, 200);
  }
});

test('a banned key cannot delete its workspace until the ban ends', async (t) => {
  const store = await startPetstore(t);
  const { key } = await newMember(store);
  await times(121, () => ask(store, key));
  const { status, body, headers } = await deleteOwn(store, key);
  assert.deepEqual([status, body.code, headers['retry-after']], [403, 'key_banned', '60']);
  store.nowMs += 60_000;
  assert.equal((await deleteOwn(store, key)).status, 204);
});

test('a deletion among many requests: each is answered before it or gets 401, and none fails or leaves a row', async (t) => {
  const store = await startPetstore(t);
  const before = await listWorkspaces(store.db.read);
  for (let round = 0; round < 3; round++) {
    const { key } = await newMember(store);
    const writes = Array.from({ length: 15 }, () => store.call('POST', '/store/orders', { key, body: {} }));
    const [deletion, ...answers] = await Promise.all([
      deleteOwn(store, key),
      ...writes,
      ...Array.from({ length: 15 }, () => ask(store, key)),
    ]);
    assert.equal(deletion.status, 204);
    for (const status of statusesOf(answers)) assert.ok([200, 201, 401].includes(status), String(status));
    assert.deepEqual(statusesOf(await times(3, () => ask(store, key))), [401, 401, 401]);
  }
  await deleteClosed(store.db, store.nowMs);
  assert.deepEqual(await listWorkspaces(store.db.read), before);
});

test('a deletion gives no use back to the invite', async (t) => {
  const store = await startPetstore(t);
  const { id, code } = await newInvite(store, { uses: 1 });
  const { key } = (await signUp(store, { invite: code, name: 'Ada' })).body;
  assert.equal((await deleteOwn(store, key)).status, 204);
  await deleteClosed(store.db, store.nowMs);
  assert.equal((await signUp(store, { invite: code, name: 'Ada' })).body.code, 'invite_used_up');
  assert.equal((await findInvite(store.db.read, id))?.used, 1);
});

test('of many deletions at once one is done, and the others get 401', async (t) => {
  const store = await startPetstore(t);
  const { key } = await newMember(store);
  const statuses = statusesOf(await Promise.all(Array.from({ length: 10 }, () => deleteOwn(store, key))));
  assert.equal(statuses.filter((status) => status === 204).length, 1);
  assert.ok(statuses.every((status) => status === 204 || status === 401));
});

test('a deletion ends the streams of the key', async (t) => {
  const store = await startPetstore(t);
  const origin = await store.listen();
  const { key } = await newMember(store);
  const reader = await openStream(t, origin, { key });
  await deleteOwn(store, key);
  await until(() => reader.ended === 'whole');
});

test('an account has no ETag, and If-Match does not stop its deletion', async (t) => {
  const store = await startPetstore(t);
  const { key } = await newMember(store);
  const { headers } = await store.send('GET', '/accounts/me', { key });
  assert.equal(headers.etag, undefined);
  const operation = ownAccountOperations.find(({ id }) => id === 'deleteOwnAccount');
  assert.ok(!operation?.errors.includes('precondition_failed'));
  const deleted = await store.send('DELETE', '/accounts/me', { key, headers: { 'if-match': '"other"' } });
  assert.equal(deleted.status, 204);
});
