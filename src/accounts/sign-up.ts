import type { LimitPolicy } from '../access/limits/decision.ts';
import { limitRefusal } from '../access/limits/headers.ts';
import type { Limiter } from '../access/limits/limiter.ts';
import type { Database, Transaction } from '../db/database.ts';
import { ApiError, errorAt } from '../foundation/errors.ts';
import type { Config } from '../foundation/settings/config.ts';
import type { OpenPlan } from '../foundation/settings/plans.ts';
import { dayMs } from '../foundation/time.ts';
import { counted } from '../foundation/words.ts';
import { widerGroupOf } from '../http/address.ts';
import { countToday } from '../http/idempotency.ts';
import { type AnyInput, operation } from '../http/operation.ts';
import { untagged } from '../http/responses.ts';
import { labPageUrlWithKey, prefix } from '../http/target.ts';
import type { Log } from '../observe/log/logger.ts';
import { findByCode, type Invite, isOver, takeUse } from './invites.ts';
import { createMember, makeRoom } from './members.ts';
import { CreatedAccount, NewAccount } from './schema.ts';

/** Wrong codes of an address, codes that are over, and its requests for open sign-up. The limit of the day is never reached. */
export const triesPolicy: LimitPolicy = { quota: { perMinute: 60, perDay: 60 * 24 * 60 } };

/** All requests of an address to create an account. */
const floodPolicy: LimitPolicy = { quota: { perMinute: 600, perDay: 600 * 24 * 60 } };

/** How many times as many accounts a /48 network of IPv6 may create in a day as one address. */
const networkFactor = 4;

/** The plan of open sign-up. */
export const signUpPlan: OpenPlan = 'free';

/** What a sign-up needs from the instance that runs it, with the settings about it. */
export interface SignUpServices extends Pick<Config, 'signUp' | 'signUpsPerDay' | 'maxSignUps' | 'lab'> {
  db: Pick<Database, 'read'>;
  limiter: Pick<Limiter, 'decide'>;
  /** Accounts by how they were created, and a note of each that was closed to make room. */
  activity: { created: Record<'invite' | 'signup', number>; noteExpired(keyId: string): void };
  log: Pick<Log, 'info'>;
}

/** Counts a try of an address. Returns the refusal after too many in this minute. */
async function countTry({ limiter }: SignUpServices, what: string, address: string, policy = triesPolicy) {
  const decision = await limiter.decide({ workspaceId: 0, id: `${what} ${address}` }, policy);
  return decision.outcome === 'admitted' ? undefined : limitRefusal(decision);
}

const usedUp = (uses: number) =>
  new ApiError(
    'invite_used_up',
    `All ${counted(uses, 'use')} of this invite are taken: ask for more, or for another invite.`,
  );

const closed = (message: string, waitMs?: number) =>
  new ApiError(
    'signup_closed',
    message,
    waitMs === undefined ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1_000))) },
  );

/**
 * Characters that nobody sees, or that change the direction or the lines of the text around them. A joiner or a variation selector may stand
 * where scripts and emoji need it.
 */
const disruptive =
  /[[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]--[\u200c\u200d\ufe0f]]|(?<!\p{Emoji})\ufe0f|(?<![\p{M}\p{sc=Arab}\p{sc=Syrc}\p{sc=Mong}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])[\u200c\u200d]|[\u200c\u200d]\s*$/v;
const visible = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** Throws `invalid_request` for a name that nobody can read, or that would disturb a list of names. */
function assertReadable(name: string): void {
  if (disruptive.test(name) || !visible.test(name))
    throw errorAt(
      { pointer: '#/name' },
      'invalid_request',
      'Body property name must have a letter, a digit or a sign, and no control or invisible characters.',
    );
}

export const createAccount = operation({
  method: 'POST',
  path: '',
  id: 'createAccount',
  tag: 'Accounts',
  summary: 'Create a workspace and a key',
  description: `Creates a workspace with the demo data, and a key for it. It needs no key. With the code of an \`invite\` it works as long as the invite has uses left. Without one it works only if the service is open to everybody; then an address can create only a few a day, and a workspace without requests is deleted after some time. Send an \`Idempotency-Key\`: a repetition after a lost response returns the same key, and takes no second use of the invite. Wrong codes get 429 after ${triesPolicy.quota.perMinute} a minute from one address, other requests after ${floodPolicy.quota.perMinute}.`,
  isPublic: true,
  returnsKey: true,
  body: NewAccount,
  success: untagged(201, CreatedAccount, 'The new workspace and its key.'),
  errors: ['invite_invalid', 'invite_used_up', 'signup_closed'],

  async prepare({ body: { name, invite }, isRepetition, ...input }, services: SignUpServices) {
    const flood = await countTry(services, 'accounts', input.address(), floodPolicy);
    if (flood) throw flood;
    assertReadable(name);
    const refusal = await (invite === undefined
      ? refusalOfSignUp(input, services)
      : refusalOfCode(invite, input, services));
    // Looked up after the invite was read, so a twin that has taken the last use is found.
    if (refusal && !(await isRepetition())) throw refusal;
  },

  async handle(sql, input, services: SignUpServices) {
    const { body, nowMs, baseUrl } = input;
    const name = body.name.trim();
    const member = await (body.invite === undefined
      ? signUp(sql, name, input, services)
      : join(sql, name, body.invite, nowMs));
    return { ...member, ...(services.lab && { labUrl: labPageUrlWithKey(baseUrl + prefix, member.key) }) };
  },

  committed(input, { keyId, plan }, { activity, log }: SignUpServices) {
    const origin = input.body.invite === undefined ? 'signup' : 'invite';
    activity.created[origin]++;
    log.info({ keyId, plan, origin }, 'an account was created');
    for (const evictedKey of evicted.get(input) ?? []) activity.noteExpired(evictedKey);
  },
});

/** Whose members made room for the account of a request, by the input of that request. */
const evicted = new WeakMap<object, readonly string[]>();

/** Why an invite admits nobody any more. */
function refusalOf(invite: Invite | undefined, nowMs: number): ApiError | undefined {
  if (!invite || isOver(invite, nowMs))
    return new ApiError(
      'invite_invalid',
      'This invite is unknown, has ended or has expired: check the code, or ask for a new one.',
    );
  return invite.used < invite.uses ? undefined : usedUp(invite.uses);
}

type Sender = Pick<AnyInput, 'nowMs' | 'address' | 'isCrossOrigin'>;

/**
 * Makes guessing slow, without a refusal of any valid code, because all people of a school have one address. Codes that were valid count
 * for themselves, so that two classes do not disturb each other.
 */
async function refusalOfCode(code: string, { nowMs, address }: Sender, services: SignUpServices) {
  const invite = await findByCode(services.db.read, code);
  const refusal = refusalOf(invite, nowMs);
  return refusal && ((await countTry(services, invite?.id ?? 'invites', address())) ?? refusal);
}

async function refusalOfSignUp({ address, isCrossOrigin }: Sender, services: SignUpServices) {
  if (!services.signUp)
    return closed('This service is not open to everybody. Ask its operator for an invite or for a key.');
  if (isCrossOrigin())
    return closed(
      'Without an invite, only the page /join of this service creates accounts, at an address that the service knows: its PETSTORE_BASE_URL, localhost, an IP address, or a name that ends in .local.',
    );
  return countTry(services, 'signups', address());
}

/** Creates a member of an invite. The use is taken last, so that others wait only for the end of this transaction. */
async function join(sql: Transaction, name: string, code: string, nowMs: number) {
  const invite = await findByCode(sql, code);
  const refusal = refusalOf(invite, nowMs);
  if (!invite || refusal) throw refusal;
  const { id: inviteId, plan } = invite;
  const member = await createMember(sql, { name, plan, inviteId }, nowMs);
  if (!(await takeUse(sql, inviteId, nowMs)))
    throw refusalOf(await findByCode(sql, code), nowMs) ?? usedUp(invite.uses);
  return { ...member, plan };
}

/** Creates a member of open sign-up, within the bounds of its address, of the network around it, and of all. */
async function signUp(
  sql: Transaction,
  name: string,
  input: Sender,
  { signUpsPerDay, maxSignUps }: SignUpServices,
) {
  const { nowMs } = input;
  const address = input.address();
  await countSignUp(sql, address, signUpsPerDay, nowMs);
  const network = widerGroupOf(address);
  if (network) await countSignUp(sql, network, networkFactor * signUpsPerDay, nowMs);
  const member = await createMember(sql, { name, plan: signUpPlan }, nowMs);
  const room = await makeRoom(sql, maxSignUps, member.keyId, nowMs);
  if (typeof room === 'number')
    throw closed(`All ${counted(maxSignUps, 'account')} of open sign-up are taken. Try again later.`, room);
  evicted.set(input, room);
  return { ...member, plan: signUpPlan };
}

/** Counts a sign-up of an address or a network. Throws `rate_limited` beyond the maximum of a day. */
async function countSignUp(sql: Transaction, group: string, max: number, nowMs: number): Promise<void> {
  if ((await countToday(sql, { workspaceId: 0, id: `signups ${group}` }, 1, nowMs)) <= max) return;
  throw new ApiError(
    'rate_limited',
    `Your network address has created ${counted(max, 'account')} today, the maximum of a day (UTC). Try again tomorrow.`,
    { 'Retry-After': String(Math.ceil((dayMs - (nowMs % dayMs)) / 1_000)) },
  );
}
