import { createKey, type KeyOrigin } from '../../src/access/keys/store.ts';
import { createInvite } from '../../src/accounts/invites.ts';
import { createMember } from '../../src/accounts/members.ts';
import type { OpenPlan, Plan } from '../../src/foundation/settings/plans.ts';
import type { Petstore } from './petstore.ts';

/** A member of an invite, whose members may change to `upgrades`. Without them it came by open sign-up. */
export function addMember(
  store: Petstore,
  { plan = 'free', upgrades }: { plan?: OpenPlan; upgrades?: OpenPlan[] } = {},
) {
  return store.change(async (sql) => {
    const { nowMs } = store;
    const invite = { plan, upgrades: upgrades ?? [], uses: 1, expiresAtMs: nowMs + 1 };
    const inviteId = upgrades && (await createInvite(sql, invite, nowMs)).id;
    return createMember(sql, { name: 'Ada', plan, ...(inviteId && { inviteId }) }, nowMs);
  }, undefined);
}

/** A key of the first workspace with an origin. */
export const addKeyOf = (store: Petstore, plan: Exclude<Plan, 'enterprise'>, origin?: KeyOrigin) =>
  store.db.write((sql) => createKey(sql, { workspaceId: 1, plan, ...(origin && { origin }) }, store.nowMs));

export const ownAccount = async (store: Petstore, key: string) =>
  (await store.send('GET', '/accounts/me', { key })).body;

export const changePlan = (store: Petstore, key: string, plan: unknown, headers = {}) =>
  store.send('POST', '/accounts/me/plan', { key, body: { plan }, headers });

export const changeKey = (store: Petstore, key: string, body: object = {}, headers = {}) =>
  store.send('POST', '/accounts/me/key', { key, body, headers });

export const deleteOwn = (store: Petstore, key: string) => store.send('DELETE', '/accounts/me', { key });
