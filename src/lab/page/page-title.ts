import { toCountdown } from './times.ts';
import type { Account, ConnectionState } from './types.ts';

interface Known {
  connection: ConnectionState;
  account: Account | undefined;
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
export function titleOf(known: Known, isHidden: boolean): string {
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
