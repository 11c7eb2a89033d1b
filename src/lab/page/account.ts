// What the page says about the account of a key. This module needs no browser.

import type { LabTypes } from '../../client/index.ts';
import { durationInWords } from '../../foundation/words.ts';
import { endToSecond, toCountdown } from './times.ts';

/** The page reads seconds since 1970 as a number. */
type Window = LabTypes.Account['minute'] & { reset: number };
export type KeyAccount = LabTypes.Account & { minute: Window; day: Window };

/**
 * `connecting`: no answer yet. `slowed`: the lab is asked too often; the page asks again at `retryAtMs`. `away`: the service does not
 * answer; the page asks again. `revoked`: the key is unknown or revoked. `lab-off`: the service has no lab.
 */
export type ConnectionState = 'no-key' | 'connecting' | 'live' | 'slowed' | 'away' | 'revoked' | 'lab-off';

/** Whether it is an account: a proxy may answer in place of the service. */
export const isAccount = ({ at, ban, minute, day }: Partial<KeyAccount>): boolean =>
  Number.isFinite(Date.parse(at ?? '')) &&
  ban !== undefined &&
  [minute, day].every(
    (window) => Number.isSafeInteger(window?.remaining) && Number.isSafeInteger(window?.reset),
  );

export const isBannedAt = ({ ban }: KeyAccount, nowMs: number): boolean =>
  ban.until !== undefined && nowMs < Date.parse(ban.until);

/** How many strikes the key has, and when they begin a ban. */
export function strikesInWords({ strikes, strikesAllowed, ban }: KeyAccount, banned: boolean): string {
  if (banned) return 'Strikes start again from 0 after the ban.';
  const allowed = strikesAllowed.toLocaleString('en');
  return `${strikes.toLocaleString('en')} of ${allowed}. Each request that gets 429 is a strike. More than ${allowed} in a minute start a ban of ${durationInWords(ban.nextSeconds)}.`;
}

/** Why a key cannot ask the API, and until when. */
export interface Block {
  reason: string;
  untilMs: number;
}

type Limits = { ban: { until?: string | undefined } } & Record<
  'minute' | 'day',
  Pick<Window, 'remaining' | 'reset'>
>;

/** The ban or the used-up window of an account, if there is one. */
export function blockOf({ ban, minute, day }: Limits): Block | undefined {
  if (ban.until) return { reason: 'This key is banned', untilMs: endToSecond(Date.parse(ban.until)) };
  if (day.remaining === 0)
    return { reason: 'This key has used all requests of the day', untilMs: day.reset * 1_000 };
  if (minute.remaining === 0)
    return { reason: 'This key has used all requests of the minute', untilMs: minute.reset * 1_000 };
  return undefined;
}

interface Known {
  connection: ConnectionState;
  account: KeyAccount | undefined;
  nowMs(): number;
}

const words: Partial<Record<ConnectionState, string>> = {
  'no-key': 'no key',
  revoked: 'unknown key',
  'lab-off': 'switched off',
  slowed: 'paused',
  away: 'paused',
};

/** The title of the page: what matters most, in words that fit a tab. A hidden page reads nothing new. */
export function pageTitleOf(known: Known, isHidden: boolean): string {
  const text = isHidden && known.account ? words.away : (words[known.connection] ?? stateOf(known));
  return text ? `${text} - Petstore lab` : 'Petstore lab';
}

function stateOf(known: Known): string | undefined {
  const { account } = known;
  if (!account) return undefined;
  const { ban, minute, day } = account;
  const leftMs = ban.until ? Date.parse(ban.until) - known.nowMs() : 0;
  if (leftMs > 0) return `banned ${toCountdown(leftMs)}`;
  const least = day.remaining < minute.remaining ? day : minute;
  return `${least.remaining} of ${least.limit} left`;
}

/** A part of a header field. */
export interface Piece {
  text: string;
  isMarked: boolean;
}

/** Header fields of limits, in pieces. Marks the binding window, which `X-RateLimit-*` describes alone, or the end of a ban. */
export function linesOf(
  headers: Readonly<Record<string, string>>,
  binding: string,
  isBanned: boolean,
): Piece[][] {
  return Object.entries(headers).map(([name, value]) => {
    if (/^(x-ratelimit-|retry-after$)/i.test(name)) return [{ text: `${name}: ${value}`, isMarked: true }];
    const namesBan = isBanned && /^ratelimit$/i.test(name);
    const parts = value.split(/(?<=,)/).map((text) => ({
      text,
      isMarked: namesBan || (!isBanned && text.trim().startsWith(`"${binding}"`)),
    }));
    return [{ text: `${name}: `, isMarked: false }, ...parts];
  });
}
