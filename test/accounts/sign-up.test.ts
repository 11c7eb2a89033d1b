import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createInvite, type Invite } from '../../src/accounts/invites.ts';
import { type Petstore, type StoreSetup, startPetstore } from '../support/petstore.ts';

const hourMs = 3_600_000;

/** Sends a sign-up, without a key. */
const join = (store: Petstore, body: object, headers: Record<string, string> = {}) =>
  store.send('POST', '/accounts', { key: null, body, headers });

/** The code of a new invite. */
async function invite(store: Petstore, given: Partial<Invite> = {}): Promise<{ id: string; code: string }> {
  const facts = {
    plan: 'free',
    upgrades: [],
    uses: 30,
    expiresAtMs: store.nowMs + 8 * hourMs,
    ...given,
  } as const;
  return store.db.write((sql) => createInvite(sql, facts, store.nowMs));
}

const start = (t: TestContext, options: StoreSetup = {}) => startPetstore(t, { seed: false, ...options });

test('a code gives each person a workspace with the demo data, and a key of the plan of the invite', async (t) => {
  const store = await start(t);
  const { code } = await invite(store, { plan: 'pro' });
  const { status, body } = await join(store, { invite: code, name: 'Ada <b>Lovelace</b>' });
  assert.equal(status, 201);
  assert.match(body.workspace, /^ada-b-lovelace-b-[a-z0-9]{8}$/);
  assert.equal(body.plan, 'pro');
  assert.equal(body.labUrl, `http://localhost:8080/lab#key=${body.key}`);
  const pets = await store.call('GET', '/pets?limit=100', { key: body.key });
  assert.equal(pets.body.length, 20);
  assert.equal(pets.headers['x-ratelimit-limit'], '300');
  const other = await join(store, { invite: code, name: 'Ada <b>Lovelace</b>' });
  assert.notEqual(other.body.workspace, body.workspace);
  assert.notEqual(other.body.key, body.key);
});
