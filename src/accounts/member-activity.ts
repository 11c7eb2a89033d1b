import type { Caller } from '../access/keys/store.ts';
import type { Database } from '../db/database.ts';
import type { Sql } from '../db/sql.ts';
import type { Config } from '../foundation/settings/config.ts';
import { hourMs } from '../foundation/time.ts';
import type { Owner } from '../lab/key-binding.ts';
import type { Log } from '../observe/log/logger.ts';
import type { RequestOutcome } from '../observe/request-outcome.ts';
import { expireMembers } from './members.ts';
import { createAccount } from './sign-up.ts';

/** The settings about accounts. */
export type AccountsConfig = Pick<
  Config,
  'signUp' | 'signUpsPerDay' | 'maxSignUps' | 'upgrades' | 'contact' | 'lab' | 'hasDraftLimits'
>;

/** The last request of a member, and its last error. */
interface LastRequest extends Owner {
  atMs: number;
  error?: { code: string; atMs: number };
}

/** What an instance keeps in memory about accounts: counts, and the last requests of members. */
export class MemberActivity {
  /** Counts for the metrics. */
  readonly created = { invite: 0, signup: 0 };
  readonly refused: Record<string, number> = {
    ...{ invite_invalid: 0, invite_used_up: 0, signup_closed: 0, rate_limited: 0 },
  };
  expired = 0;
  /** By key. They are stored once a minute, so that no request pays for a write. */
  #unsaved = new Map<string, LastRequest>();
  /** By key: the last use that was stored, if that is less than an hour ago. */
  readonly #savedAtMs = new Map<string, number>();
  readonly #parts: { db: Database; log: Log; clock: () => number };

  constructor(parts: { db: Database; log: Log; clock: () => number }) {
    this.#parts = parts;
  }

  /** On a look-up of a key: stores the first use of a sign-up in an hour before it is handled, so that it is not idle. False: it was closed. */
  async storeUse({ workspaceId, keyId, bindings }: Caller): Promise<boolean> {
    const atMs = this.#parts.clock();
    if (bindings.origin !== 'signup' || atMs - (this.#savedAtMs.get(keyId) ?? 0) < hourMs) return true;
    const store = (sql: Sql) => sql`
      update members set last_request_at_ms = ${atMs}
      where workspace_id = ${workspaceId} and id = ${keyId} and closed_at_ms is null returning id`;
    // What cannot be stored now is stored with the others.
    const stored = await this.#parts.db.write(store).catch(() => undefined);
    this.#savedAtMs.set(keyId, atMs);
    return stored?.length !== 0;
  }

  /** Notes a response: the last request of a member, or a refused sign-up. */
  note({ operation, code, sender }: RequestOutcome): void {
    if (operation?.id === createAccount.id && code !== undefined && code in this.refused)
      this.refused[code] = (this.refused[code] ?? 0) + 1;
    const origin = sender?.bindings.origin;
    if (!sender || (origin !== 'invite' && origin !== 'signup')) return;
    const { workspaceId, keyId } = sender;
    const atMs = this.#parts.clock();
    const error = code === undefined ? this.#unsaved.get(keyId)?.error : { code, atMs };
    this.#unsaved.set(keyId, { workspaceId, keyId, atMs, ...(error && { error }) });
    if (operation?.success.kind !== 'stream' || code !== undefined) return;
    // The stream may have been open for days, and protects the account no longer.
    this.#savedAtMs.delete(keyId);
    void this.storeUse(sender);
  }

  /** Stores the last requests of members. */
  async save(): Promise<void> {
    const saved = this.#unsaved;
    this.#unsaved = new Map();
    // One order for all instances, so that they cannot deadlock.
    const rows = [...saved.values()].sort((a, b) => a.workspaceId - b.workspaceId);
    if (rows.length === 0) return;
    try {
      await this.#parts.db.write((sql) =>
        Promise.all(
          rows.map(
            ({ workspaceId, keyId, atMs, error }) => sql`
              update members set
                last_request_at_ms = case when last_request_at_ms > ${atMs} then last_request_at_ms else ${atMs} end,
                last_error = coalesce(${error?.code ?? null}, last_error),
                last_error_at_ms = coalesce(${error?.atMs ?? null}, last_error_at_ms)
              where workspace_id = ${workspaceId} and id = ${keyId}`,
          ),
        ),
      );
      for (const { keyId, atMs } of rows) this.#savedAtMs.set(keyId, atMs);
    } catch (error) {
      this.#unsaved = new Map([...saved, ...this.#unsaved]);
      throw error;
    }
  }

  /** Stores the last requests of members, and closes members that have expired. Call it once a minute. */
  async sweep(): Promise<void> {
    const { db, clock } = this.#parts;
    await this.save();
    for (const [keyId, atMs] of this.#savedAtMs) if (clock() - atMs >= hourMs) this.#savedAtMs.delete(keyId);
    for (const keyId of await expireMembers(db, clock())) this.noteExpired(keyId);
  }

  /** Counts and logs that a member of open sign-up was closed. */
  noteExpired(keyId: string): void {
    this.expired++;
    this.#parts.log.info({ keyId }, 'an account expired');
  }
}
