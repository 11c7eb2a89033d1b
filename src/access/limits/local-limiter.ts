import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Database } from '../../db/database.ts';
import { withTimeout } from '../../foundation/promises.ts';
import { findAccount, forgetOldAccounts, saveAccounts } from './accounts.ts';
import {
  type Decision,
  decide,
  isBanned,
  type LimitAccount,
  type LimitPolicy,
  peekWindows,
  unusedAccount,
} from './decision.ts';
import type { AccountOwner, Bannable, Limiter } from './limiter.ts';

/** The maximum number of accounts in memory. The others are read from storage when used. */
const maxAccounts = 100_000;
/** Together with the save itself, at most half a second. */
const saveEveryMs = 400;
/** How long an urgent save waits for more accounts, so that many callers share one save. */
const gatherMs = 10;
/** How long responses wait for their account to be saved. */
const maxWaitMs = 500;
/** With this many changed accounts a save begins before its timer, because a larger save would delay requests. */
const maxUnsaved = 4_000;
/** Changed accounts in memory while saving fails. Beyond it only keys are added, because anyone can send from many addresses. */
const maxUnsavable = 100_000;

interface Entry extends AccountOwner {
  account: LimitAccount;
  /** The save of a ban or a used-up window, while responses wait for it. */
  saving?: Promise<void> | undefined;
}

/**
 * Counts in this process and saves changed accounts every 400 ms, so that a restart loses nothing. A new ban or a used-up window is
 * saved before the response is sent, so a crash loses neither. A crash loses other counts of the last half second. While the storage is
 * unavailable, no response waits for it. An account that is not in memory is read from storage once.
 */
export class LocalLimiter implements Limiter {
  readonly #db: Database;
  readonly #clock: () => number;
  /** Bounded by size, because `max` would allocate room for all accounts at each start. */
  readonly #entries = new LRUCache<string, Entry>({ maxSize: maxAccounts, sizeCalculation: () => 1 });
  /** Entries whose account differs from the stored one, including those evicted from `#entries`. */
  readonly #unsaved = new Map<string, Entry>();
  readonly #loading = new Map<string, Promise<Entry>>();
  readonly #timer: NodeJS.Timeout;
  readonly #log: Pick<FastifyBaseLogger, 'warn' | 'info'>;
  #saving: Promise<void> | undefined;
  /** The entries to save without delay, and their save. */
  #urgent = new Set<Entry>();
  #savingUrgent: Promise<void> | undefined;
  /** The last save. Saves run one after another, so that no older account overwrites a newer one. */
  #last = Promise.resolve();
  #isFailing = false;

  constructor(db: Database, clock: () => number, log: Pick<FastifyBaseLogger, 'warn' | 'info'>) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
    this.#timer = setInterval(() => this.save(), saveEveryMs).unref();
  }

  /** Decides without waiting if the account is in memory. */
  decide(subject: AccountOwner, policy: LimitPolicy): Decision | Promise<Decision> {
    const entry = this.#atHand(subject);
    if (entry) return this.#charge(entry, policy);
    return this.#load(subject).then(
      (entry) => this.#charge(entry, policy),
      // Without storage there is no account to charge, and the request will fail.
      () => this.peek(subject, policy),
    );
  }

  #charge(entry: Entry, policy: LimitPolicy): Decision | Promise<Decision> {
    const { decision, account } = decide(entry.account, policy, this.#clock());
    if (account !== entry.account) {
      entry.account = account;
      this.#remember(entry);
    }
    const { outcome, isNewBan, minute, day } = decision;
    const isFull = minute.remaining === 0 || day.remaining === 0;
    if (this.#isFailing || (outcome === 'admitted' && !isFull)) return decision;
    if (outcome === 'admitted' || isNewBan) this.#saveAtOnce(entry);
    return entry.saving ? entry.saving.then(() => decision) : decision;
  }

  #saveAtOnce(entry: Entry): void {
    this.#urgent.add(entry);
    this.#savingUrgent ??= sleep(gatherMs).then(() =>
      this.#inTurn(() => {
        const urgent = this.#urgent;
        this.#urgent = new Set();
        this.#savingUrgent = undefined;
        return urgent;
      }),
    );
    const late = () => new Error('The save takes too long.');
    const saved = withTimeout(maxWaitMs, this.#savingUrgent, late).catch(() => {});
    const saving = saved.then(() => {
      if (entry.saving === saving) entry.saving = undefined;
    });
    entry.saving = saving;
  }

  #remember(entry: Entry): void {
    if (this.#unsaved.size >= maxUnsaved && !this.#isFailing) this.save();
    if (this.#unsaved.size >= maxUnsavable && entry.workspaceId === 0) return;
    this.#unsaved.set(entry.id, entry);
  }

  /** Does not read the storage. */
  peek(subject: AccountOwner, policy: LimitPolicy): Decision {
    return peekWindows(this.#atHand(subject)?.account ?? unusedAccount, policy, this.#clock());
  }

  async find(subject: AccountOwner): Promise<LimitAccount> {
    return (this.#atHand(subject) ?? (await this.#load(subject))).account;
  }

  /** Does not read the storage: only a request bans a key, and then the account is in memory. */
  async findBanned(keys: readonly Bannable[]): Promise<Set<string>> {
    const nowMs = this.#clock();
    const banned = keys.filter((key) => isBanned(this.#atHand(key)?.account ?? unusedAccount, key, nowMs));
    return new Set(banned.map(({ id }) => id));
  }

  /** Stores an account from Valkey in memory. It is saved when it is charged here. */
  adopt({ workspaceId, id }: AccountOwner, account: LimitAccount): void {
    const entry = this.#atHand({ id });
    if (entry) entry.account = account;
    else this.#entries.set(id, { workspaceId, id, account });
  }

  #atHand({ id }: Pick<AccountOwner, 'id'>): Entry | undefined {
    return this.#entries.get(id) ?? this.#unsaved.get(id);
  }

  #load(subject: AccountOwner): Promise<Entry> {
    let loading = this.#loading.get(subject.id);
    if (!loading) {
      loading = this.#read(subject).finally(() => this.#loading.delete(subject.id));
      this.#loading.set(subject.id, loading);
    }
    return loading;
  }

  async #read({ workspaceId, id }: AccountOwner): Promise<Entry> {
    const account = await findAccount(this.#db.read, workspaceId, id);
    const entry = { workspaceId, id, account: account ?? unusedAccount };
    this.#entries.set(id, entry);
    return entry;
  }

  /** Saves all changed accounts. The next save repeats what fails. */
  save(): Promise<void> {
    this.#saving ??= this.#inTurn(() => this.#unsaved.values()).finally(() => {
      this.#saving = undefined;
    });
    return this.#saving;
  }

  /** Waits for the previous save, then saves the accounts that `pick` returns. */
  #inTurn(pick: () => Iterable<Entry>): Promise<void> {
    this.#last = this.#last.then(() => this.#store(pick()));
    return this.#last;
  }

  async #store(entries: Iterable<Entry>): Promise<void> {
    const batch = Array.from(entries, (entry) => ({ entry, saved: entry.account }));
    if (batch.length === 0) return;
    const rows = batch.map(({ entry: { workspaceId, id }, saved }) => ({ workspaceId, id, account: saved }));
    try {
      await this.#db.write((sql) => saveAccounts(sql, rows));
      if (this.#isFailing) this.#log.info('limit accounts are saved again');
      this.#isFailing = false;
    } catch (err) {
      if (!this.#isFailing)
        this.#log.warn({ err }, `limit accounts cannot be saved; trying again every ${saveEveryMs} ms`);
      this.#isFailing = true;
      return;
    }
    for (const { entry, saved } of batch) if (entry.account === saved) this.#unsaved.delete(entry.id);
  }

  forgetOld(memoryMs: number): Promise<void> {
    return forgetOldAccounts(this.#db, this.#clock(), memoryMs);
  }

  forgetAll(): void {
    this.#entries.clear();
    this.#unsaved.clear();
    this.#urgent.clear();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([this.#saving, this.#savingUrgent]);
    await this.save();
  }
}
