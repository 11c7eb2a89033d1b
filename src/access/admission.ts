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
    const found = admission.identify(request);
    caller = found instanceof Promise ? await found : found;
  } catch (error) {
    refusal = error;
  }
  const charged = caller ? chargeKey(admission, caller) : chargeAddress(admission, request.ip);
  const decision = charged instanceof Promise ? await charged : charged;
  reply.headers(limitHeaders(decision));
  if (decision.outcome !== 'admitted') throw limitRefusal(decision);
  if (!caller) throw refusal;
  return caller;
}

function chargeKey({ limiter, banRules, metrics }: Admission, caller: Caller): Decision | Promise<Decision> {
  const { keyId: id, workspaceId, plan, quota, pardonedAtMs } = caller;
  const decided = limiter.decide({ workspaceId, id }, { quota, banRules, pardonedAtMs });
  if (decided instanceof Promise) return decided.then((decision) => metrics.countDecision(plan, decision));
  return metrics.countDecision(plan, decided);
}

/** Charges a request that names no valid key. Addresses are limited and never banned. */
export async function chargeAddress(
  { limiter, metrics }: Pick<Admission, 'limiter' | 'metrics'>,
  address: string | undefined,
): Promise<Decision> {
  const decision = await limiter.decide({ workspaceId: 0, id: addressGroup(address) }, { quota: plans.free });
  return metrics.countDecision('none', decision);
}
