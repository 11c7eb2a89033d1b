import type { FastifyRequest } from 'fastify';
import type { Identify } from '../access/keys/identify.ts';
import type { Caller } from '../access/keys/store.ts';
import type { Decision, LimitPolicy } from '../access/limits/decision.ts';
import { limitHeaders, limitRefusal } from '../access/limits/headers.ts';
import {
  type AccountOwner,
  addressOf,
  byAddress,
  groupSubject,
  type Limiter,
} from '../access/limits/limiter.ts';
import { ApiError, toApiError } from '../foundation/errors.ts';
import { banRules } from '../foundation/settings/plans.ts';
import { addressGroup, unknownGroup } from '../http/address.ts';
import { hasContent } from '../http/headers.ts';
import type { Metrics } from '../observe/metrics.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The sender of an admitted request. Set for every operation. */
    caller: Caller | undefined;
    /** Whose key it carries, also if its limits refuse it. */
    sender: Caller | undefined;
    /** What was decided on it by the limits. */
    decision: Decision | undefined;
  }
}

declare module 'node:http' {
  interface IncomingMessage {
    /** Whose key it carries, set with the limit headers. */
    sender?: Caller | undefined;
  }
}

/** What admitting a request needs. */
export interface Admission {
  identify(...args: Parameters<Identify>): ReturnType<Identify>;
  limiter: Limiter;
  /** The account that a caller is charged to, and its policy. */
  accountOf: (caller: Caller) => { subject: AccountOwner; policy: LimitPolicy };
  metrics: Metrics;
  /** Whether responses have the limit headers of the IETF draft. */
  hasDraftLimits: boolean;
  /** Where limits depend on the plan: how a key gets higher ones. */
  howToGetMore?: string;
  /** Called when a request starts a ban. */
  banBegan?(request: FastifyRequest, decision: Decision): void;
}

/** The account of a key with the quota of its plan, from which it can be banned. */
export const planAccount: Admission['accountOf'] = ({ workspaceId, keyId, quota, banClearedAtMs }) => ({
  subject: { workspaceId, id: keyId },
  policy: { quota, banRules, banClearedAtMs },
});

/** How an address gets higher limits. */
const keysHaveOwn = 'Each valid API key has limits of its own.';

/** Finds the caller, charges the request to the key or the address, and sets `request.caller` and the limit headers. May throw at once. */
export function admit(admission: Admission, request: FastifyRequest): Promise<void> | undefined {
  const admitting = identifyAndCharge(admission, request);
  if (admitting) request.raw.admitting = admitting;
  return admitting;
}

function identifyAndCharge(admission: Admission, request: FastifyRequest): Promise<void> | undefined {
  let found: Caller | Promise<Caller>;
  try {
    found = admission.identify(request);
  } catch (failure) {
    return charge(admission, request, undefined, failure);
  }
  if (!(found instanceof Promise)) return charge(admission, request, found);
  return found.then(
    (caller) => charge(admission, request, caller),
    (failure) => charge(admission, request, undefined, failure),
  );
}

/** Charges the caller, or the address if `failure` says that there is no caller. */
function charge(
  admission: Admission,
  request: FastifyRequest,
  caller: Caller | undefined,
  failure?: unknown,
): Promise<void> | undefined {
  const { limiter, accountOf, metrics, howToGetMore, banBegan } = admission;
  request.sender = caller;
  const settle = (decision: Decision): undefined => {
    metrics.countDecision(caller?.plan ?? 'none', decision);
    setLimitHeaders(admission, request, decision);
    if (decision.isNewBan) banBegan?.(request, decision);
    if (decision.outcome !== 'admitted') throw limitRefusal(decision, caller ? howToGetMore : keysHaveOwn);
    if (!caller) throw failure;
    request.caller = caller;
  };
  if (!caller && !(failure instanceof ApiError)) {
    // The storage failed to find the caller, so the address is not charged.
    describeLimits(admission, request);
    throw failure;
  }
  const { subject, policy } = caller ? accountOf(caller) : { subject: addressOf(request), policy: byAddress };
  const decided = limiter.decide(subject, policy);
  return decided instanceof Promise ? decided.then(settle) : settle(decided);
}

/** Sets the limit headers of a request that is refused without a charge: those of its address. */
export const describeLimits = (admission: Admission, request: FastifyRequest): void =>
  setLimitHeaders(admission, request, admission.limiter.peek(addressOf(request), byAddress));

/** Sets the limit headers, on the raw request too, with the sender: if the body breaks, there is no reply to write to. */
function setLimitHeaders({ hasDraftLimits }: Admission, request: FastifyRequest, decision: Decision): void {
  const headers = limitHeaders(decision, hasDraftLimits);
  request.decision = decision;
  request.limitHeaders = headers;
  if (!hasContent(request)) return;
  request.raw.limitHeaders = headers;
  request.raw.sender = request.sender;
}

/** Charges a malformed request that needed no key to its address. Other refusals of such requests have limits of their own. */
export async function countMalformed({ limiter }: Admission, request: FastifyRequest, error: unknown) {
  const { status } = toApiError(error, request.id);
  if (status !== 400 && status !== 413 && status !== 415) return;
  const decision = await limiter.decide(addressOf(request), byAddress);
  if (decision.outcome !== 'admitted') throw limitRefusal(decision, keysHaveOwn);
}

/** The limit headers of a request that cannot be read. Its address is charged, except that of a trusted proxy. */
export async function admitUnread(
  { limiter, metrics, hasDraftLimits }: Admission,
  address: string | undefined,
  isProxied: boolean,
) {
  const subject = groupSubject(addressGroup(address) ?? unknownGroup);
  const decision = isProxied ? limiter.peek(subject, byAddress) : await limiter.decide(subject, byAddress);
  metrics.countDecision('none', decision);
  const refusal = decision.outcome === 'admitted' ? undefined : limitRefusal(decision, keysHaveOwn);
  return { headers: limitHeaders(decision, hasDraftLimits), refusal };
}
