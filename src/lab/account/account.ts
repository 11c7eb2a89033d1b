import type { Sql } from '../../db/sql.ts';
import { unauthorized } from '../../errors.ts';
import { countStreams } from '../../events/stream-store.ts';
import { toTime } from '../../instant.ts';
import { findKey } from '../../keys/store.ts';
import { allowedStrikes, look, nextBanMs, turn, type WindowState } from '../../limits/decision.ts';
import { plans, type Quota } from '../../limits/plans.ts';
import { findActive, type Owner, recordings, rehearsals } from '../bound.ts';
import type { LabServices } from '../services.ts';
import type { Account } from './schema.ts';

/** How a key stands now. */
export async function readAccount(
  sql: Sql,
  { workspaceId, keyId, nowMs: clockMs }: Owner & { nowMs: number },
  { limiter, banRules }: Pick<LabServices, 'limiter' | 'banRules'>,
): Promise<Account> {
  const owner = { workspaceId, keyId };
  const [key, account, openStreams, rehearsal, recording] = await Promise.all([
    findKey(sql, keyId),
    limiter.find({ workspaceId, id: keyId }),
    countStreams(sql, owner),
    findActive(sql, rehearsals, owner, clockMs),
    findActive(sql, recordings, owner, clockMs),
  ]);
  if (!key) throw unauthorized('The API key is unknown or revoked.', 'invalid_token');
  const { plan, workspace, pardonedAtMs } = key;
  const quota = (plans[plan] ?? key.quota) as Quota;
  const terms = { quota, banRules, pardonedAtMs };
  const { current, nowMs } = turn(account, terms, clockMs);
  const { minute, day } = look(account, terms, clockMs);
  const isBanned = nowMs < current.bannedUntilMs;
  return {
    ...{ keyId, plan, workspace },
    minute: toWindow(minute),
    day: toWindow(day),
    strikes: current.strikes,
    strikesAllowed: Math.floor(allowedStrikes(quota, banRules)),
    ban: {
      ...(isBanned && { since: toTime(current.bannedAtMs), until: toTime(current.bannedUntilMs) }),
      nextSeconds: Math.ceil(nextBanMs(current, banRules, nowMs) / 1_000),
    },
    openStreams,
    ...(rehearsal && { rehearsal }),
    ...(recording && { recording }),
  };
}

const toWindow = ({ quota, remaining, endsAtMs }: WindowState) => ({
  limit: quota,
  remaining,
  reset: Math.ceil(endsAtMs / 1_000),
});
