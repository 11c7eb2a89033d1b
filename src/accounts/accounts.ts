import type { Admission } from '../api/admission.ts';
import type { Database } from '../db/database.ts';
import type { Config } from '../foundation/settings/config.ts';
import { labQuota } from '../lab/lab-bounds.ts';
import type { Log } from '../observe/log/logger.ts';
import type { RequestOutcome } from '../observe/request-outcome.ts';
import { Activity } from './activity.ts';
import { expireMembers } from './members.ts';
import { createAccount } from './sign-up.ts';

/** The settings about accounts. */
export type AccountsConfig = Pick<
  Config,
  'signUp' | 'signUpsPerDay' | 'maxSignUps' | 'upgrades' | 'contact' | 'lab' | 'hasDraftLimits'
>;

/** What an instance keeps in memory about accounts. */
export class Accounts {
  /** Counts for the metrics. */
  readonly created = { invite: 0, signup: 0 };
  readonly refused: Record<string, number> = {
    ...{ invite_invalid: 0, invite_used_up: 0, signup_closed: 0, rate_limited: 0 },
  };
  expired = 0;
  readonly #activity = new Activity();
  readonly #parts: { db: Database; log: Log; clock: () => number };

  constructor(parts: { db: Database; log: Log; clock: () => number }) {
    this.#parts = parts;
  }

  /** Notes a response: the last request of a member, or a refused sign-up. */
  note(outcome: RequestOutcome): void {
    const { operation, code = '' } = outcome;
    this.#activity.note(outcome, this.#parts.clock());
    if (operation?.id === createAccount.id && code in this.refused)
      this.refused[code] = (this.refused[code] ?? 0) + 1;
  }

  /** Stores the last requests of members. */
  save(): Promise<void> {
    return this.#activity.save(this.#parts.db);
  }

  /** Stores the last requests of members, and closes members that have expired. Call it once a minute. */
  async sweep(): Promise<void> {
    const { db, log, clock } = this.#parts;
    await this.save();
    for (const keyId of await expireMembers(db, clock())) {
      this.expired++;
      log.info({ keyId }, 'an account expired');
    }
  }
}

/** Requests about accounts have limits of their own, and are never banned. */
export const accountsAccount: Admission['accountOf'] = ({ workspaceId, keyId }) => ({
  subject: { workspaceId, id: `accounts ${keyId}` },
  policy: { quota: labQuota },
});
