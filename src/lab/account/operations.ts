import { findKey, unknownKey } from '../../access/keys/store.ts';
import { advanceWindows, allowedStrikes, nextBanMs, peek } from '../../access/limits/decision.ts';
import { allLimitHeaders, bindingWindow } from '../../access/limits/headers.ts';
import type { Limiter, Sharing } from '../../access/limits/limiter.ts';
import type { Sql } from '../../db/sql.ts';
import { contentInWords } from '../../db/tables.ts';
import { banRules, plans, type Quota } from '../../foundation/settings/plans.ts';
import { toTime } from '../../foundation/time.ts';
import { grouped } from '../../foundation/words.ts';
import { operation } from '../../http/operation.ts';
import { resource } from '../../http/responses.ts';
import { countStreams } from '../../store/events/stream-store.ts';
import { findActive, type Owner, recordings, rehearsals } from '../key-binding.ts';
import { maxResetRows, maxResetsPerDay } from '../lab-bounds.ts';
import { findBanStart } from './ban-starts.ts';
import { type ResetLimiter, resetOwn } from './reset-workspace.ts';
import { Account, toWindow, WorkspaceContent } from './schema.ts';

/** Where the limits of keys are counted. */
export interface AccountState {
  limiter: Pick<Limiter, 'find' | 'sharing'>;
  hasDraftLimits: boolean;
}

/** A key, its limits as `counted`, and what they would decide on a request now. Throws `unauthorized` if the key is gone. */
export async function findLimits(
  sql: Sql,
  { keyId, nowMs }: Owner & { nowMs: number },
  counted: ReturnType<Limiter['find']>,
) {
  const [key, account] = await Promise.all([findKey(sql, keyId), counted]);
  if (!key) throw unknownKey();
  const quota = (plans[key.plan] ?? key.quota) as Quota;
  const policy = { quota, banRules, banClearedAtMs: key.banClearedAtMs };
  return { key, account, policy, state: peek(account, policy, nowMs) };
}

/** Returns the state of a key: its limits as `found`, ban, streams, and its active rehearsal and recording. */
export async function readAccount(
  sql: Sql,
  { nowMs: clockMs, ...owner }: Owner & { nowMs: number },
  { limiter, hasDraftLimits }: AccountState,
  found = findLimits(sql, { ...owner, nowMs: clockMs }, limiter.find({ ...owner, id: owner.keyId })),
): Promise<Account> {
  const { keyId } = owner;
  const [{ key, account, policy, state }, openStreams, rehearsal, recording] = await Promise.all([
    found,
    countStreams(sql, owner),
    findActive(sql, rehearsals, owner, clockMs),
    findActive(sql, recordings, owner, clockMs),
  ]);
  const { plan, workspace } = key;
  const { current, nowMs } = advanceWindows(account, policy, clockMs);
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
    strikesAllowed: Math.floor(allowedStrikes(policy.quota, banRules)),
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

/** What these operations need from the instance that runs them. */
export interface AccountServices extends AccountState {
  /** Waits until the request that started the ban of a key is stored, if this instance banned it. */
  waitUntilBanStartKnown(keyId: string): Promise<void>;
  resets: ResetLimiter;
}

export const accountOperations = [
  operation({
    method: 'GET',
    path: '/account',
    id: 'getAccount',
    tag: 'Account',
    summary: 'Get the account of the key',
    description:
      'Returns the state of the key: its limits, strikes, ban, streams, and active rehearsal and recording. A strike is a request that got 429 and counts towards a ban. This request does not count against the limits, and works during a ban. If instances do not share limits, each returns its own counts; see `sharing`.',
    success: resource(Account, 'The account of the key.'),
    prepare: ({ keyId }, { waitUntilBanStartKnown }: AccountServices) => waitUntilBanStartKnown(keyId),
    handle: (sql, input, services: AccountServices) => readAccount(sql, input, services),
  }),

  operation({
    method: 'POST',
    path: '/workspace/reset',
    id: 'resetWorkspace',
    tag: 'Account',
    summary: 'Reset the workspace',
    description: `Removes all data of the workspace, and restores the demo data, with ids from 1. This affects all keys of the workspace. Every key may do it, even during a ban. Keys, limits, webhooks, events, recordings and rehearsals stay. The history gets \`workspace.reset\` and \`workspace.seeded\`. The stored responses of \`Idempotency-Key\`s to removed resources are removed, too. With more than ${grouped(maxResetRows)} ${contentInWords} the response is 409, and its message names the command to use. An instance resets a workspace at most once a second. Requests reset a workspace at most ${grouped(maxResetsPerDay)} times a day (UTC).`,
    success: resource(WorkspaceContent, 'The content of the workspace after the reset.'),
    handle: (sql, input, { resets }: AccountServices) =>
      resets.run(input.workspaceId, input, () => resetOwn(sql, input)),
  }),
];
