import type { FastifyBaseLogger } from 'fastify';
import { endOldSecret, lockOwnKey, replaceSecret, type StoredKey, setPlan } from '../access/keys/store.ts';
import { limitRefusal, whomToAsk } from '../access/limits/headers.ts';
import type { Limiter } from '../access/limits/limiter.ts';
import type { Transaction } from '../db/database.ts';
import type { Sql } from '../db/sql.ts';
import { ApiError } from '../foundation/errors.ts';
import { type OpenPlan, openPlanNames, type Plan } from '../foundation/settings/plans.ts';
import { hourMs, toTime } from '../foundation/time.ts';
import { countThisHour } from '../http/idempotency.ts';
import { operation } from '../http/operation.ts';
import { empty, untagged } from '../http/responses.ts';
import { type AccountServices, findLimits, readAccount } from '../lab/account/operations.ts';
import type { Owner } from '../lab/key-binding.ts';
import { deleteStreamsOfKey } from '../store/events/stream-store.ts';
import { closeMember, findMembership } from './members.ts';
import { ChangedKey, KeyChange, OwnAccount, PlanChange } from './schema.ts';
import { signUpPlan } from './sign-up.ts';

/** Changes of the plan, and new secrets, of a key in an hour (UTC). */
export const maxChangesPerHour = 10;

/** The plans to which keys of open sign-up can change themselves, if no setting says otherwise. */
const usualUpgrades: readonly OpenPlan[] = ['free', 'pro'];

/** What these operations need from the instance that runs them. */
export interface OwnAccountServices extends Omit<AccountServices, 'resets'> {
  /** The setting for keys that no invite created. */
  upgrades: readonly OpenPlan[] | undefined;
  /** Whom to ask for other plans. Empty: the operator. */
  contact: string;
  log: Pick<FastifyBaseLogger, 'info'>;
}

/** Who sends a request, and what the request has counted: read before its transaction, which must not wait for Valkey. */
type Sender = Owner & { nowMs: number; counted?: ReturnType<Limiter['find']> };

async function prepare(sender: Sender, { limiter, waitUntilBanStartKnown }: OwnAccountServices) {
  const { workspaceId, keyId } = sender;
  sender.counted = limiter.find({ workspaceId, id: keyId });
  await Promise.all([sender.counted, waitUntilBanStartKnown(keyId)]);
}

const limitsOf = (sql: Sql, sender: Sender) =>
  findLimits(sql, sender, sender.counted as ReturnType<Limiter['find']>);

const isOfMember = ({ origin }: StoredKey) => origin === 'invite' || origin === 'signup';

/** The plans to which a key can change itself, and the name of its member. An operator's key can change to none. */
async function findRights(sql: Sql, key: StoredKey, setting: OwnAccountServices['upgrades']) {
  const { id: keyId, workspaceId, origin, plan } = key;
  const member = isOfMember(key) ? await findMembership(sql, { workspaceId, keyId }) : undefined;
  const usual = { demo: openPlanNames, invite: [], signup: usualUpgrades } as const;
  // Sign-ups can return to the plan that they began with.
  const given = origin === 'signup' && setting?.length ? [...new Set([signUpPlan, ...setting])] : setting;
  const open: readonly OpenPlan[] = origin ? (member?.upgrades ?? given ?? usual[origin]) : [];
  // Without a way back a key cannot leave its plan.
  return { name: member?.name, upgrades: open.some((one) => one === plan) ? [...open] : [] };
}

/** What a key is, and what it can change. */
async function readOwn(sql: Sql, sender: Sender, services: OwnAccountServices): Promise<OwnAccount> {
  const found = limitsOf(sql, sender);
  const [account, { key }] = await Promise.all([readAccount(sql, sender, services, found), found]);
  const { oldSecretUntilMs = 0 } = key;
  const { name, upgrades } = await findRights(sql, key, services.upgrades);
  return {
    ...account,
    ...(name !== undefined && { name }),
    upgrades,
    canChangeKey: key.origin !== 'demo',
    canDelete: isOfMember(key),
    ...(oldSecretUntilMs > sender.nowMs && { oldKeyUntil: toTime(oldSecretUntilMs) }),
  };
}

/** Counts a change. Throws `rate_limited` beyond the maximum of an hour. */
async function countChange(sql: Sql, { workspaceId, keyId, nowMs }: Sender, what: 'plan' | 'secret') {
  const count = await countThisHour(sql, { workspaceId, id: `${what} ${keyId}` }, 1, nowMs);
  if (count <= maxChangesPerHour) return;
  const seconds = Math.ceil((hourMs - (nowMs % hourMs)) / 1_000);
  throw new ApiError(
    'rate_limited',
    `This key has got a new ${what} ${maxChangesPerHour} times in this hour (UTC), the maximum. Try again after ${seconds} s.`,
    { 'Retry-After': String(seconds) },
  );
}

async function changePlan(
  sql: Transaction,
  sender: Sender & { secretHash: string; plan: Plan; body: { plan: Plan } },
  services: OwnAccountServices,
): Promise<OwnAccount> {
  const { plan } = sender.body;
  const key = await lockOwnKey(sql, sender);
  // For the log: that of the request is as cached.
  sender.plan = key.plan;
  if (plan !== key.plan) {
    const { upgrades } = await findRights(sql, key, services.upgrades);
    if (!upgrades.some((open) => open === plan)) throw notOpen(key.plan, upgrades, services);
    await countChange(sql, sender, 'plan');
    await setPlan(sql, sender.keyId, plan, undefined);
  }
  return readOwn(sql, sender, services);
}

function notOpen(current: Plan, upgrades: readonly OpenPlan[], { contact }: OwnAccountServices): ApiError {
  const others = upgrades.filter((plan) => plan !== current).join(' or ') || 'no other plan';
  return new ApiError(
    'plan_by_agreement',
    `This key is on the plan ${current}. It can change to ${others} by itself. For another plan, ask ${whomToAsk(contact)}.`,
  );
}

async function changeKey(
  sql: Transaction,
  sender: Sender & { secretHash: string; body: { revokeOldNow?: boolean } },
): Promise<ChangedKey> {
  const { keyId, nowMs, body } = sender;
  if ((await lockOwnKey(sql, sender)).origin === 'demo')
    throw new ApiError(
      'account_kept',
      'The key of the demo keeps its secret, because others use it too. To replace it, its operator revokes it and restarts the service.',
    );
  // Its streams, too, since somebody else may read them.
  if (await endOldSecret(sql, sender)) await deleteStreamsOfKey(sql, sender);
  if (body.revokeOldNow) return { keyId };
  await countChange(sql, sender, 'secret');
  const { key, oldSecretUntilMs } = await replaceSecret(sql, sender, nowMs);
  return { keyId, key, oldKeyUntil: toTime(oldSecretUntilMs) };
}

async function deleteOwn(
  sql: Transaction,
  sender: Sender & { secretHash: string },
  services: OwnAccountServices,
): Promise<void> {
  const key = await lockOwnKey(sql, sender);
  if (!isOfMember(key))
    throw new ApiError(
      'account_kept',
      `Only its operator can delete the workspace ${key.workspace}. Ask ${whomToAsk(services.contact)}.`,
    );
  const { state } = await limitsOf(sql, sender);
  if (state.outcome === 'banned') throw limitRefusal(state);
  await closeMember(sql, sender, sender.nowMs);
}

export const ownAccountOperations = [
  operation({
    method: 'GET',
    path: '/me',
    id: 'getOwnAccount',
    tag: 'Accounts',
    summary: 'Get your account',
    description:
      'Returns the plan, limits and ban of the key, and what the key can change itself: the plans in `upgrades`, its secret, and whether it can delete its workspace. Works during a ban, and with the old secret of the key.',
    success: untagged(200, OwnAccount, 'The account of the key.'),
    prepare,
    handle: (sql, input, services: OwnAccountServices) => readOwn(sql, input, services),
  }),

  operation({
    method: 'POST',
    path: '/me/plan',
    id: 'changePlan',
    tag: 'Accounts',
    summary: 'Change the plan',
    description: `Changes the plan of the key, up or down, to one of \`upgrades\` in its account. The next response has the new limits, and other instances apply them within a second. Both windows keep their counts, so \`X-RateLimit-Remaining\` is what the new plan leaves of them, and never less than 0. Strikes stay: the next refused request is judged by the new plan. A ban stays until its end. Open streams and webhooks stay, too; the new plan counts when another is opened. A key changes its plan at most ${maxChangesPerHour} times in an hour (UTC). The plan that it has already is no change.`,
    success: untagged(200, OwnAccount, 'The account of the key, with its new plan.'),
    body: PlanChange,
    errors: ['plan_by_agreement'],
    changesKey: true,
    prepare,
    handle: (sql, input, services: OwnAccountServices) => changePlan(sql, input, services),
    committed({ keyId, plan: before, body: { plan } }, _result, { log }: OwnAccountServices) {
      if (plan !== before) log.info({ keyId, before, plan }, 'a key changed its plan');
    },
  }),

  operation({
    method: 'POST',
    path: '/me/key',
    id: 'changeKey',
    tag: 'Accounts',
    summary: 'Get a new secret',
    description: `Gives the key a new secret: an API key that replaces the one in your programs. The id of the key, its windows, strikes and ban stay. The old secret works for another hour, but it cannot change the plan, the secret or the account. Replace it everywhere. Then send \`{"revokeOldNow": true}\` with the new secret: it ends the old one at once, with all open streams of the key, and creates none. Send an \`Idempotency-Key\` of at least 32 random characters, such as a UUID. Without it, a lost response leaves you with the old secret alone. With it, send the request again with the old secret, within an hour: the response has the new one. A key gets at most ${maxChangesPerHour} new secrets in an hour (UTC). Only two secrets work at once: a second new one ends the oldest. The key of the demo cannot change its secret.`,
    success: untagged(201, ChangedKey, 'The key after the change.'),
    body: KeyChange,
    errors: ['account_kept', 'conflict'],
    changesKey: true,
    returnsKey: true,
    handle: (sql, input, _services: OwnAccountServices) => changeKey(sql, input),
    committed({ keyId }, { key }, { log }: OwnAccountServices) {
      log.info({ keyId }, key === undefined ? 'a key ended its old secret' : 'a key got a new secret');
    },
  }),

  operation({
    method: 'DELETE',
    path: '/me',
    id: 'deleteOwnAccount',
    tag: 'Accounts',
    summary: 'Delete your account',
    description:
      'Deletes the workspace of the key with all its data and keys. Only a key of an invite or of open sign-up can do this, and not during a ban. A deletion gives no use of an invite back. If the response is lost, send the request again: 401 `unauthorized` means that it is done.',
    success: empty('The workspace and its keys are deleted.'),
    errors: ['account_kept', 'conflict', 'key_banned'],
    changesKey: true,
    changesWebhooks: true,
    prepare,
    handle: (sql, input, services: OwnAccountServices) => deleteOwn(sql, input, services),
    committed: ({ keyId }, _result, { log }: OwnAccountServices) =>
      log.info({ keyId }, 'a key deleted its workspace'),
  }),
];
