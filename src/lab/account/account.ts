import { identifier, type Sql } from '../../db/sql.ts';
import { unauthorized } from '../../errors.ts';
import { countStreams } from '../../events/stream-store.ts';
import { findKey } from '../../keys/store.ts';
import { allowedStrikes, look, nextBanMs, turn, type WindowState } from '../../limits/decision.ts';
import { plans, type Quota } from '../../limits/plans.ts';
import type { Instance } from '../../operation.ts';
import type { Owner } from '../rehearsals/store.ts';
import type { Account } from './schema.ts';

/** How a key stands now. */
export async function readAccount(
  sql: Sql,
  { workspaceId, keyId, nowMs: clockMs, instance }: Owner & { nowMs: number; instance: Instance },
): Promise<Account> {
  const { limiter, banRules } = instance;
  const owner = { workspaceId, keyId };
  const [key, account, openStreams, rehearsal, recording] = await Promise.all([
    findKey(sql, keyId),
    limiter.find({ workspaceId, id: keyId }),
    countStreams(sql, owner),
    findActive(sql, 'rehearsals', owner, clockMs),
    findActive(sql, 'recordings', owner, clockMs),
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
      ...(isBanned && { since: timeOf(current.bannedAtMs), until: timeOf(current.bannedUntilMs) }),
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

/** What of the lab a key has active. */
async function findActive(
  sql: Sql,
  table: 'rehearsals' | 'recordings',
  { workspaceId, keyId }: Owner,
  nowMs: number,
): Promise<Account['recording']> {
  const [row] = await sql`
    select id, expires_at_ms from ${identifier(table)}
    where workspace_id = ${workspaceId} and key_id = ${keyId} and ended_at_ms is null and expires_at_ms > ${nowMs}
    order by created_at_ms desc, id desc limit 1`;
  return row && { id: String(row[0]), expiresAt: timeOf(row[1]) };
}

const timeOf = (ms: unknown) => new Date(Number(ms)).toISOString();
