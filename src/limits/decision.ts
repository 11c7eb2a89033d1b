/**
 * How many requests are admitted, and when a caller is banned.
 *
 * Every caller has an account: a key, or the address of those who come without a valid one. It counts in two fixed
 * windows at once, the calendar minute and the calendar day in UTC. A request is admitted if both windows have room, and
 * then counts once in each; if either is full it is refused and counts in neither, so that a client that waits until the
 * full window is over is admitted, whatever it tried meanwhile. The answer describes the binding window, the one with
 * the least room left; if both are equal the longer one, because waiting for the shorter would not help.
 *
 * Refused requests are strikes. When the strikes of one minute exceed what the plan admits in a minute (though never
 * fewer than ten), the client is not backing off, and its key is banned, from that very request on. The first ban is
 * short; a ban that begins within the memory of the one before grows by a factor, up to a longest. A request during a ban
 * changes nothing: it neither counts nor prolongs. When a ban begins the strikes start again from zero. When its
 * time has come it is over, and nothing else has to happen. A pardon makes every ban that began until then void.
 *
 * All of this is `decide`, a pure function of the account, the terms and the time. It needs no timer: windows and bans
 * pass by comparing numbers. Time never goes back for an account: if the clock does, by less than a day, the account stays
 * in its latest minute, so that no calendar window is ever used twice.
 */

import type { Quota } from './plans.ts';

export const minuteMs = 60_000;
export const dayMs = 86_400_000;

/** What is remembered about a caller. Times are milliseconds since 1970; windows are numbered from there. */
export interface Account {
  readonly minute: number;
  readonly minuteCount: number;
  readonly day: number;
  readonly dayCount: number;
  /** Refused requests in the minute. */
  readonly strikes: number;
  /** Bans in a row, each within the memory of the one before. */
  readonly bans: number;
  readonly bannedAtMs: number;
  readonly bannedUntilMs: number;
}

export const newAccount: Account = {
  minute: 0,
  minuteCount: 0,
  day: 0,
  dayCount: 0,
  strikes: 0,
  bans: 0,
  bannedAtMs: 0,
  bannedUntilMs: 0,
};

export interface BanRules {
  /** Strikes allowed per minute, as a multiple of what the plan admits in one. */
  strikesFactor: number;
  /** Length of the first ban. */
  firstMs: number;
  longestMs: number;
  /** The factor by which a ban is longer than the one before. */
  growth: number;
  /** How long after the start of a ban the next one is longer. */
  memoryMs: number;
}

export const defaultBanRules: BanRules = {
  strikesFactor: 1,
  firstMs: 60_000,
  longestMs: 3_600_000,
  growth: 2,
  memoryMs: dayMs,
};

/** Strikes allowed per minute at least, however small the plan. */
export const minStrikes = 10;

/** The limits of a caller. Without ban rules it is never banned. */
export interface Terms {
  quota: Quota;
  banRules?: BanRules;
  /** Bans that began until this time are void. */
  pardonedAtMs?: number;
}

/** A window as the answer describes it: what is left of its quota, and when it ends. */
export interface WindowState {
  quota: number;
  remaining: number;
  endsAtMs: number;
}

export interface Decision {
  outcome: 'admitted' | 'limited' | 'banned';
  /** Whether this request began the ban. */
  isNewBan: boolean;
  /** The time of the clock, from which a client counts the seconds. */
  nowMs: number;
  minute: WindowState;
  day: WindowState;
  /** Beginning and end of the ban, when banned. */
  bannedAtMs: number;
  bannedUntilMs: number;
  /** Earliest time at which a request is admitted, when this one was not. */
  retryAtMs: number;
}

/** Decides on one request. Returns the decision and the account after it. */
export function decide(
  account: Account,
  terms: Terms,
  clockMs: number,
): { decision: Decision; account: Account } {
  const { quota, banRules } = terms;
  const { current, nowMs } = turn(account, terms, clockMs);

  if (nowMs < current.bannedUntilMs) return answer('banned', current, quota, clockMs);

  if (hasRoom(current, quota)) {
    const charged = { ...current, minuteCount: current.minuteCount + 1, dayCount: current.dayCount + 1 };
    return answer('admitted', charged, quota, clockMs);
  }

  const strikes = current.strikes + 1;
  if (!banRules || strikes <= allowedStrikes(quota, banRules)) {
    return answer('limited', { ...current, strikes }, quota, clockMs);
  }

  const bans = nextBan(current, banRules, nowMs);
  const bannedUntilMs = nowMs + banLengthMs(bans, banRules);
  const banned = { ...current, strikes: 0, bans, bannedAtMs: nowMs, bannedUntilMs };
  return answer('banned', banned, quota, clockMs, true);
}

const hasRoom = ({ minuteCount, dayCount }: Account, { perMinute, perDay }: Quota) =>
  minuteCount < perMinute && dayCount < perDay;

/** How many strikes in a minute begin no ban. */
export const allowedStrikes = ({ perMinute }: Quota, { strikesFactor }: BanRules) =>
  Math.max(perMinute * strikesFactor, minStrikes);

/** How long a ban would be that began at the given time. */
export const nextBanMs = (account: Account, rules: BanRules, nowMs: number) =>
  banLengthMs(nextBan(account, rules, nowMs), rules);

/** Which in its row a ban would be. */
const nextBan = ({ bans, bannedAtMs }: Account, { memoryMs }: BanRules, nowMs: number) =>
  bans > 0 && nowMs < bannedAtMs + memoryMs ? bans + 1 : 1;

/** Multiplies step by step, so that it is the same number in every language; powers are rounded differently. */
function banLengthMs(bans: number, { firstMs, longestMs, growth }: BanRules): number {
  let lengthMs = firstMs;
  for (let ban = 2; ban <= bans && lengthMs < longestMs; ban++) lengthMs *= growth;
  return Math.ceil(Math.min(lengthMs, longestMs));
}

/** The state of an account, as a decision that charges nothing. */
export function look(account: Account, terms: Terms, clockMs: number): Decision {
  return describe('admitted', turn(account, terms, clockMs).current, terms.quota, clockMs, false);
}

/** What a request would meet at the given time, as a decision that charges nothing. */
export function foresee(account: Account, terms: Terms, clockMs: number): Decision {
  const { quota } = terms;
  const { current, nowMs } = turn(account, terms, clockMs);
  const isBanned = nowMs < current.bannedUntilMs;
  const outcome = isBanned ? 'banned' : hasRoom(current, quota) ? 'admitted' : 'limited';
  return describe(outcome, current, quota, clockMs, false);
}

/** Whether an account is banned at the given time. */
export function isBanned(account: Account, terms: Pick<Terms, 'pardonedAtMs'>, clockMs: number): boolean {
  const { current, nowMs } = turn(account, terms, clockMs);
  return nowMs < current.bannedUntilMs;
}

/**
 * The account at the given time, and its own time, which never goes back. Windows that are over are empty, and pardoned
 * bans are forgotten.
 */
export function turn(
  account: Account,
  { pardonedAtMs = 0 }: Pick<Terms, 'pardonedAtMs'>,
  clockMs: number,
): { current: Account; nowMs: number } {
  // An account from far in the future was used while the clock was wrong.
  const known = account.minute * minuteMs > clockMs + dayMs ? newAccount : account;
  const nowMs = Math.max(clockMs, known.minute * minuteMs);
  const minute = Math.floor(nowMs / minuteMs);
  const isPardoned = known.bannedAtMs !== 0 && known.bannedAtMs <= pardonedAtMs;
  if (minute === known.minute && !isPardoned) return { current: known, nowMs };
  const day = Math.floor(nowMs / dayMs);
  const current = {
    minute,
    minuteCount: minute === known.minute ? known.minuteCount : 0,
    day,
    dayCount: day === known.day ? known.dayCount : 0,
    strikes: minute === known.minute ? known.strikes : 0,
    bans: isPardoned ? 0 : known.bans,
    bannedAtMs: isPardoned ? 0 : known.bannedAtMs,
    bannedUntilMs: isPardoned ? 0 : known.bannedUntilMs,
  };
  return { current, nowMs };
}

function answer(
  outcome: Decision['outcome'],
  account: Account,
  quota: Quota,
  nowMs: number,
  isNewBan = false,
) {
  return { decision: describe(outcome, account, quota, nowMs, isNewBan), account };
}

/** The decision with this outcome, for the account after it. */
export function describe(
  outcome: Decision['outcome'],
  account: Account,
  quota: Quota,
  nowMs: number,
  isNewBan: boolean,
): Decision {
  const minuteLeft = Math.max(0, quota.perMinute - account.minuteCount);
  const dayLeft = Math.max(0, quota.perDay - account.dayCount);
  const minuteEndsAtMs = (account.minute + 1) * minuteMs;
  const dayEndsAtMs = (account.day + 1) * dayMs;
  return {
    outcome,
    isNewBan,
    nowMs,
    minute: { quota: quota.perMinute, remaining: minuteLeft, endsAtMs: minuteEndsAtMs },
    day: { quota: quota.perDay, remaining: dayLeft, endsAtMs: dayEndsAtMs },
    bannedAtMs: outcome === 'banned' ? account.bannedAtMs : 0,
    bannedUntilMs: outcome === 'banned' ? account.bannedUntilMs : 0,
    retryAtMs:
      outcome === 'admitted' ? nowMs : retryAt(account, minuteLeft, minuteEndsAtMs, dayLeft, dayEndsAtMs),
  };
}

/** The end of the ban, or of a window that is still full then. */
function retryAt(
  account: Account,
  minuteLeft: number,
  minuteEndsAtMs: number,
  dayLeft: number,
  dayEndsAtMs: number,
) {
  const fullUntilMs = dayLeft === 0 ? dayEndsAtMs : minuteLeft === 0 ? minuteEndsAtMs : 0;
  return Math.max(account.bannedUntilMs, fullUntilMs);
}
