import { toCountdown } from './times.ts';
import type { Account } from './types.ts';

/** What a title goes by. The session knows it. */
interface Known {
  standing: string;
  account: Account | undefined;
  nowMs(): number;
}

/** What matters most now, in the words that fit a tab. */
function matter({
  standing,
  account,
  nowMs,
}: {
  standing: string;
  account: Account | undefined;
  nowMs: number;
}) {
  if (standing in words) return words[standing];
  if (!account) return undefined;
  const { ban, minute, day } = account;
  const banEndsMs = ban.until ? Date.parse(ban.until) : 0;
  if (banEndsMs > nowMs) return `banned ${toCountdown(banEndsMs - nowMs)}`;
  const least = day.remaining < minute.remaining ? day : minute;
  return `${least.remaining} of ${least.limit} left`;
}

const words: Readonly<Record<string, string>> = {
  'no-key': 'no key',
  revoked: 'unknown key',
  'lab-off': 'switched off',
  slowed: 'paused',
  away: 'paused',
};

/** The title of the page. One that is hidden learns nothing new. */
export function titleOf(known: Known, isHidden: boolean): string {
  const { standing, account } = known;
  const now = isHidden && account ? words.away : matter({ standing, account, nowMs: known.nowMs() });
  return now ? `${now} - Petstore lab` : 'Petstore lab';
}
