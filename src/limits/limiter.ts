import type { Decision, Terms } from './decision.ts';

/** Whose account is charged. */
export interface Subject {
  /** The key's workspace; 0 for an address. */
  workspaceId: number;
  /** The key's id, or the address. */
  id: string;
}

/** Keeps the accounts of all callers, and decides on their requests by `decide` of decision.ts. */
export interface Limiter {
  /** Decides on one request of `subject`: at once where nothing has to be waited for. */
  decide(subject: Subject, terms: Terms): Decision | Promise<Decision>;
  /** How the account of `subject` stands as far as this process knows, without charging it. */
  look(subject: Subject, terms: Terms): Decision;
  /** Forgets what no longer tells anything, given how long a ban is remembered. */
  forgetOld(memoryMs: number): Promise<void>;
  /** Keeps what has to be kept and stops. */
  close(): Promise<void>;
  /** How sharing with other instances goes, where it was asked for. */
  readonly sharing?: Readonly<Sharing>;
}

export interface Sharing {
  /** Whether accounts are shared now. */
  isShared: boolean;
  /** Decisions that were made alone meanwhile. */
  fallbacks: number;
  /** Questions to the shared store, each with its answer. */
  roundTrips: number;
}
