import { findKey } from '../../access/keys/store.ts';
import { advanceWindows, allowedStrikes, nextBanMs, peek } from '../../access/limits/decision.ts';
import { allLimitHeaders, bindingWindow } from '../../access/limits/headers.ts';
import type { Limiter, Sharing } from '../../access/limits/limiter.ts';
import type { Sql } from '../../db/sql.ts';
import { unauthorized } from '../../foundation/errors.ts';
import { banRules, plans, type Quota } from '../../foundation/settings/plans.ts';
import { toTime } from '../../foundation/time.ts';
import { countStreams } from '../../store/events/stream-store.ts';
import { findActive, type Owner, recordings, rehearsals } from '../key-binding.ts';
import { findBanStart } from './ban-starts.ts';
import { type Account, toWindow } from './schema.ts';

/** Where the limits of keys are counted. */
export interface AccountState {
  limiter: Pick<Limiter, 'find' | 'sharing'>;
  hasDraftLimits: boolean;
}

/** Returns the state of a key: limits, ban, streams, and its active rehearsal and recording. */
export async function readAccount(
  sql: Sql,
  { workspaceId, keyId, nowMs: clockMs }: Owner & { nowMs: number },
  { limiter, hasDraftLimits }: AccountState,
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
  const { plan, workspace, banClearedAtMs } = key;
  const quota = (plans[plan] ?? key.quota) as Quota;
  const terms = { quota, banRules, banClearedAtMs };
  const { current, nowMs } = advanceWindows(account, terms, clockMs);
  const state = peek(account, terms, clockMs);
  const { bannedAtMs, bannedUntilMs } = state;
  const isBanned = state.outcome === 'banned';
  const by = isBanned ? await findBanStart(sql, owner, bannedAtMs) : undefined;
  return {
    at: toTime(clockMs),
    ...{ keyId, plan, workspace },
    sharing: toSharing(limiter.sharing),
    minute: toWindow(state.minute),
    day: toWindow(state.day),
    binding: bindingWindow(state),
    headers: { ...allLimitHeaders(state, hasDraftLimits) },
    strikes: current.strikes,
    strikesAllowed: Math.floor(allowedStrikes(quota, banRules)),
    ban: {
      ...(isBanned && { since: toTime(bannedAtMs), until: toTime(bannedUntilMs) }),
      ...(by && { by }),
      nextSeconds: Math.ceil(nextBanMs(current, banRules, nowMs) / 1_000),
    },
    openStreams,
    ...(rehearsal && { rehearsal }),
    ...(recording && { recording }),
  };
}

const toSharing = (sharing: Readonly<Sharing> | undefined) =>
  !sharing ? 'off' : sharing.isShared ? 'on' : 'away';
