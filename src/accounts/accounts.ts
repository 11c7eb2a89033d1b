import type { Limiter } from '../access/limits/limiter.ts';
import type { Admission } from '../api/admission.ts';
import type { Database } from '../db/database.ts';
import type { ErrorCode } from '../foundation/errors.ts';
import type { Config } from '../foundation/settings/config.ts';
import { labQuota } from '../lab/lab-bounds.ts';
import type { Log } from '../observe/log/logger.ts';
import type { RequestOutcome } from '../observe/request-outcome.ts';
import { Activity } from './activity.ts';
import { expireMembers } from './members.ts';
import type { AccountsServices } from './operations.ts';
import { createAccount, Tries } from './sign-up.ts';

/** The settings about accounts. */
export type AccountsConfig = Pick<
  Config,
  'signUp' | 'signUpsPerDay' | 'maxSignUps' | 'upgrades' | 'contact' | 'lab' | 'hasDraftLimits'
>;

interface Parts {
  config: AccountsConfig;
  db: Database;
  limiter: Limiter;
  log: Log;
  clock: () => number;
  stopwatch: () => number;
  /** Waits until the request that started the ban of a key is stored, if this instance banned it. */
  waitUntilBanStartKnown(keyId: string): Promise<void>;
}

const refusals = ['invite_invalid', 'invite_used_up', 'signup_closed', 'rate_limited'] as const;

/** What an instance keeps in memory about accounts, and what their operations share. */
export class Accounts {
  /** Counts for the metrics. */
  readonly created = { invite: 0, signup: 0 };
  readonly refused: Partial<Record<ErrorCode, number>> = Object.fromEntries(
    refusals.map((code) => [code, 0]),
  );
  expired = 0;
  readonly services: AccountsServices;
  readonly #activity: Activity;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    const { config, db, limiter, log, clock, stopwatch, waitUntilBanStartKnown } = parts;
    this.#parts = parts;
    this.#activity = new Activity(db, log, clock, stopwatch);
    this.services = {
      ...{
        rules: config,
        hasLab: config.lab,
        tries: new Tries(db, limiter, stopwatch),
        created: this.created,
      },
      ...{
        limiter,
        hasDraftLimits: config.hasDraftLimits,
        upgrades: config.upgrades,
        contact: config.contact,
      },
      ...{ waitUntilBanStartKnown, log },
    };
  }

  /** Notes a response: the last request of a member, or a refused sign-up. */
  note(outcome: RequestOutcome): void {
    this.#activity.note(outcome);
    const { operation, code } = outcome;
    if (code !== undefined && operation?.id === createAccount.id && code in this.refused)
      this.refused[code as ErrorCode] = (this.refused[code as ErrorCode] ?? 0) + 1;
  }

  /** Closes members that have expired. */
  async expire(): Promise<void> {
    const { db, log, clock } = this.#parts;
    const keyIds = await expireMembers(db, clock());
    this.expired += keyIds.length;
    for (const keyId of keyIds) log.info({ keyId }, 'an account expired');
  }

  /** Stores the last requests of members that are due. */
  saveActivity(): Promise<void> {
    return this.#activity.save();
  }

  /** Stores the last requests of members that are not stored yet. */
  close(): Promise<void> {
    return this.#activity.save(true);
  }
}

/** Requests about accounts have limits of their own, and are never banned. */
export const accountsAccount: Admission['accountOf'] = ({ workspaceId, keyId }) => ({
  subject: { workspaceId, id: `accounts ${keyId}` },
  policy: { quota: labQuota },
});
