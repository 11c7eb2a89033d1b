import { headOf } from '../recordings/link-attempts.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import {
  earliestAfter,
  endOf,
  freeAtMs,
  hasSameFields,
  isRedirect,
  isSurelySame,
  isTouchedByAny,
  redirectFaults,
} from './request-facts.ts';
import type { Traffic } from './traffic.ts';

/** A failed request and its retry. `recordings/link-attempts.ts` links all requests with one fingerprint, with any outcome. */
export interface Retry {
  failed: Recorded;
  retry: Recorded;
}

/** How long a client waited before a retry. */
export const retryWaitMs = ({ failed, retry }: Retry) => Math.max(0, retry.atMs - endOf(failed));

/** If the expected number of requests is unknown, a later request is a new one. */
const retryWithinMs = 60_000;

/** Pairs that may count against the client: with one worker the next equal request, with several the next one on its connection. */
export function certainRetries(traffic: Traffic, isFailure: (request: Recorded) => boolean): Retry[] {
  const { requests, isOfOneWorker, knownRetries, isCounted, isOfSameWorker } = traffic;
  const latest = new Map<string, Recorded>();
  const retries: Retry[] = [];
  for (const request of requests) {
    const { fingerprint, connection } = request;
    const place = isOfOneWorker ? fingerprint : `${connection} ${fingerprint}`;
    const known = knownRetries.get(request);
    const guess = latest.get(place);
    const isSure = (failed: Recorded) =>
      !isCounted(request) &&
      request.atMs >= freeAtMs(failed) &&
      request.atMs < (earliestAfter(failed) ?? endOf(failed)) + retryWithinMs &&
      repeats(request, failed) &&
      isOfSameWorker(request, failed);
    const failed = known ?? (guess && isSure(guess) ? guess : undefined);
    if (failed && isFailure(failed)) retries.push({ failed, retry: request });
    latest.set(place, request);
  }
  return retries;
}

/** Whether it is certainly the same request. Two POSTs of one length may create two resources; two equal changes may not. */
const repeats = (request: Recorded, failed: Recorded) =>
  isSurelySame(request, failed) || (request.method !== 'POST' && hasSameFields(request, failed));

/** Failures with the next request of the only worker, if that is certainly the same. */
export const retriesInRow = (
  { requests, isOfOneWorker }: Traffic,
  isFailure: (request: Recorded) => boolean,
): Retry[] =>
  requests.flatMap((failed, index) => {
    const retry = requests[index + 1];
    const isSame = retry?.fingerprint === failed.fingerprint && repeats(retry, failed);
    return isSame && isOfOneWorker && isFailure(failed) ? [{ failed, retry }] : [];
  });

/** Each request with the one before it of the same name, from any worker and for any reason. */
export function successivePairs(
  requests: readonly Recorded[],
  nameOf: (request: Recorded) => string | undefined,
): Retry[] {
  const latest = new Map<string, Recorded>();
  return requests.flatMap((retry) => {
    const name = nameOf(retry);
    if (name === undefined) return [];
    const failed = latest.get(name);
    latest.set(name, retry);
    return failed ? [{ failed, retry }] : [];
  });
}

/** The requests that followed a redirect. They are recorded with the target and the fault of the redirected one. */
export function followedRedirects(requests: readonly Recorded[]): Retry[] {
  const redirects = new Map<string, Recorded>();
  return requests.flatMap((retry) => {
    if (!isTouchedByAny(retry, redirectFaults)) return [];
    const place = `${retry.fault} ${retry.target}`;
    const failed = redirects.get(place);
    if (isRedirect(retry)) redirects.set(place, retry);
    else redirects.delete(place);
    return failed && !isRedirect(retry) ? [{ failed, retry }] : [];
  });
}

/**
 * Pairs in favor of the client: a later request with the fingerprint of a failed one may be its retry. It is the retry of one failure at
 * most, so parallel workers give separate pairs. If a body was not read, an equal head is enough.
 * `unretried`: the failures without a retry.
 */
export function possibleRetries(
  traffic: Traffic,
  isFailure: (request: Recorded) => boolean,
): { retries: Retry[]; unretried: Recorded[] } {
  const { requests, knownRetries, isCounted } = traffic;
  const failures = requests.filter(isFailure);
  // An equal POST may create another resource.
  const again = retriesInRow(traffic, (request) => request.method !== 'POST' && isFailure(request));
  const inRow = new Set(again.map(({ failed }) => failed));
  const repeated = new Set(knownRetries.values());
  const mayComeAgain = (failed: Recorded) =>
    !repeated.has(failed) && (!isCounted(failed) || inRow.has(failed));
  const ending = failures.filter(mayComeAgain).sort((a, b) => freeAtMs(a) - freeAtMs(b));
  const queues = new Map<string, Recorded[]>();
  const retries: Retry[] = [];
  let ended = 0;
  for (const request of requests) {
    for (; ended < ending.length && freeAtMs(ending[ended] as Recorded) <= request.atMs; ended++) {
      const failed = ending[ended] as Recorded;
      const names = [failed.fingerprint, anyBody(failed), ...(failed.isGuessed ? [noBody(failed)] : [])];
      for (const name of names) {
        const queue = queues.get(name) ?? [];
        queues.set(name, queue);
        queue.push(failed);
      }
    }
    const known = knownRetries.get(request);
    const take = (name: string) => firstLeft(queues.get(name), repeated);
    const failed =
      known ?? take(request.fingerprint) ?? take(request.isGuessed ? anyBody(request) : noBody(request));
    if (!failed || !isFailure(failed)) continue;
    repeated.add(failed);
    retries.push({ failed, retry: request });
  }
  return { retries, unretried: failures.filter((failed) => !repeated.has(failed)) };
}

const anyBody = ({ fingerprint }: Recorded) => headOf(fingerprint);
const noBody = (request: Recorded) => `${anyBody(request)} not read`;

/** Removes the requests at the front of a queue that have their retries, and returns the next one. */
function firstLeft(queue: Recorded[] = [], repeated: ReadonlySet<Recorded>): Recorded | undefined {
  while (queue[0] && repeated.has(queue[0])) queue.shift();
  return queue[0];
}

/** Chains of retries: each retry but the last one failed, too. */
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

/** Removes pairs whose retry is already in another pair. */
export const distinct = (retries: readonly Retry[]): Retry[] => [
  ...new Map(retries.map((pair) => [pair.retry, pair])).values(),
];

export const requestsOf = (retries: readonly Retry[]) =>
  retries.flatMap(({ failed, retry }) => [failed, retry]);
