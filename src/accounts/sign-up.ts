import { hashKey } from '../access/keys/store.ts';
import type { LimitPolicy } from '../access/limits/decision.ts';
import { limitRefusal } from '../access/limits/headers.ts';
import type { Limiter } from '../access/limits/limiter.ts';
import type { Database, Transaction } from '../db/database.ts';
import { ApiError, errorAt } from '../foundation/errors.ts';
import { memoizeFor } from '../foundation/promises.ts';
import type { Config } from '../foundation/settings/config.ts';
import type { OpenPlan } from '../foundation/settings/plans.ts';
import { dayMs } from '../foundation/time.ts';
import { counted } from '../foundation/words.ts';
import { operation } from '../http/operation.ts';
import { untagged } from '../http/responses.ts';
import { labPageUrlWithKey, prefix } from '../http/target.ts';
import { countToday } from '../lab/recordings/store.ts';
import type { Log } from '../observe/log/logger.ts';
import { findByCode, isOver, takeUse } from './invites.ts';
import { createMember, makeRoom } from './members.ts';
import { CreatedAccount, NewAccount } from './schema.ts';

/** Wrong codes of an address, and its requests for open sign-up. The limit of the day is never reached. */
export const triesPolicy: LimitPolicy = { quota: { perMinute: 60, perDay: 60 * 24 * 60 } };

/** The plan of open sign-up. */
const signUpPlan: OpenPlan = 'free';

/** What a sign-up needs from the instance that runs it, with the settings about it. */
export interface SignUpServices extends Pick<Config, 'signUp' | 'signUpsPerDay' | 'maxSignUps' | 'lab'> {
  tries: Tries;
  /** Accounts by how they were created. */
  created: Record<'invite' | 'signup', number>;
  log: Pick<Log, 'info'>;
}

/** Makes guessing slow, without a refusal of any valid code: all people of a school have one address. */
export class Tries {
  readonly #db: Database;
  readonly #limiter: Pick<Limiter, 'decide'>;
  /** Hashes of all codes, so that wrong ones read the storage at most once a second. */
  readonly #known: () => Promise<Set<string>>;

  constructor(db: Database, limiter: Pick<Limiter, 'decide'>, stopwatch: () => number) {
    this.#db = db;
    this.#limiter = limiter;
    this.#known = memoizeFor(
      1_000,
      async () => new Set((await db.read`select hash from invites`).map(([hash]) => String(hash))),
      stopwatch,
    );
  }

  /** Throws `invite_invalid` for a code that never was one, and `rate_limited` after too many that admit nobody. */
  async assertKnown(code: string, address: string, nowMs: number): Promise<void> {
    const find = () => findByCode(this.#db.read, code);
    const known = (await this.#known()).has(hashKey(code)) ? await find() : undefined;
    if (known && !isOver(known, nowMs) && known.used < known.uses) return;
    await this.count('invites', address);
    // It may be newer than the cache. A known one may be a repetition.
    if (!(known ?? (await find()))) throw invalidInvite();
  }

  /** Counts a try of an address. Throws `rate_limited` after too many in this minute. */
  async count(kind: 'invites' | 'signups', address: string): Promise<void> {
    const subject = { workspaceId: 0, id: `${kind} ${address}` };
    const decision = await this.#limiter.decide(subject, triesPolicy);
    if (decision.outcome !== 'admitted') throw limitRefusal(decision);
  }
}

const invalidInvite = () =>
  new ApiError(
    'invite_invalid',
    'This invite is unknown, has ended or has expired: check the code, or ask for a new one.',
  );

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

/** Characters that change the direction or the lines of the text around them. */
const disruptive = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;
const visible = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** Throws `invalid_request` for a name that nobody can read, or that would disturb a list of names. */
function assertReadable(name: string): void {
  if (disruptive.test(name) || !visible.test(name))
    throw errorAt(
      { pointer: '#/name' },
      'invalid_request',
      'Body property name must have a letter, a digit or a sign, and no control characters.',
    );
}

export const createAccount = operation({
  method: 'POST',
  path: '',
  id: 'createAccount',
  tag: 'Accounts',
  summary: 'Create a workspace and a key',
  description: `Creates a workspace with the demo data, and a key for it. It needs no key. With the code of an \`invite\` it works as long as the invite has uses left. Without one it works only if the service is open to everybody; then an address can create only a few a day, and a workspace without requests is deleted after some time. Send an \`Idempotency-Key\`: a repetition after a lost response returns the same key, and takes no second use of the invite. Wrong codes get 429 after ${triesPolicy.quota.perMinute} a minute from one address.`,
  isPublic: true,
  returnsKey: true,
  body: NewAccount,
  success: untagged(201, CreatedAccount, 'The new workspace and its key.'),
  errors: ['invite_invalid', 'invite_used_up', 'signup_closed'],

  async prepare({ body: { name, invite }, address, nowMs }, { signUp: isOpen, tries }: SignUpServices) {
    assertReadable(name);
    if (invite !== undefined) return tries.assertKnown(invite, address(), nowMs);
    if (!isOpen)
      throw closed('This service is not open to everybody. Ask its operator for an invite or for a key.');
    await tries.count('signups', address());
  },

  async handle(sql, { body, nowMs, baseUrl, ...input }, services: SignUpServices) {
    const name = body.name.trim();
    const { workspace, keyId, key, plan } =
      body.invite === undefined
        ? await signUp(sql, name, input, services, nowMs)
        : await join(sql, name, body.invite, nowMs);
    const labUrl = services.lab ? labPageUrlWithKey(baseUrl + prefix, key) : undefined;
    return { workspace, keyId, key, plan, ...(labUrl && { labUrl }) };
  },

  committed({ body }, { keyId, plan }, { created, log }: SignUpServices) {
    const origin = body.invite === undefined ? 'signup' : 'invite';
    created[origin]++;
    log.info({ keyId, plan, origin }, 'an account was created');
  },
});

/** Creates a member of an invite. The use is taken last, so that others wait only for the end of this transaction. */
async function join(sql: Transaction, name: string, code: string, nowMs: number) {
  const invite = await findByCode(sql, code);
  if (!invite || isOver(invite, nowMs)) throw invalidInvite();
  const { id: inviteId, plan, used, uses } = invite;
  if (used >= uses) throw usedUp(uses);
  const member = await createMember(sql, { name, plan, inviteId }, nowMs);
  if (!(await takeUse(sql, inviteId, nowMs))) throw usedUp(uses);
  return { ...member, plan };
}

/** Creates a member of open sign-up, within the bounds of its address and of all. */
async function signUp(
  sql: Transaction,
  name: string,
  { address, isCrossOrigin }: { address(): string; isCrossOrigin(): boolean },
  { signUpsPerDay, maxSignUps }: SignUpServices,
  nowMs: number,
) {
  if (isCrossOrigin()) throw closed('A web page of another site cannot create an account without an invite.');
  const ofAddress = { workspaceId: 0, id: `signups ${address()}` };
  if ((await countToday(sql, ofAddress, 1, nowMs)) > signUpsPerDay)
    throw new ApiError(
      'rate_limited',
      `This address has created ${counted(signUpsPerDay, 'account')} today, the maximum of a day (UTC). Try again tomorrow.`,
      { 'Retry-After': String(Math.ceil((dayMs - (nowMs % dayMs)) / 1_000)) },
    );
  const member = await createMember(sql, { name, plan: signUpPlan }, nowMs);
  const waitMs = await makeRoom(sql, maxSignUps, nowMs);
  if (waitMs > 0)
    throw closed(`All ${counted(maxSignUps, 'account')} of open sign-up are taken. Try again later.`, waitMs);
  return { ...member, plan: signUpPlan };
}
