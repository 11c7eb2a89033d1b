import { headOf } from '../../recordings/attempts.ts';
import type { Recorded } from '../../recordings/recorded.ts';
import { type ConnectionUse, connectionUse } from './connection-use.ts';
import { endOf, follows, isSurelySame } from './outcomes.ts';

/**
 * A failed request, and the one that came for it. Checks go by these pairs; the gaps that readers of a recording see are between any
 * requests with one fingerprint, whatever came of them (`recordings/attempts.ts`).
 */
export interface Retry {
  failed: Recorded;
  retry: Recorded;
}

/** How long a client waited before a retry. */
export const waitOf = ({ failed, retry }: Retry) => Math.max(0, retry.atMs - endOf(failed));

/** So many requests with an equal head may fail at once and wait for their retry. */
const maxOpen = 500;

/**
 * In favour of the client: any request with the fingerprint of a failed one that began after its end may be its retry, of one failure
 * at most. So workers that fail side by side and retry side by side are pairs. Where a body was not read, an equal head is enough.
 * `unretried` are failures without one.
 */
export function possibleRetries(
  requests: readonly Recorded[],
  isFailure: (request: Recorded) => boolean,
): { retries: Retry[]; unretried: Recorded[] } {
  const open = new Map<string, Recorded[]>();
  const retries: Retry[] = [];
  const unretried: Recorded[] = [];
  for (const request of requests) {
    const { fingerprint, isGuessed } = request;
    const failures = open.get(headOf(fingerprint)) ?? [];
    const find = (fits: (failure: Recorded) => unknown) =>
      failures.find((failure) => fits(failure) && follows(request, failure));
    const failed =
      find((failure) => failure.fingerprint === fingerprint) ??
      find((failure) => isGuessed || failure.isGuessed);
    if (failed) {
      failures.splice(failures.indexOf(failed), 1);
      retries.push({ failed, retry: request });
    }
    if (!isFailure(request)) continue;
    failures.push(request);
    open.set(headOf(fingerprint), failures);
    if (failures.length > maxOpen) unretried.push(failures.shift() as Recorded);
  }
  return { retries, unretried: [...unretried, ...[...open.values()].flat()] };
}

/** What comes later is another question, or another thing. */
export const retryWithinMs = 60_000;

/**
 * Against the client: only what is surely the same request, and sent by the worker that had the failure. That is the next one with its
 * fingerprint on its connection, or, when nothing came on that any more, one that opens a connection while nothing else is under way.
 */
export function certainRetries(
  requests: readonly Recorded[],
  isFailure: (request: Recorded) => boolean,
  use: ConnectionUse = connectionUse(requests),
): Retry[] {
  const onConnection = new Map<string, Recorded>();
  const left = new Map<string, Queue>();
  const retries: Retry[] = [];
  for (const request of requests) {
    const { fingerprint, connection } = request;
    const place = `${connection} ${fingerprint}`;
    const failed =
      onConnection.get(place) ?? (use.opensAlone(request) ? left.get(fingerprint)?.take(request) : undefined);
    onConnection.delete(place);
    if (failed && isCertain({ failed, retry: request }, use)) retries.push({ failed, retry: request });
    if (!isFailure(request)) continue;
    if (!use.isLast(request)) onConnection.set(place, request);
    else left.set(fingerprint, (left.get(fingerprint) ?? new Queue()).add(request));
  }
  return retries;
}

const isCertain = ({ failed, retry }: Retry, use: ConnectionUse) =>
  retry.atMs - endOf(failed) < retryWithinMs &&
  isSurelySame(retry, failed) &&
  use.isOfSameWorker(retry, failed);

/** Failures that wait for their retries, in the order of time. */
class Queue {
  readonly #failures: Recorded[] = [];
  #next = 0;

  add(failure: Recorded): this {
    this.#failures.push(failure);
    return this;
  }

  /** The oldest that `request` may be the retry of. */
  take(request: Recorded): Recorded | undefined {
    for (; this.#next < this.#failures.length; this.#next++) {
      const failure = this.#failures[this.#next] as Recorded;
      if (request.atMs - endOf(failure) < retryWithinMs) {
        this.#next++;
        return failure;
      }
    }
    return undefined;
  }
}

/** Retries one after another: each fails in turn, but for the last one perhaps. */
export function chainsOf(retries: readonly Retry[]): Retry[][] {
  const chains = new Map<Recorded, Retry[]>();
  for (const link of retries) {
    const chain = chains.get(link.failed) ?? [];
    chains.delete(link.failed);
    chain.push(link);
    chains.set(link.retry, chain);
  }
  return [...chains.values()];
}

export const requestsOf = (retries: readonly Retry[]) =>
  retries.flatMap(({ failed, retry }) => [failed, retry]);
