import type { Recorded } from '../../recordings/recorded.ts';

/** A failed attempt, and the one that came after it. */
export interface Retry {
  failed: Recorded;
  retry: Recorded;
}

export const endOf = ({ atMs, tookMs }: Recorded) => atMs + tookMs;

const isTouchedBy = ({ fault = '' }: Recorded, name: string) => fault.split(' ').includes(name);

/** Whether any of some faults touched it. */
export const isTouchedByAny = (request: Recorded, names: readonly string[]) =>
  names.some((name) => isTouchedBy(request, name));

/** Whether a client sent both on one connection of its own, one after the other. A proxy mixes those of many. */
export const shareConnection = (one: Recorded, other: Recorded) =>
  !one.isProxied && !other.isProxied && one.connection === other.connection;

/** Whether `later` began after `earlier` had ended. On one connection the answer of a request ends before the next request. */
export const follows = (later: Recorded, earlier: Recorded) =>
  later.atMs >= endOf(earlier) || (shareConnection(later, earlier) && later.atMs > earlier.atMs);

export const isSuccess = ({ status = 0 }: Recorded) => (status >= 200 && status < 300) || status === 304;

/** Whether its client got no whole answer. Behind a proxy nobody knows what the client got, and a proxy may retry by itself. */
export const isBroken = (request: Recorded) =>
  !request.isProxied && (request.status === undefined || isTouchedBy(request, 'truncated'));

const uncertain = [408, 500, 502, 504];

/** Whether its client cannot know if the request took effect. */
export const isUncertain = (request: Recorded) =>
  isBroken(request) || uncertain.includes(request.status as number);

/** Whether it failed in a way that passes. */
export const isTransient = (request: Recorded) =>
  isUncertain(request) || request.status === 429 || request.status === 503;

/** The text of the Idempotency-Key. */
export const idempotencyKeyOf = ({ headers }: Recorded) => headers['idempotency-key'];

/** So many equal requests at once may fail and wait for their retry. */
const maxOpen = 100;

/**
 * Retries: the first request with the fingerprint of a failed one that began after its end. Each request retries one at most, so
 * workers that fail side by side and retry side by side are pairs. `unretried` are failures without one.
 */
export function retriesOf(
  requests: readonly Recorded[],
  isFailure: (request: Recorded) => boolean,
): { retries: Retry[]; unretried: Recorded[] } {
  const open = new Map<string, Recorded[]>();
  const retries: Retry[] = [];
  const unretried: Recorded[] = [];
  for (const request of requests) {
    const failures = open.get(request.fingerprint) ?? [];
    const index = failures.findIndex((failure) => follows(request, failure));
    const [failed] = index < 0 ? [] : failures.splice(index, 1);
    if (failed) retries.push({ failed, retry: request });
    if (!isFailure(request)) continue;
    failures.push(request);
    open.set(request.fingerprint, failures);
    if (failures.length > maxOpen) unretried.push(failures.shift() as Recorded);
  }
  return { retries, unretried: [...unretried, ...[...open.values()].flat()] };
}

/** Retries one after another: each fails in turn, but for the last one perhaps. */
export function chainsOf(retries: readonly Retry[]): Retry[][] {
  const chains = new Map<Recorded, Retry[]>();
  for (const link of retries) {
    const chain = chains.get(link.failed) ?? [];
    chains.delete(link.failed);
    chains.set(link.retry, [...chain, link]);
  }
  return [...chains.values()];
}

export const requestsOf = (retries: readonly Retry[]) =>
  retries.flatMap(({ failed, retry }) => [failed, retry]);
