import type { FastifyBaseLogger } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Database } from '../db/database.ts';
import { findAccount, forgetOldAccounts, saveAccounts } from './accounts.ts';
import { type Account, type Decision, decide, isBanned, look, newAccount, type Terms } from './decision.ts';
import type { Bannable, Limiter, Subject } from './limiter.ts';

/** How many accounts are kept in memory. The others are read from storage when they are used. */
const maxAccounts = 100_000;
const saveEveryMs = 500;
/** With so many changed accounts, saving does not wait for its timer: saving more at once would delay requests. */
const maxUnsaved = 4_000;
/**
 * How many changed accounts are kept in memory while they cannot be saved. Once there are so many, further accounts of
 * addresses are no longer kept for saving, but those of keys are: anyone can send from many addresses.
 */
const maxUnsavable = 100_000;

interface Entry extends Subject {
  account: Account;
}

/**
 * Counts in this process and saves what changed twice a second, so that a restart forgets nothing and a crash at most
 * the last second. One timer serves all accounts. An account that is not in memory is read from storage once.
 */
export class LocalLimiter implements Limiter {
  readonly #db: Database;
  readonly #clock: () => number;
  readonly #entries = new LRUCache<string, Entry>({ max: maxAccounts });
  /** Entries whose account differs from the stored one, also those that have left `#entries`. */
  readonly #unsaved = new Map<string, Entry>();
  readonly #loading = new Map<string, Promise<Entry>>();
  readonly #timer: NodeJS.Timeout;
  readonly #log: Pick<FastifyBaseLogger, 'warn' | 'info'>;
  #saving: Promise<void> | undefined;
  #isFailing = false;

  constructor(db: Database, clock: () => number, log: Pick<FastifyBaseLogger, 'warn' | 'info'>) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
    this.#timer = setInterval(() => this.save(), saveEveryMs).unref();
  }

  /** Decides at once if the account is in memory. */
  decide(subject: Subject, terms: Terms): Decision | Promise<Decision> {
    const entry = this.#atHand(subject);
    if (entry) return this.#charge(entry, terms);
    return this.#load(subject).then(
      (entry) => this.#charge(entry, terms),
      // Without storage there is no account to count in, and the request will fail.
      () => this.look(subject, terms),
    );
  }

  #charge(entry: Entry, terms: Terms): Decision {
    const { decision, account } = decide(entry.account, terms, this.#clock());
    if (account !== entry.account) {
      entry.account = account;
      this.#remember(entry);
    }
    return decision;
  }

  #remember(entry: Entry): void {
    if (this.#unsaved.size >= maxUnsaved && !this.#isFailing) this.save();
    if (this.#unsaved.size >= maxUnsavable && entry.workspaceId === 0) return;
    this.#unsaved.set(entry.id, entry);
  }

  /** Does not ask the storage. */
  look(subject: Subject, terms: Terms): Decision {
    return look(this.#atHand(subject)?.account ?? newAccount, terms, this.#clock());
  }

  async find(subject: Subject): Promise<Account> {
    return (this.#atHand(subject) ?? (await this.#load(subject))).account;
  }

  /** Does not ask the storage: a key is banned by a request, which brings its account here. */
  async findBanned(keys: readonly Bannable[]): Promise<Set<string>> {
    const nowMs = this.#clock();
    const banned = keys.filter((key) => isBanned(this.#atHand(key)?.account ?? newAccount, key, nowMs));
    return new Set(banned.map(({ id }) => id));
  }

  /** Takes over an account that Valkey decided on. It is saved once it is charged here. */
  adopt({ workspaceId, id }: Subject, account: Account): void {
    const entry = this.#atHand({ id });
    if (entry) entry.account = account;
    else this.#entries.set(id, { workspaceId, id, account });
  }

  #atHand({ id }: Pick<Subject, 'id'>): Entry | undefined {
    return this.#entries.get(id) ?? this.#unsaved.get(id);
  }

  #load(subject: Subject): Promise<Entry> {
    let loading = this.#loading.get(subject.id);
    if (!loading) {
      loading = this.#read(subject).finally(() => this.#loading.delete(subject.id));
      this.#loading.set(subject.id, loading);
    }
    return loading;
  }

  async #read({ workspaceId, id }: Subject): Promise<Entry> {
    const account = await findAccount(this.#db.read, workspaceId, id);
    const entry = { workspaceId, id, account: account ?? newAccount };
    this.#entries.set(id, entry);
    return entry;
  }

  /** Saves what has changed. What cannot be saved now is tried again at the next turn. */
  save(): Promise<void> {
    this.#saving ??= this.#saveAll().finally(() => {
      this.#saving = undefined;
    });
    return this.#saving;
  }

  async #saveAll(): Promise<void> {
    const batch = [...this.#unsaved.values()].map((entry) => ({ entry, saved: entry.account }));
    if (batch.length === 0) return;
    const rows = batch.map(({ entry: { workspaceId, id }, saved }) => ({ workspaceId, id, account: saved }));
    try {
      await this.#db.write((sql) => saveAccounts(sql, rows));
      if (this.#isFailing) this.#log.info('limit accounts are saved again');
      this.#isFailing = false;
    } catch (err) {
      if (!this.#isFailing)
        this.#log.warn({ err }, 'limit accounts cannot be saved; trying again twice a second');
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
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#saving;
    await this.save();
  }
}
