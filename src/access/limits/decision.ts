/**
 * How many requests are admitted, and when a caller is banned.
 *
 * Every caller has an account. A caller is a key, or an address for requests without a valid key. The account counts in two fixed
 * windows: the calendar minute and the calendar day, both in UTC. A request is admitted if both windows have room, and then
 * counts once in each. If either window is full, the request is refused and counts in neither. So a client that waits for the
 * end of the full window is admitted, however often it tried before. The response describes the binding window: the one with
 * fewer requests left. If both have the same number left, the day binds, because waiting for the next minute would not help.
 *
 * Each refused request is a strike. A client that collects more strikes in a minute than its plan admits in a minute (and more than
 * ten) is not backing off. Its key is banned, beginning with that request. The first ban is short. A ban that begins within the
 * memory of the previous one is longer by a factor, up to a maximum. A request during a ban changes nothing: it does not count
 * and does not prolong the ban. When a ban begins, the strikes return to zero. A ban ends when its time is over. An operator can clear the
 * bans of a key: all bans that began until then are void.
 *
 * `decide` is a pure function of the account, the policy and the time. It needs no timer: windows and bans end by comparison of
 * numbers.
 *
 * A clock can be set forward or back. These rules then hold:
 *
 * - The clock goes back a little: the account stays in its latest minute, if that minute ends within two minutes. So no calendar
 *   window is used twice. A request is delayed by two minutes at most. A day that was used up stays used up.
 * - The clock goes back further: the account was used while the clock was ahead. It returns to the minute of the clock, with a
 *   count of zero. A ban that began more than two minutes ahead ends, but the next ban is longer. A ban from before the clock
 *   went ahead continues, unless another ban has replaced it.
 * - The account remembers the day before its latest one. So a day continues where it was when the clock went ahead. It starts at
 *   zero if the clock showed two other days meanwhile. A day that was used while the clock was ahead also starts at zero when it
 *   really begins. If it did not, one wrong moment of the clock could cost a caller the whole day.
 * - Each time the clock goes ahead, the account gets the rest of the new windows. Each time it goes back far, the account gets one more
 *   minute within the same day. It never gets more.
 * - If `banClearedAtMs` is more than two minutes ahead of the clock, it has no effect. If it is within two minutes of the clock, it
 *   also voids everything that the account counted ahead of the clock.
 * - A clock that is behind looks the same as a clock that was ahead and is now right.
 *
 * No response promises a window that ends later than its own length from now.
 */

import { type BanRules, minStrikes, type Quota } from '../../foundation/settings/plans.ts';
import { dayMs, minuteMs } from '../../foundation/time.ts';

/** How far ahead of the clock the latest minute of an account may end after the clock went back. */
export const clockHoldMs = 2 * minuteMs;

/** The account of a new caller, in the order of storage. Times are milliseconds since 1970. Windows count from there. */
export const unusedAccount = {
  minute: 0,
  minuteCount: 0,
  day: 0,
  dayCount: 0,
  /** Refused requests in the minute. */
  strikes: 0,
  /** Bans in a row, each within the memory of the previous one. */
  bans: 0,
  bannedAtMs: 0,
  bannedUntilMs: 0,
  /** The day used before `day`. The clock may return to it. */
  earlierDay: 0,
  earlierDayCount: 0,
};
export type LimitAccount = Readonly<typeof unusedAccount>;

/** The limits of a caller. A caller without ban rules is never banned. */
export interface LimitPolicy {
  quota: Quota;
  banRules?: BanRules;
  /** Bans that began until this time are void. */
  banClearedAtMs?: number;
}

/** A window in a response. Its end is at most its length from now. */
export interface WindowState {
  quota: number;
  remaining: number;
  endsAtMs: number;
}

export interface Decision {
  outcome: 'admitted' | 'limited' | 'banned';
  /** Whether this request began the ban. */
  isNewBan: boolean;
  /** The time of the clock. Clients count seconds from it. */
  nowMs: number;
  minute: WindowState;
  day: WindowState;
  /** Beginning and end of the ban, when banned. */
  bannedAtMs: number;
  bannedUntilMs: number;
  /** If the request was not admitted: the earliest time at which one is. */
  retryAtMs: number;
}

/** Decides on one request. Returns the decision and the account after it. */
export function decide(
  account: LimitAccount,
  policy: LimitPolicy,
  clockMs: number,
): { decision: Decision; account: LimitAccount } {
  const { quota, banRules } = policy;
  const { current, nowMs } = advanceWindows(account, policy, clockMs);

  if (nowMs < current.bannedUntilMs) return answer('banned', current, quota, clockMs);

  if (hasRoom(current, quota)) {
    const charged = { ...current, minuteCount: current.minuteCount + 1, dayCount: current.dayCount + 1 };
    return answer('admitted', charged, quota, clockMs);
  }

  const strikes = current.strikes + 1;
  if (!banRules || strikes <= allowedStrikes(quota, banRules))
    return answer('limited', { ...current, strikes }, quota, clockMs);

  const bans = nextBan(current, banRules, nowMs);
  const bannedUntilMs = nowMs + banLengthMs(bans, banRules);
  const banned = { ...current, strikes: 0, bans, bannedAtMs: nowMs, bannedUntilMs };
  return answer('banned', banned, quota, clockMs, true);
}

const hasRoom = ({ minuteCount, dayCount }: LimitAccount, { perMinute, perDay }: Quota) =>
  minuteCount < perMinute && dayCount < perDay;

/** The number of strikes in a minute that do not cause a ban. */
export const allowedStrikes = ({ perMinute }: Quota, { strikesFactor }: BanRules) =>
  Math.max(perMinute * strikesFactor, minStrikes);

/** The length of a ban that would begin at the given time. */
export const nextBanMs = (account: LimitAccount, rules: BanRules, nowMs: number) =>
  banLengthMs(nextBan(account, rules, nowMs), rules);

/** The number of bans in a row, if one began at the given time. */
const nextBan = ({ bans, bannedAtMs }: LimitAccount, { memoryMs }: BanRules, nowMs: number) =>
  bans > 0 && nowMs < bannedAtMs + memoryMs ? bans + 1 : 1;

/** Multiplies step by step, because languages round powers differently. */
function banLengthMs(bans: number, { firstMs, longestMs, growth }: BanRules): number {
  let lengthMs = firstMs;
  for (let ban = 2; ban <= bans && lengthMs < longestMs; ban++) lengthMs *= growth;
  return Math.ceil(Math.min(lengthMs, longestMs));
}

/** The windows of an account, without charging it. The outcome is always `admitted`. */
export function peekWindows(account: LimitAccount, policy: LimitPolicy, clockMs: number): Decision {
  return toDecision(
    'admitted',
    advanceWindows(account, policy, clockMs).current,
    policy.quota,
    clockMs,
    false,
  );
}

/** The decision on a request at the given time, without charging the account. */
export function peek(account: LimitAccount, policy: LimitPolicy, clockMs: number): Decision {
  const { quota } = policy;
  const { current, nowMs } = advanceWindows(account, policy, clockMs);
  const isBanned = nowMs < current.bannedUntilMs;
  const outcome = isBanned ? 'banned' : hasRoom(current, quota) ? 'admitted' : 'limited';
  return toDecision(outcome, current, quota, clockMs, false);
}

/** Whether an account is banned at the given time. */
export function isBanned(
  account: LimitAccount,
  policy: Pick<LimitPolicy, 'banClearedAtMs'>,
  clockMs: number,
): boolean {
  const { current, nowMs } = advanceWindows(account, policy, clockMs);
  return nowMs < current.bannedUntilMs;
}

/** The account at a time, without past windows and cleared bans, and its own time, which may be up to two minutes ahead. */
export function advanceWindows(
  account: LimitAccount,
  { banClearedAtMs = 0 }: Pick<LimitPolicy, 'banClearedAtMs'>,
  clockMs: number,
): { current: LimitAccount; nowMs: number } {
  const clearedAtMs = banClearedAtMs <= clockMs + clockHoldMs ? banClearedAtMs : 0;
  const isCleared = account.bannedAtMs !== 0 && account.bannedAtMs <= clearedAtMs;
  const startMs = account.minute * minuteMs;
  const isReleased = startMs > clockMs && clearedAtMs >= clockMs - clockHoldMs;
  const goesBack = isReleased || startMs + minuteMs > clockMs + clockHoldMs;
  const nowMs = goesBack ? clockMs : Math.max(clockMs, startMs);
  const minute = Math.floor(nowMs / minuteMs);
  if (minute === account.minute && !isCleared) return { current: account, nowMs };
  const isSameMinute = minute === account.minute;
  const isForgotten = isCleared || isReleased;
  const isOver = goesBack && account.bannedAtMs > clockMs + clockHoldMs;
  const current = {
    minute,
    minuteCount: isSameMinute ? account.minuteCount : 0,
    ...dayAt(account, Math.floor(nowMs / dayMs)),
    strikes: isSameMinute ? account.strikes : 0,
    bans: isForgotten ? 0 : account.bans,
    bannedAtMs: isForgotten ? 0 : isOver ? clockMs : account.bannedAtMs,
    bannedUntilMs: isForgotten ? 0 : isOver ? clockMs : account.bannedUntilMs,
  };
  return { current, nowMs };
}

/** The count of a day, and the earlier day that the account remembers. */
function dayAt(account: LimitAccount, day: number) {
  const { dayCount, earlierDay, earlierDayCount } = account;
  if (day === account.day) return { day, dayCount, earlierDay, earlierDayCount };
  if (day > account.day) return { day, dayCount: 0, earlierDay: account.day, earlierDayCount: dayCount };
  return { day, dayCount: day === earlierDay ? earlierDayCount : 0, earlierDay, earlierDayCount };
}

function answer(
  outcome: Decision['outcome'],
  account: LimitAccount,
  quota: Quota,
  nowMs: number,
  isNewBan = false,
) {
  return { decision: toDecision(outcome, account, quota, nowMs, isNewBan), account };
}

/** The decision with an outcome and the account after it. */
export function toDecision(
  outcome: Decision['outcome'],
  account: LimitAccount,
  quota: Quota,
  nowMs: number,
  isNewBan: boolean,
): Decision {
  const minuteLeft = Math.max(0, quota.perMinute - account.minuteCount);
  const dayLeft = Math.max(0, quota.perDay - account.dayCount);
  const minuteEndsAtMs = (account.minute + 1) * minuteMs;
  const dayEndsAtMs = (account.day + 1) * dayMs;
  const fullUntilMs = dayLeft === 0 ? dayEndsAtMs : minuteLeft === 0 ? minuteEndsAtMs : 0;
  // After the clock went back, the windows of the account end later than the response may say.
  const minuteShownMs = Math.min(minuteEndsAtMs, nowMs + minuteMs);
  const dayShownMs = Math.min(dayEndsAtMs, nowMs + dayMs);
  return {
    outcome,
    isNewBan,
    nowMs,
    minute: { quota: quota.perMinute, remaining: minuteLeft, endsAtMs: minuteShownMs },
    day: { quota: quota.perDay, remaining: dayLeft, endsAtMs: dayShownMs },
    bannedAtMs: outcome === 'banned' ? account.bannedAtMs : 0,
    bannedUntilMs: outcome === 'banned' ? account.bannedUntilMs : 0,
    retryAtMs: outcome === 'admitted' ? nowMs : Math.max(account.bannedUntilMs, fullUntilMs),
  };
}
