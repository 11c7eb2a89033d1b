import type { FastifyBaseLogger } from 'fastify';
import { durationBounds, Histogram } from '../../foundation/histogram.ts';
import { plans } from '../../foundation/settings/plans.ts';
import { WrongValkeyUrl, withoutLogins } from '../../foundation/settings/valkey-url.ts';
import { inSpan } from '../../foundation/tracing.ts';
import { type Decision, isBanned, type LimitAccount, type LimitPolicy, unusedAccount } from './decision.ts';
import type { AccountOwner, Bannable, Limiter, Sharing } from './limiter.ts';
import type { LocalLimiter } from './local-limiter.ts';
import {
  accountName,
  argumentsOf,
  decideShared,
  findSharedAccount,
  probeName,
  type SharedDecision,
} from './shared-accounts.ts';
import { connectValkey, inTime, type Valkey } from './valkey.ts';

const usualConnectMs = 1_000;
const probeEveryMs = 500;
/** The maximum number of different reasons that are logged while Valkey is unavailable. */
const maxReasons = 10;

/** The text of a decision's span. OpenTelemetry has one name for Redis and Valkey. */
const decisionText = () => ({
  name: 'EVALSHA',
  attributes: { 'db.system.name': 'redis', 'db.operation.name': 'EVALSHA' },
});

export interface ShareOptions {
  urls: readonly string[];
  /** How long a request waits for Valkey. Then this instance counts alone. */
  timeoutMs: number;
  /** How long each step of connecting may take. Default: one second. */
  connectWithinMs?: number;
  prefix?: string;
  /** Milliseconds since 1970. Default: the clock of Valkey, which all instances share. */
  clock?: () => number;
}

/** Requests on which one command decides. */
interface Group {
  count: number;
  decided: Promise<SharedDecision[]>;
}

/**
 * Counts in Valkey, so that all instances share every account. After the first command that fails or times out, it closes the
 * connection and counts alone, from the last known accounts, without further waits. It reconnects in the background, and shares
 * again when a decision succeeds in the slot that failed.
 */
export class SharedLimiter implements Limiter {
  readonly sharing: Sharing = {
    ...{ isShared: false, fallbacks: 0, roundTrips: 0 },
    seconds: new Histogram(durationBounds),
  };
  readonly #local: LocalLimiter;
  readonly #options: ShareOptions;
  readonly #log: Pick<FastifyBaseLogger, 'warn' | 'info'>;
  #valkey: Valkey | undefined;
  /** The groups that further requests of this turn join, by account and policy. */
  readonly #groups = new Map<string, Group>();
  #probeName = probeName('start');
  /** The reasons that the log has named since Valkey became unavailable. */
  readonly #reasons = new Set<string>();
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(local: LocalLimiter, options: ShareOptions, log: Pick<FastifyBaseLogger, 'warn' | 'info'>) {
    this.#local = local;
    this.#options = options;
    this.#log = log;
  }

  /** Starts with shared limits, or alone if Valkey does not respond. Rejects with WrongValkeyUrl if the address can never be used. */
  async start(): Promise<void> {
    await this.#share().catch((error: Error) => {
      if (error instanceof WrongValkeyUrl) throw error;
      this.#goAlone(error);
    });
  }

  decide(subject: AccountOwner, policy: LimitPolicy): Decision | Promise<Decision> {
    return this.#valkey ? this.#ask(this.#valkey, subject, policy) : this.#decideAlone(subject, policy);
  }

  async #ask(valkey: Valkey, subject: AccountOwner, policy: LimitPolicy): Promise<Decision> {
    const name = accountName(subject, this.#options.prefix);
    const startMs = performance.now();
    try {
      const { decision, account } = await inSpan(decisionText, () =>
        this.#decideTogether(valkey, name, policy),
      );
      this.#local.adopt(subject, account);
      return decision;
    } catch (error) {
      if (this.#valkey === valkey) this.#probeName = probeName(name);
      this.#giveUp(valkey, error as Error);
      return this.#decideAlone(subject, policy);
    } finally {
      this.sharing.seconds.observeSince(startMs);
    }
  }

  /** Decides together on all requests of this turn of the event loop that have the same account and policy. */
  async #decideTogether(valkey: Valkey, name: string, policy: LimitPolicy) {
    const id = `${name} ${argumentsOf(policy)}`;
    const group = this.#groups.get(id) ?? this.#startGroup(id, valkey, name, policy);
    const place = group.count++;
    return (await group.decided)[place] as SharedDecision;
  }

  #startGroup(id: string, valkey: Valkey, name: string, policy: LimitPolicy): Group {
    const { promise: decided, resolve } = Promise.withResolvers<SharedDecision[]>();
    const group = { count: 0, decided };
    this.#groups.set(id, group);
    process.nextTick(() => {
      this.#groups.delete(id);
      resolve(this.#decideIn(valkey, name, policy, group.count));
    });
    return group;
  }

  #decideAlone(subject: AccountOwner, policy: LimitPolicy): Decision | Promise<Decision> {
    this.sharing.fallbacks++;
    return this.#local.decide(subject, policy);
  }

  #decideIn(valkey: Valkey, name: string, policy: LimitPolicy, count: number) {
    const { timeoutMs, clock } = this.#options;
    const onSend = () => {
      this.sharing.roundTrips++;
    };
    return inTime(timeoutMs, decideShared(valkey, name, policy, count, onSend, clock?.()));
  }

  peek(subject: AccountOwner, policy: LimitPolicy): Decision {
    return this.#local.peek(subject, policy);
  }

  /** Reads from Valkey, or uses the account of this instance if that fails. */
  async find(subject: AccountOwner): Promise<LimitAccount> {
    const valkey = this.#valkey;
    if (!valkey) return this.#local.find(subject);
    const { timeoutMs, prefix } = this.#options;
    this.sharing.roundTrips++;
    try {
      return (await inTime(timeoutMs, findSharedAccount(valkey, subject, prefix))) ?? unusedAccount;
    } catch {
      return this.#local.find(subject);
    }
  }

  /** Reads all keys from Valkey at once, or uses the accounts of this instance if that fails. */
  async findBanned(keys: readonly Bannable[]): Promise<Set<string>> {
    const valkey = this.#valkey;
    if (!valkey) return this.#local.findBanned(keys);
    const { timeoutMs, prefix, clock = Date.now } = this.#options;
    this.sharing.roundTrips++;
    try {
      const accounts = await inTime(
        timeoutMs,
        Promise.all(keys.map((key) => findSharedAccount(valkey, key, prefix))),
      );
      const nowMs = clock();
      const banned = keys.filter((key, i) => isBanned(accounts[i] ?? unusedAccount, key, nowMs));
      return new Set(banned.map(({ id }) => id));
    } catch {
      return this.#local.findBanned(keys);
    }
  }

  /** Accounts in Valkey expire by themselves. */
  forgetOld(memoryMs: number): Promise<void> {
    return this.#local.forgetOld(memoryMs);
  }

  forgetAll(): void {
    this.#local.forgetAll();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    const valkey = this.#valkey;
    this.#valkey = undefined;
    valkey?.disconnect();
    await this.#local.close();
  }

  /** Connects, and shares if a decision succeeds. */
  async #share(): Promise<void> {
    const { urls, connectWithinMs = usualConnectMs } = this.#options;
    const valkey = await connectValkey(urls, connectWithinMs);
    // Only the client of a single server emits it. In a cluster the command to the failed node rejects.
    valkey.once('error', (error: Error) => this.#giveUp(valkey, error));
    valkey.once('end', () => this.#giveUp(valkey, new Error('the connection ended')));
    try {
      await this.#decideIn(valkey, this.#probeName, { quota: plans.free }, 1);
      if (this.#isClosed) throw new Error('closed meanwhile');
    } catch (error) {
      valkey.disconnect();
      throw error;
    }
    this.#valkey = valkey;
    this.sharing.isShared = true;
    this.#reasons.clear();
    this.#log.info('limits are shared through Valkey');
  }

  #giveUp(valkey: Valkey, reason: Error): void {
    if (this.#valkey !== valkey) return;
    this.#valkey = undefined;
    valkey.disconnect();
    this.#goAlone(reason);
  }

  #goAlone(reason: Error): void {
    this.sharing.isShared = false;
    this.#logReason(reason);
    this.#retryLater();
  }

  /** Logs each reason once. */
  #logReason(error: Error): void {
    const reason = withoutLogins(error.message, this.#options.urls);
    if (this.#reasons.has(reason) || this.#reasons.size === maxReasons) return;
    const isFirst = this.#reasons.size === 0;
    this.#reasons.add(reason);
    this.#log.warn(
      { reason },
      isFirst
        ? 'Valkey is unavailable: until it is back, this instance counts limits alone'
        : 'Valkey is still unavailable, but for another reason',
    );
  }

  #retryLater(): void {
    if (this.#isClosed) return;
    const retry = () =>
      this.#share().catch((error: Error) => {
        if (!this.#isClosed) this.#logReason(error);
        this.#retryLater();
      });
    this.#retry = setTimeout(retry, probeEveryMs).unref();
  }
}
