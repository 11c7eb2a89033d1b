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
 * Finds the caller, charges the request to its key, or to its address when there is no valid key, and sets
 * `request.caller`. The reply gets the limit headers in any case. Throws, or rejects with, `rate_limited` or
 * `key_banned`, and for an admitted request without a valid key `unauthorized`. Every request comes through here, so a
 * promise is answered only where something has to be waited for.
 */
export function admit(
  admission: Admission,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> | undefined {
  let found: Caller | Promise<Caller>;
  try {
    found = admission.identify(request);
  } catch (refusal) {
    return charge(admission, request, reply, undefined, refusal);
  }
  if (!(found instanceof Promise)) return charge(admission, request, reply, found);
  return found.then(
    (caller) => charge(admission, request, reply, caller),
    (refusal) => charge(admission, request, reply, undefined, refusal),
  );
}

function charge(
  { limiter, banRules, metrics }: Admission,
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller | undefined,
  refusal?: unknown,
): Promise<void> | undefined {
  const settle = (decision: Decision): undefined => {
    metrics.countDecision(caller?.plan ?? 'none', decision);
    reply.headers(limitHeaders(decision));
    if (decision.outcome !== 'admitted') throw limitRefusal(decision);
    if (!caller) throw refusal;
    request.caller = caller;
  };
  const decided = caller
    ? limiter.decide(
        { workspaceId: caller.workspaceId, id: caller.keyId },
        { quota: caller.quota, banRules, pardonedAtMs: caller.pardonedAtMs },
      )
    : chargeAddress(limiter, request.ip);
  return decided instanceof Promise ? decided.then(settle) : settle(decided);
}

/** The limit headers and, where it is refused, the refusal of a request that cannot be read and so names no key. */
export async function admitUnread({ limiter, metrics }: Admission, address: string | undefined) {
  const decision = await chargeAddress(limiter, address);
  metrics.countDecision('none', decision);
  const refusal = decision.outcome === 'admitted' ? undefined : limitRefusal(decision);
  return { headers: limitHeaders(decision), refusal };
}

/** Addresses are limited by the Free numbers and never banned. */
const chargeAddress = (limiter: Limiter, address: string | undefined) =>
  limiter.decide({ workspaceId: 0, id: addressGroup(address) }, { quota: plans.free });
