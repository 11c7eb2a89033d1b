// Made from the description of accounts by "npm run generate" (d4cbcc276f74). Do not edit.

import type { Int64 } from './exact-json.ts';

/** A value of a later version of the API: an enumeration of an answer may have new ones. */
type Unknown = string & Record<never, never>;

/** @description Who wants a workspace and a key. */
export type NewAccount = {
  /** @description The code of an invite. Leave it out for open sign-up. */
  invite?: string;
  /** @description Your name, as others see it. Two people may have the same. */
  name: string;
};
/** @description A new workspace with its key. */
export type CreatedAccount = {
  /** @description The name of the workspace. It has the demo data. */
  workspace: string;
  /** @description The id of the key. */
  keyId: string;
  /** @description The API key. It cannot be shown again: the service stores only its hash. */
  key: string;
  plan: ('free' | 'pro' | 'business') | Unknown;
  /** @description The page of the lab with this key. Absent if the service has no lab. */
  labUrl?: string;
};
/** @description The body of every error. */
export type Error = {
  /** @description Machine-readable error code. Later versions may add codes: handle an unknown one by its status. */
  code: string;
  /** @description Human-readable description of the error. It names the wrong fields, at most ten. */
  message: string;
  /** @description The HTTP status code of the response. */
  status: number;
};
/** @description A minute or a day in which requests are counted. */
export type AccountWindow = {
  /** @description Requests admitted in this window. */
  limit: number;
  /** @description Requests left in this window. */
  remaining: number;
  /**
   * Format: int64
   * @description When it ends, in Unix seconds, like `X-RateLimit-Reset`.
   */
  reset: Int64;
};
/** @description The request that started the ban, if known. */
export type BanStart = {
  /** @description `X-Request-Id` of the response. */
  requestId: string;
  /** @description Its method. */
  method: string;
  /** @description The path without the query, cut at 200 characters. */
  path: string;
  /**
   * Format: date-time
   * @description When it was refused.
   */
  at: string;
};
/** @description The ban of the key, if there is one, and the length of the next ban. */
export type AccountBan = {
  /**
   * Format: date-time
   * @description When it started. Absent without a ban.
   */
  since?: string;
  /**
   * Format: date-time
   * @description When it ends. Absent without a ban.
   */
  until?: string;
  by?: BanStart;
  /** @description The length of the next ban if it started now, in seconds. */
  nextSeconds: number;
};
/** @description An active rehearsal or recording. */
export type ActiveOfAccount = {
  /** @description Its id. */
  id: string;
  /**
   * Format: date-time
   * @description When it expires.
   */
  expiresAt: string;
};
/** @description The state of a key, and what it can change. */
export type OwnAccount = {
  /**
   * Format: date-time
   * @description The time of the service.
   */
  at: string;
  /** @description The id of the key. */
  keyId: string;
  plan: ('free' | 'pro' | 'business' | 'enterprise') | Unknown;
  /** @description The name of its workspace. */
  workspace: string;
  /** @description How limits are counted. `on`: by all instances together. `off`: by each instance separately, as configured. `away`: by each instance separately, because the shared store is unreachable. */
  sharing: string;
  minute: AccountWindow;
  day: AccountWindow;
  /** @description The window that `X-RateLimit-*` describe: `minute` or `day`. */
  binding: string;
  /** @description The rate limit headers that a response would have now, with `Retry-After` if a request would be refused. */
  headers: {
    [key: string]: string;
  };
  /** @description Requests that got 429 in this minute. */
  strikes: number;
  /** @description The number of strikes in a minute that do not cause a ban. One more starts it. */
  strikesAllowed: number;
  ban: AccountBan;
  /** @description Open event streams of the key, on all instances. */
  openStreams: number;
  rehearsal?: ActiveOfAccount;
  recording?: ActiveOfAccount;
  /** @description The name of its member. Absent if an operator created the key. */
  name?: string;
  /** @description The plans to which the key can change itself, its own included. Empty: to none. */
  upgrades: (('free' | 'pro' | 'business') | Unknown)[];
  /**
   * Format: date-time
   * @description Until when an old secret of the key works, if there is one.
   */
  oldKeyUntil?: string;
  /** @description Whether the key can change its secret. The key of the demo cannot. */
  canChangeKey: boolean;
  /** @description Whether the key can delete its workspace. */
  canDelete: boolean;
};
/** @description The plan to change to. */
export type PlanChange = {
  /**
   * @description The new plan.
   * @enum {string}
   */
  plan: 'free' | 'pro' | 'business' | 'enterprise';
};
/** @description Whether to create a new secret, or to end the old one. */
export type KeyChange = {
  /** @description Ends the old secret now, and creates none. Send it with the new secret, once all programs use that. */
  revokeOldNow?: boolean;
};
/** @description The key after the change of its secret. */
export type ChangedKey = {
  /** @description The id of the key, which stays. */
  keyId: string;
  /** @description The new secret, the API key to send from now on. Absent with `revokeOldNow`. */
  key?: string;
  /**
   * Format: date-time
   * @description Until when the old secret works. Absent if it has ended.
   */
  oldKeyUntil?: string;
};
