import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { presentedKey } from '../../../access/keys/identify.ts';

/** How long a link works. Clients follow redirects at once. */
const lifeMs = 60_000;
const maxLinks = 1_000;

interface Link {
  method: string;
  target: string;
  key: string;
  /** The fault that made it. */
  fault: string;
  rehearsalId: string;
}

/** Links to single requests that need no key, like signed URLs, for a minute and while the rehearsal lasts. In memory only. */
export class OpenLinks {
  readonly #links = new LRUCache<string, Link>({ max: maxLinks, ttl: lifeMs });

  /** Makes a link to a request, or to another target with its method, and returns its place. */
  open(
    request: FastifyRequest,
    fault: string,
    rehearsalId: string,
    target = request.raw.url as string,
  ): string {
    const { headers, method } = request;
    const place = randomBytes(24).toString('base64url');
    const key = presentedKey(headers.authorization, headers['x-api-key'] as string | undefined);
    this.#links.set(place, { method, target, key, fault, rehearsalId });
    return place;
  }

  /** The link that a request follows, if any. */
  followedBy(request: IncomingMessage): Link | undefined {
    const { alias, method, url } = request;
    const link = alias === undefined ? undefined : this.#links.get(alias);
    return link && link.method === method && link.target === url ? link : undefined;
  }

  /** Adds the key of the link to a request that follows one. Returns other requests unchanged. */
  withKey(request: FastifyRequest): FastifyRequest {
    const link = this.followedBy(request.raw);
    if (!link) return request;
    return Object.create(request, { headers: { value: { authorization: `Bearer ${link.key}` } } });
  }
}
