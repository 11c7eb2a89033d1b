import type { FastifyRequest } from 'fastify';
import type { Histogram } from '../../foundation/histogram.ts';
import { plans } from '../../foundation/settings/plans.ts';
import { addressGroupOf } from '../../http/address.ts';
import type { Decision, LimitAccount, LimitPolicy } from './decision.ts';

/** The key or address whose account is charged. */
export interface AccountOwner {
  /** The key's workspace; 0 for an address. */
  workspaceId: number;
  /** The key's id, or the address. */
  id: string;
}

/** Addresses are limited by the Free numbers and never banned. */
export const byAddress: LimitPolicy = { quota: plans.free };

/** The account of a group of addresses, which pays for a request without a valid key. */
export const groupSubject = (group: string): AccountOwner => ({ workspaceId: 0, id: group });

export const addressOf = (request: FastifyRequest) => groupSubject(addressGroupOf(request));

/** A key that may be banned. Bans that began until `banClearedAtMs` are void. */
export type Bannable = AccountOwner & Pick<LimitPolicy, 'banClearedAtMs'>;

/** Keeps the accounts of all callers, and decides on their requests. */
export interface Limiter {
  /** Decides on one request of `subject` and charges it. Returns a promise only if it must wait. */
  decide(subject: AccountOwner, policy: LimitPolicy): Decision | Promise<Decision>;
  /** The windows of `subject` as known to this process, without charging it. */
  peek(subject: AccountOwner, policy: LimitPolicy): Decision;
  /** The account of `subject` after the last decision on it, shared or local. */
  find(subject: AccountOwner): Promise<LimitAccount>;
  /** The ids of the keys that are banned now. */
  findBanned(keys: readonly Bannable[]): Promise<Set<string>>;
  /** Deletes stored accounts that no longer matter. `memoryMs`: how long a ban is remembered. */
  forgetOld(memoryMs: number): Promise<void>;
  /** Clears the accounts in memory, because the storage was emptied. */
  forgetAll(): void;
  /** Saves all changes and stops. */
  close(): Promise<void>;
  /** The state of sharing with other instances, if configured. */
  readonly sharing?: Readonly<Sharing>;
}

export interface Sharing {
  isShared: boolean;
  /** Decisions that this instance made alone while Valkey was unavailable. */
  fallbacks: number;
  /** Round trips to Valkey. */
  roundTrips: number;
  /** Seconds of each decision in Valkey, including those that failed. */
  seconds: Histogram;
}
