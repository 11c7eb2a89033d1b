import type { FastifyRequest } from 'fastify';
import type { Database } from '../db/database.ts';
import { ApiError } from '../errors.ts';
import { fieldLines } from '../http/headers.ts';
import { isWellFormedKey } from './key.ts';
import { type Caller, findCaller } from './keys.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends the request; set for every operation. */
    caller: Caller | undefined;
  }
}

/** How long a key is trusted before it is looked up again. Changes to keys take effect within a second. */
const trustMs = 500;
const maxTrustedKeys = 100_000;

export type Identify = (request: FastifyRequest) => Caller | Promise<Caller>;

/**
 * Finds the caller of a request by its key. The answer is immediate for a key seen in the last half second and a
 * promise otherwise. Both throw `unauthorized` where there is no valid key (RFC 6750, section 3).
 */
export function identifier(db: Database): Identify {
  const trusted = new Map<string, { caller: Caller; untilMs: number }>();
  const lookUp = async (key: string) => {
    const caller = await findCaller(db.read, key);
    if (!caller) throw unauthorized('The API key is unknown or revoked.', 'invalid_token');
    if (trusted.size >= maxTrustedKeys) trusted.clear();
    trusted.set(key, { caller, untilMs: performance.now() + trustMs });
    return caller;
  };
  return ({ headers, raw }) => {
    // Node.js takes the first. Whoever stands before this service may take the last.
    if (headers.authorization !== undefined && fieldLines(raw, 'authorization').length > 1) {
      throw unauthorized('Authorization must stand once.', 'invalid_token');
    }
    const key = presentedKey(headers.authorization, headers['x-api-key'] as string | undefined);
    const known = trusted.get(key);
    if (known && performance.now() < known.untilMs) return known.caller;
    if (!isWellFormedKey(key)) {
      throw unauthorized('This is not a well-formed API key; it may be mistyped.', 'invalid_token');
    }
    return lookUp(key);
  };
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

function unauthorized(message: string, error?: 'invalid_token'): ApiError {
  const challenge = error ? `Bearer realm="petstore", error="${error}"` : 'Bearer realm="petstore"';
  return new ApiError('unauthorized', message, { 'www-authenticate': challenge });
}
