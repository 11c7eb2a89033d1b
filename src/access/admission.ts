import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Metrics } from '../metrics.ts';
import { addressGroup } from './address.ts';
import type { Identify } from './identify.ts';
import type { Caller } from './keys.ts';
import { limitHeaders, limitRefusal } from './limit-headers.ts';
import type { Limiter } from './limiter.ts';
import type { BanRules, Decision } from './limits.ts';
import { plans } from './plans.ts';

/** What admitting a request needs. */
export interface Admission {
  identify: Identify;
  limiter: Limiter;
  banRules: BanRules;
  metrics: Metrics;
}

/**
 * Finds the caller and charges the request to its key, or to its address when there is no valid key. The reply gets the
 * limit headers in any case. Throws `rate_limited` or `key_banned`, and for an admitted request without a valid key
 * `unauthorized`.
 */
export async function admit(
  admission: Admission,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  let caller: Caller | undefined;
  let refusal: unknown;
  try {
    // Only what has to be waited for is awaited: for a key that is at hand, nothing is.
    const found = admission.identify(request);
    caller = found instanceof Promise ? await found : found;
  } catch (error) {
    refusal = error;
  }
  const charged = caller ? chargeKey(admission, caller) : chargeAddress(admission, request.ip);
  const decision = charged instanceof Promise ? await charged : charged;
  admission.metrics.countDecision(caller?.plan ?? 'none', decision);
  reply.headers(limitHeaders(decision));
  if (decision.outcome !== 'admitted') throw limitRefusal(decision);
  if (!caller) throw refusal;
  return caller;
}

/** The limit headers and, where it is refused, the refusal of a request that cannot be read and so names no key. */
export async function admitUnread(admission: Admission, address: string | undefined) {
  const decision = await chargeAddress(admission, address);
  admission.metrics.countDecision('none', decision);
  const refusal = decision.outcome === 'admitted' ? undefined : limitRefusal(decision);
  return { headers: limitHeaders(decision), refusal };
}

function chargeKey({ limiter, banRules }: Admission, caller: Caller): Decision | Promise<Decision> {
  const { keyId: id, workspaceId, quota, pardonedAtMs } = caller;
  return limiter.decide({ workspaceId, id }, { quota, banRules, pardonedAtMs });
}

/** Addresses are limited by the Free numbers and never banned. */
function chargeAddress({ limiter }: Admission, address: string | undefined): Decision | Promise<Decision> {
  return limiter.decide({ workspaceId: 0, id: addressGroup(address) }, { quota: plans.free });
}
