import { type LookupAddress, NODATA, NOTFOUND } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from './target-policy.ts';

/** Finds the addresses of a name. Its errors have the codes of `node:dns`. */
export interface NameResolver {
  resolve4(name: string): Promise<string[]>;
  resolve6(name: string): Promise<string[]>;
}

/** Queries the name servers of this machine. `lookup` would block a thread of Node.js while a name server is slow. */
export const systemResolver = (): NameResolver => new Resolver({ timeout: 2_000, tries: 2 });

/** An attempt has failed. The message is a sentence for the owner of the webhook. */
export class AttemptError extends Error {}

/** The maximum number of addresses of each family that an attempt tries. */
const maxPerFamily = 2;

/**
 * Resolves the host of a checked URL. Throws AttemptError if it has no address, or any that is not public. The message contains no
 * address, since private name servers may have answered.
 */
export async function resolveTarget(host: string, resolver: NameResolver): Promise<LookupAddress[]> {
  if (isIP(host)) return [withFamily(host)];
  if (host === 'localhost') return ['127.0.0.1', '::1'].map(withFamily);
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.flat().length === 0) {
    const isKnown = answers.every((answer) => answer.status === 'fulfilled' || hasNone(answer.reason));
    throw new AttemptError(isKnown ? 'The name has no address.' : 'The name cannot be resolved.');
  }
  if (!found.flat().every(isPublicAddress))
    throw new AttemptError('The name resolves to an address that is not allowed: it must be public.');
  return found.flatMap((addresses) => addresses.slice(0, maxPerFamily)).map(withFamily);
}

const hasNone = ({ code }: NodeJS.ErrnoException) => code === NODATA || code === NOTFOUND;

const withFamily = (address: string): LookupAddress => ({ address, family: isIP(address) });
