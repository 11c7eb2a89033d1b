import { createKey, type KeyOrigin } from '../../src/access/keys/store.ts';
import type { Plan } from '../../src/foundation/settings/plans.ts';
import type { Petstore } from './petstore.ts';

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
