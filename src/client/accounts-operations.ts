// Made from the description of accounts by "npm run generate" (d4cbcc276f74). Do not edit.

import type * as types from './accounts-description.ts';
import type { ChangeOptions, CreateOptions, ReadOptions } from './options.ts';

/** A client of accounts: every operation, by its operationId. */
export interface Accounts {
  /**
   * Create a workspace and a key: `POST /accounts`.
   *
   * Creates a workspace with the demo data, and a key for it. It needs no key. With the code of an `invite` it works as long as the invite has uses left. Without one it works only if the service is open to everybody; then an address can create only a few a day, and a workspace without requests is deleted after some time. Send an `Idempotency-Key`: a repetition after a lost response returns the same key, and takes no second use of the invite. Wrong codes get 429 after 60 a minute from one address, other requests after 600.
   */
  createAccount(body: types.NewAccount, options?: CreateOptions): Promise<types.CreatedAccount>;

  /**
   * Get your account: `GET /accounts/me`.
   *
   * Returns the plan, limits and ban of the key, and what the key can change itself: the plans in `upgrades`, its secret, and whether it can delete its workspace. Works during a ban, and with the old secret of the key.
   */
  getOwnAccount(options?: ReadOptions): Promise<types.OwnAccount>;

  /**
   * Delete your account: `DELETE /accounts/me`.
   *
   * Deletes the workspace of the key with all its data and keys. Only a key of an invite or of open sign-up can do this, and not during a ban. A deletion gives no use of an invite back. If the response is lost, send the request again: 401 `unauthorized` means that it is done.
   */
  deleteOwnAccount(options?: ChangeOptions): Promise<void>;

  /**
   * Change the plan: `POST /accounts/me/plan`.
   *
   * Changes the plan of the key, up or down, to one of `upgrades` in its account. The next response has the new limits, and other instances apply them within a second. Both windows keep their counts, so `X-RateLimit-Remaining` is what the new plan leaves of them, and never less than 0. Strikes stay: the next refused request is judged by the new plan. A ban stays until its end. Open streams and webhooks stay, too; the new plan counts when another is opened. A key changes its plan at most 10 times in an hour (UTC). The plan that it has already is no change.
   */
  changePlan(body: types.PlanChange, options?: CreateOptions): Promise<types.OwnAccount>;

  /**
   * Get a new secret: `POST /accounts/me/key`.
   *
   * Gives the key a new secret: an API key that replaces the one in your programs. The id of the key, its windows, strikes and ban stay. The old secret works for another hour, but it cannot change the plan, the secret or the account. Replace it everywhere. Then send `{"revokeOldNow": true}` with the new secret: it ends the old one at once, with all open streams of the key, and creates none. Send an `Idempotency-Key` of at least 32 random characters, such as a UUID. Without it, a lost response leaves you with the old secret alone. With it, send the request again with the old secret, within an hour: the response has the new one. A key gets at most 10 new secrets in an hour (UTC). Only two secrets work at once: a second new one ends the oldest. The key of the demo cannot change its secret.
   */
  changeKey(body: types.KeyChange, options?: CreateOptions): Promise<types.ChangedKey>;
}

/**
 * Where each operation is sent, and what is special about it: a body, a query, the events that record it, and an answer that is
 * no object.
 */
export const accountsTargets: Readonly<Record<keyof Accounts, string>> = {
  createAccount: 'POST /accounts body',
  getOwnAccount: 'GET /accounts/me',
  deleteOwnAccount: 'DELETE /accounts/me nothing',
  changePlan: 'POST /accounts/me/plan body',
  changeKey: 'POST /accounts/me/key body',
};
