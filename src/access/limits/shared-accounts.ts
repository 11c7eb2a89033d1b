import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Quota } from '../../foundation/settings/plans.ts';
import { toAccount } from './accounts.ts';
import { type Decision, type LimitAccount, type LimitPolicy, toDecision, unusedAccount } from './decision.ts';
import type { AccountOwner } from './limiter.ts';
import type { Valkey } from './valkey.ts';

const script = readFileSync(new URL('./decision.lua', import.meta.url), 'utf8');
const scriptSha1 = hash('sha1', script);

/** The name of an account in Valkey. An account has a single name, so that a cluster stores it in one slot. */
export const accountName = ({ workspaceId, id }: AccountOwner, prefix = 'petstore:') =>
  `${prefix}account:${workspaceId}:${id}`;

/** In the order of the script's arguments. */
const banRuleNames = ['strikesFactor', 'firstMs', 'longestMs', 'growth', 'memoryMs'] as const;
const accountLength = Object.keys(unusedAccount).length;

/** The name of an unused account in the same slot as another. */
export const probeName = (name: string) => `petstore:probe:{${name}}`;

export interface SharedDecision {
  decision: Decision;
  account: LimitAccount;
}

/** The policy as arguments of the script. */
export function argumentsOf({ quota, banRules, banClearedAtMs = 0 }: LimitPolicy): number[] {
  const args = [quota.perMinute, quota.perDay, banClearedAtMs];
  if (banRules) args.push(...banRuleNames.map((name) => banRules[name]));
  return args;
}

/**
 * Decides on `count` requests of an account in Valkey, for all instances, one after another. Uses the time of the server, unless `clockMs`
 * is given. Calls `onSend` at each round trip: one, or two if the server does not have the script yet.
 */
export async function decideShared(
  valkey: Valkey,
  name: string,
  policy: LimitPolicy,
  count: number,
  onSend: () => void,
  clockMs?: number,
): Promise<SharedDecision[]> {
  const [perMinute, perDay, banClearedAtMs, ...banRules] = argumentsOf(policy) as [number, number, number];
  const args = [count, perMinute, perDay, banClearedAtMs, clockMs ?? '', ...banRules];
  onSend();
  const answer = await valkey.evalsha(scriptSha1, 1, name, ...args).catch((error: Error) => {
    if (!error.message.startsWith('NOSCRIPT')) throw error;
    onSend();
    return valkey.eval(script, 1, name, ...args);
  });
  // A proxy may return something else. The instance then applies the limits on its own.
  if (!Array.isArray(answer) || answer.length !== count) throw new Error('Valkey did not return decisions');
  return answer.map((one) => toShared(one, policy.quota));
}

function toShared(answer: unknown, quota: Quota): SharedDecision {
  const [outcome, isNewBan, nowMs, ...numbers] = answer as [Decision['outcome'], ...number[]];
  if (numbers.length !== accountLength || ![nowMs, ...numbers].every(Number.isSafeInteger))
    throw new Error('Valkey did not return a decision');
  const account = toAccount(numbers);
  return { decision: toDecision(outcome, account, quota, Number(nowMs), isNewBan === 1), account };
}

/** The account after the last decision on it. */
export async function findSharedAccount(
  valkey: Valkey,
  subject: AccountOwner,
  prefix?: string,
): Promise<LimitAccount | undefined> {
  const text = await valkey.get(accountName(subject, prefix));
  return text === null ? undefined : toAccount(text.split(' '));
}

/** The clock of the server, rounded up. */
export async function sharedClockMs(valkey: Valkey): Promise<number> {
  const [seconds, microseconds] = await valkey.time();
  return Number(seconds) * 1000 + Math.ceil(Number(microseconds) / 1000);
}
