import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Database } from '../db/database.ts';
import { unauthorized } from '../errors.ts';
import { fieldLines } from '../http/headers.ts';
import { addressOf, byAddress } from '../limits/address.ts';
import type { Limiter } from '../limits/limiter.ts';
import { isWellFormedKey } from './key.ts';
import { LookUps } from './look-ups.ts';
import { type Caller, findCaller, unknownKey } from './store.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends the request; set for every operation. */
    caller: Caller | undefined;
  }
}

/**
 * How long a look-up counts, from its beginning, however late the storage answers: for those who wait for its result as for those
 * who find it. Changes take effect within a second, and while the storage is slow a key has two more look-ups under way each second.
 */
export const trustMs = 500;
const maxTrustedKeys = 100_000;
const maxUnknownKeys = 1_000;

export interface Identify {
  (request: FastifyRequest): Caller | Promise<Caller>;
  /** Looks a key up anew at its next request, or all of them. A look-up under way does not count. */
  forget(keyId?: string): void;
}

/**
 * Finds the caller of a request by its key. The answer is immediate for a key seen in the last half second and a
 * promise otherwise. Both fail with `unauthorized` if there is no valid key (RFC 6750, section 3), and the promise
 * with `rate_limited` if too many requests wait for a look-up.
 */
export function identifier(db: Database, limiter: Pick<Limiter, 'look'>): Identify {
  const trusted = new Map<string, { caller: Caller; untilMs: number }>();
  const unknown = new LRUCache<string, true>({ max: maxUnknownKeys, ttl: trustMs });
  const asked = new Map<string, { asking: Promise<Caller | false>; untilMs: number }>();
  const lookUps = new LookUps();
  /** A look-up that began before tells of what was. */
  let forgottenAtMs = 0;

  /** The caller; false if the key is known to be invalid; undefined if it has to be looked up. */
  const recall = (key: string): Caller | false | undefined => {
    const known = trusted.get(key);
    if (known && performance.now() < known.untilMs) return known.caller;
    return unknown.has(key) ? false : undefined;
  };

  const read = async (key: string, startMs: number): Promise<Caller | false> => {
    const caller = await findCaller(db.read, key);
    if (!caller) {
      trusted.delete(key);
      unknown.set(key, true, { start: startMs });
      return false;
    }
    if (trusted.size >= maxTrustedKeys) trusted.clear();
    if (startMs > forgottenAtMs) trusted.set(key, { caller, untilMs: startMs + trustMs });
    return caller;
  };

  /** The look-up under way that a request may share: one that began lately, so that it tells of changes. */
  const shared = (key: string): Promise<Caller | false> | undefined => {
    const last = asked.get(key);
    return last && performance.now() < last.untilMs ? last.asking : undefined;
  };

  /** Asks the storage once for all requests that come about the same time with the same key. */
  const ask = (key: string): Promise<Caller | false> => {
    const other = shared(key);
    if (other) return other;
    const startMs = performance.now();
    const asking = read(key, startMs).finally(() => {
      if (asked.get(key)?.asking === asking) asked.delete(key);
    });
    asked.set(key, { asking, untilMs: startMs + trustMs });
    return asking;
  };

  const lookUp = async (request: FastifyRequest, key: string): Promise<Caller> => {
    const address = addressOf(request);
    const { minute, day } = limiter.look(address, byAddress);
    const room = Math.min(minute.remaining, day.remaining);
    // Whoever sends a key that was valid is not guessing, and one more with a key that is being looked up asks for nothing.
    const isFree = trusted.has(key) || shared(key) !== undefined;
    const caller = isFree
      ? await ask(key)
      : await lookUps.run(
          address.id,
          room,
          async () => recall(key) ?? (request.raw.destroyed ? false : ask(key)),
        );
    if (!caller) throw unknownKey();
    return caller;
  };

  const identify = (request: FastifyRequest) => {
    const { headers, raw } = request;
    // Node.js uses the first. A proxy in front of this service may use the last.
    if (headers.authorization !== undefined && fieldLines(raw, 'authorization').length > 1) {
      throw unauthorized('Authorization must be sent once.', 'invalid_token');
    }
    const key = presentedKey(headers.authorization, headers['x-api-key'] as string | undefined);
    const caller = recall(key);
    if (caller) return caller;
    if (caller === false) throw unknownKey();
    if (!isWellFormedKey(key)) {
      throw unauthorized('This is not a well-formed API key; it may be mistyped.', 'invalid_token');
    }
    return lookUp(request, key);
  };

  const forget = (keyId?: string) => {
    for (const [key, { caller }] of trusted)
      if (keyId === undefined || caller.keyId === keyId) trusted.delete(key);
    if (keyId === undefined) unknown.clear();
    forgottenAtMs = performance.now();
    asked.clear();
  };

  return Object.assign(identify, { forget });
}

/** The key that a request carries in `Authorization: Bearer` or `X-API-Key`. */
function presentedKey(authorization: string | undefined, apiKey: string | undefined): string {
  const key = authorization === undefined ? apiKey : (bearerToken(authorization) ?? apiKey);
  if (key === undefined) {
    throw unauthorized('Send an API key, as "Authorization: Bearer KEY" or "X-API-Key: KEY".');
  }
  if (apiKey !== undefined && apiKey !== key) {
    throw unauthorized('Authorization and X-API-Key carry different keys; send one.', 'invalid_token');
  }
  return key;
}

/** The token of a Bearer credential, or undefined for another scheme. Schemes ignore case (RFC 9110, section 11.1). */
function bearerToken(authorization: string): string | undefined {
  const isBearer =
    authorization.startsWith('Bearer ') || authorization.slice(0, 7).toLowerCase() === 'bearer ';
  return isBearer ? authorization.slice(7).trimStart() : undefined;
}
