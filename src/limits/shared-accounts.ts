import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { toAccount } from './accounts.ts';
import { type Account, type Decision, describe, type Terms } from './decision.ts';
import type { Subject } from './limiter.ts';
import type { Valkey } from './valkey.ts';
import { oneOf, wholeNumbers } from './valkey-answers.ts';

const script = readFileSync(new URL('./decision.lua', import.meta.url), 'utf8');
const scriptSha1 = hash('sha1', script);
const outcomes = ['admitted', 'limited', 'banned'] as const satisfies Decision['outcome'][];

/** The name of an account in Valkey. All its data is under one name, so that a cluster keeps it in one slot. */
export const accountName = ({ workspaceId, id }: Subject, prefix = 'petstore:') =>
  `${prefix}account:${workspaceId}:${id}`;

/** The name of an account that no caller has, in the slot of another. */
export const probeName = (name: string) => `petstore:probe:{${name}}`;

/**
 * Decides on one request in Valkey, at once for all instances, and returns the decision and the account after it. The
 * time is that of the server's clock unless one is given. `onSend` is called at each round trip: one, or two where the server
 * does not know the script yet.
 */
export async function decideShared(
  valkey: Valkey,
  name: string,
  terms: Terms,
  onSend: () => void,
  clockMs?: number,
): Promise<{ decision: Decision; account: Account }> {
  const { quota, banRules: rules, pardonedAtMs = 0 } = terms;
  const args = [quota.perMinute, quota.perDay, pardonedAtMs, clockMs ?? ''];
  if (rules) args.push(rules.strikesFactor, rules.firstMs, rules.longestMs, rules.growth, rules.memoryMs);
  onSend();
  const answer = await valkey.evalsha(scriptSha1, 1, name, ...args).catch((error: Error) => {
    if (!error.message.startsWith('NOSCRIPT')) throw error;
    onSend();
    return valkey.eval(script, 1, name, ...args);
  });
  const [first, ...rest] = Array.isArray(answer) ? answer : [];
  const outcome = oneOf(outcomes, first, 'a decision');
  const [isNewBan, nowMs, ...numbers] = wholeNumbers(rest, 10, 'a decision') as [number, number, ...number[]];
  const account = toAccount(numbers);
  return { decision: describe(outcome, account, quota, nowMs, isNewBan === 1), account };
}

/** The account as it was after the last decision on it. */
export async function findSharedAccount(
  valkey: Valkey,
  subject: Subject,
  prefix?: string,
): Promise<Account | undefined> {
  const text: unknown = await valkey.get(accountName(subject, prefix));
  return text === null ? undefined : toAccount(wholeNumbers(String(text).split(' '), 8, 'an account'));
}

/** The clock of the server, rounded up. */
export async function sharedClockMs(valkey: Valkey): Promise<number> {
  const time: unknown = await valkey.time();
  const [seconds, microseconds] = wholeNumbers(time, 2, 'a time') as [number, number];
  return seconds * 1000 + Math.ceil(microseconds / 1000);
}
