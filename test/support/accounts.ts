import { createInvite, type Invite } from '../../src/accounts/invites.ts';
import type { JsonAnswer, Petstore } from './petstore.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** The id and the code of a new invite: by default for 30 Free keys, for eight hours. */
export function newInvite(
  store: Petstore,
  given: Partial<Omit<Invite, 'label'>> = {},
): Promise<{ id: string; code: string }> {
  const usual = { plan: 'free', upgrades: [], uses: 30, expiresAtMs: store.nowMs + 8 * hourMs } as const;
  return store.db.write((sql) => createInvite(sql, { ...usual, ...given }, store.nowMs));
}

/** Signs up, without a key. */
export const signUp = (
  store: Petstore,
  body: object,
  headers: Record<string, string> = {},
): Promise<JsonAnswer> => store.send('POST', '/accounts', { key: null, body, headers });

/** Creates a member of a new invite. Returns its key and what else the response says. */
export async function newMember(
  store: Petstore,
  given: Partial<Omit<Invite, 'label'>> = {},
): Promise<{ key: string; keyId: string; workspace: string }> {
  const { code } = await newInvite(store, given);
  return (await signUp(store, { invite: code, name: 'Ada' })).body;
}

/** The same by open sign-up. */
export const signedUp = async (store: Petstore): ReturnType<typeof newMember> =>
  (await signUp(store, { name: 'Ada' })).body;
