import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Database } from '../../db/database.ts';
import { unauthorized } from '../../foundation/errors.ts';
import { fieldLines } from '../../http/headers.ts';
import { addressOf, byAddress, type Limiter } from '../limits/limiter.ts';
import { LookupThrottle } from './lookup-throttle.ts';
import { type Caller, callerFinder, type FindCaller, isWellFormedKey, unknownKey } from './store.ts';

/** A look-up is valid this long, from its start. Changes take effect in a second. A slow storage gets two a second per key. */
export const keyCacheMs = 500;
const maxTrustedKeys = 100_000;
const maxUnknownKeys = 1_000;

export interface Identify {
  (request: FastifyRequest): Caller | Promise<Caller>;
  /** Removes one key, or all keys, from the cache. The result of a look-up in flight is not cached. */
  forget(keyId?: string): void;
}

/**
 * Finds the caller of a request by its key: at once if the key is cached, else as a promise. Fails with `unauthorized` without a
 * valid key (RFC 6750, section 3), and with `rate_limited` if too many requests wait for a look-up.
 */
export function createIdentify(
  db: Database,
  limiter: Pick<Limiter, 'peek'>,
  findCaller: FindCaller = callerFinder([]),
  clock: () => number = Date.now,
): Identify {
  const trusted = new Map<string, { caller: Caller; untilMs: number }>();
  const unknown = new LRUCache<string, true>({ max: maxUnknownKeys, ttl: keyCacheMs });
  const asked = new Map<string, { asking: Promise<Caller | false>; untilMs: number }>();
  const throttle = new LookupThrottle();
  /** Results of look-ups that began before are outdated. */
  let forgottenAtMs = 0;

  /** The cached caller. False: the key is known to be invalid. Undefined: look it up. */
  const recall = (key: string): Caller | false | undefined => {
    const known = trusted.get(key);
    if (known && performance.now() < known.untilMs) return known.caller;
    return unknown.has(key) ? false : undefined;
  };

  const read = async (key: string, startMs: number): Promise<Caller | false> => {
    const caller = await findCaller(db.read, key, clock());
    if (!caller) {
      trusted.delete(key);
      unknown.set(key, true, { start: startMs });
      return false;
    }
    if (trusted.size >= maxTrustedKeys) trusted.clear();
    if (startMs > forgottenAtMs) trusted.set(key, { caller, untilMs: startMs + keyCacheMs });
    return caller;
  };

  /** A look-up in flight that is recent enough to share. */
  const shared = (key: string): Promise<Caller | false> | undefined => {
    const last = asked.get(key);
    return last && performance.now() < last.untilMs ? last.asking : undefined;
  };

  /** Looks a key up once for all requests that arrive with it meanwhile. */
  const ask = (key: string): Promise<Caller | false> => {
    const other = shared(key);
    if (other) return other;
    const startMs = performance.now();
    const asking = read(key, startMs).finally(() => {
      if (asked.get(key)?.asking === asking) asked.delete(key);
    });
    asked.set(key, { asking, untilMs: startMs + keyCacheMs });
    return asking;
  };

  const lookUp = async (request: FastifyRequest, key: string): Promise<Caller> => {
    const address = addressOf(request);
    const { minute, day } = limiter.peek(address, byAddress);
    const room = Math.min(minute.remaining, day.remaining);
    // A key that was valid before is no guess, and a shared look-up costs nothing.
    const isFree = trusted.has(key) || shared(key) !== undefined;
    const caller = isFree
      ? await ask(key)
      : await throttle.run(
          address.id,
          room,
          async () => recall(key) ?? (request.raw.destroyed ? false : ask(key)),
        );
    if (!caller) throw unknownKey();
    return caller;
  };

  const identify = (request: FastifyRequest) => {
    const { headers, raw } = request;
    // Node.js uses the first value. A proxy in front of the service may use the last.
    if (headers.authorization !== undefined && fieldLines(raw, 'authorization').length > 1)
      throw unauthorized('Authorization must be sent once.', 'invalid_token');
    const key = presentedKey(headers.authorization, headers['x-api-key'] as string | undefined);
    const caller = recall(key);
    if (caller) return caller;
    if (caller === false) throw unknownKey();
    if (!isWellFormedKey(key))
      throw unauthorized('The API key is malformed. It may be mistyped or incomplete.', 'invalid_token');
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

/** The key in `Authorization: Bearer` or `X-API-Key`. */
export function presentedKey(authorization: string | undefined, apiKey: string | undefined): string {
  const key = authorization === undefined ? apiKey : (bearerToken(authorization) ?? apiKey);
  if (key === undefined)
    throw unauthorized('Send an API key, as "Authorization: Bearer KEY" or "X-API-Key: KEY".');
  if (apiKey !== undefined && apiKey !== key)
    throw unauthorized('Authorization and X-API-Key have different keys. Send one key.', 'invalid_token');
  return key;
}

/** The token of a Bearer credential, or undefined for another scheme. Schemes ignore case (RFC 9110, section 11.1). */
function bearerToken(authorization: string): string | undefined {
  const isBearer =
    authorization.startsWith('Bearer ') || authorization.slice(0, 7).toLowerCase() === 'bearer ';
  return isBearer ? authorization.slice(7).trimStart() : undefined;
}
