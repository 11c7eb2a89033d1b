import { headOf } from '../recordings/link-attempts.ts';
import type { Recorded } from '../recordings/recorded.ts';
import { earliestAfter, endOf, follows, freeAtMs, hasSameFields, isSurelySame } from './request-facts.ts';
import type { Traffic } from './traffic.ts';

/** A failed request and its retry. `recordings/link-attempts.ts` links any requests with one fingerprint, whatever their outcomes. */
export interface Retry {
  failed: Recorded;
  retry: Recorded;
}

/** How long a client waited before a retry. */
export const waitOf = ({ failed, retry }: Retry) => Math.max(0, retry.atMs - endOf(failed));

/** Without a known number of requests, one that comes so long after it could have come is a new one. */
const retryWithinMs = 60_000;

/**
 * Pairs that may count against the client: surely the same request, sent by the worker that had the failure. If there is one worker, that
 * is the next with this fingerprint; if there are several, the next on this connection.
 */
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

/**
 * Whether a request with the fingerprint of a failed one is surely the same. If a body was not read, two POSTs of one length may create two
 * things. A change of the same resource with a body of the same length, under the same conditions, is taken for the same.
 */
const repeats = (request: Recorded, failed: Recorded) =>
  isSurelySame(request, failed) || (request.method !== 'POST' && hasSameFields(request, failed));

/** Failures with the next request of the only worker, if that is surely the same. */
export const retriesInRow = (
  { requests, isOfOneWorker }: Traffic,
  isFailure: (request: Recorded) => boolean,
): Retry[] =>
  requests.flatMap((failed, index) => {
    const retry = requests[index + 1];
    const isSame = retry?.fingerprint === failed.fingerprint && repeats(retry, failed);
    return isSame && isOfOneWorker && isFailure(failed) ? [{ failed, retry }] : [];
  });

/** Failures with the next equal request after their end, whoever sent it, and for whatever reason. */
export function equalPairs(
  requests: readonly Recorded[],
  isFailure: (request: Recorded) => boolean,
): Retry[] {
  const latest = new Map<string, Recorded>();
  return requests.flatMap((retry) => {
    const failed = latest.get(retry.fingerprint);
    latest.set(retry.fingerprint, retry);
    return failed && isFailure(failed) && follows(retry, failed) ? [{ failed, retry }] : [];
  });
}

/**
 * Pairs in favor of the client: a request with the fingerprint of a failed one, which began after its end, may be its retry. It is the
 * retry of one failure at most, so workers that fail and retry side by side give pairs. If a body was not read, an equal head is enough.
 * `unretried`: the failures without a retry.
 */
export function possibleRetries(
  traffic: Traffic,
  isFailure: (request: Recorded) => boolean,
): { retries: Retry[]; unretried: Recorded[] } {
  const { requests, knownRetries, isCounted } = traffic;
  const failures = requests.filter(isFailure);
  // An equal POST may create another thing.
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
      for (const name of [
        failed.fingerprint,
        anyBody(failed),
        ...(failed.isGuessed ? [noBody(failed)] : []),
      ]) {
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

/** Chains of retries: each but the last one fails in turn. */
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

/** The pairs without those of a retry that is in another one already. */
export const distinct = (retries: readonly Retry[]): Retry[] => [
  ...new Map(retries.map((pair) => [pair.retry, pair])).values(),
];

export const requestsOf = (retries: readonly Retry[]) =>
  retries.flatMap(({ failed, retry }) => [failed, retry]);
