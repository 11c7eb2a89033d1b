import type { Account, Decision, Terms } from './decision.ts';

/** Whose account is charged. */
export interface Subject {
  /** The key's workspace; 0 for an address. */
  workspaceId: number;
  /** The key's id, or the address. */
  id: string;
}

/** A key whose ban is asked for. Bans that began until `pardonedAtMs` are void. */
export type Bannable = Subject & Pick<Terms, 'pardonedAtMs'>;

/** Keeps the accounts of all callers, and decides on their requests with `decide` of decision.ts. */
export interface Limiter {
  /** Decides on one request of `subject`, at once if nothing has to be waited for. */
  decide(subject: Subject, terms: Terms): Decision | Promise<Decision>;
  /** The state of the account of `subject` as far as this process knows, without charging it. */
  look(subject: Subject, terms: Terms): Decision;
  /** The account of `subject` after the last decision on it, as far as those know who share accounts. */
  find(subject: Subject): Promise<Account>;
  /** The ids of those keys that are banned now, as far as those know who share accounts. */
  findBanned(keys: readonly Bannable[]): Promise<Set<string>>;
  /** Forgets accounts that no longer matter, given how long a ban is remembered. */
  forgetOld(memoryMs: number): Promise<void>;
  /** Forgets all that this process keeps of accounts, since the storage was emptied. */
  forgetAll(): void;
  /** Saves what has to be saved and stops. */
  close(): Promise<void>;
  /** The state of sharing with other instances, if it is configured. */
  readonly sharing?: Readonly<Sharing>;
}

export interface Sharing {
  /** Whether accounts are shared now. */
  isShared: boolean;
  /** Decisions made by this instance alone while the shared store was away. */
  fallbacks: number;
  /** Round trips to the shared store. */
  roundTrips: number;
}
