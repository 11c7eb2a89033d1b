import type { Recorded } from '../recordings/recorded-request.ts';
import type { Check } from './check.ts';
import { thingOf } from './known-retries.ts';
import { earliestAfter, follows, isRead, isSuccess, isTransient, uncertainFaults } from './request-facts.ts';
import { certainRetries, chainsOf, type Retry, requestsOf, retryWaitMs } from './retry-pairs.ts';
import type { Traffic } from './traffic.ts';

/** A shorter wait counts as none: a retry on a new connection to the same machine takes less. */
const atOnceMs = 10;
/** Shorter waits count as unintended. */
const pauseMs = 100;
/** This many retries without an intended wait are too many, with or without jitter. */
const manyRetries = 4;
/** Waits within this ratio are equal. In 1 % of cases three waits with full jitter are that close. */
const sameRatio = 1.25;
const growthRatio = 1.5;

/** Successive retries of one worker. */
interface Chain {
  retries: readonly Retry[];
  waitsMs: readonly number[];
}

/** Whether the waits of a chain grow; undefined if they may be jitter. */
function growthOf({ waitsMs }: Chain): boolean | undefined {
  if (waitsMs.length < 2) return undefined;
  const [first, ...later] = waitsMs as [number, ...number[]];
  const longestLater = later.reduce((a, b) => Math.max(a, b));
  if (longestLater >= pauseMs && longestLater >= first * growthRatio) return true;
  const longest = Math.max(first, longestLater);
  if (longest < atOnceMs || isHammering(waitsMs)) return false;
  const shortest = waitsMs.reduce((a, b) => Math.min(a, b));
  const areEqual = shortest >= pauseMs && longest <= shortest * sameRatio;
  return waitsMs.length >= 3 && areEqual ? false : undefined;
}

/** Whether `manyRetries` in a row came without an intended wait. */
function isHammering(waitsMs: readonly number[]): boolean {
  let short = 0;
  return waitsMs.some((ms) => {
    short = ms < pauseMs ? short + 1 : 0;
    return short >= manyRetries;
  });
}

/** Failures after which the client chooses the wait. */
const isFailure = (request: Recorded) => isTransient(request) && earliestAfter(request) === undefined;

/** The chains of retries that certainly come from one worker, without those of pollers. */
function chainsIn(traffic: Traffic): Chain[] {
  const isPoll = pollsIn(traffic);
  return chainsOf(certainRetries(traffic, isFailure))
    .map((retries) => ({ retries, waitsMs: retries.map(retryWaitMs) }))
    .filter((chain) => !isPoll(chain));
}

/** A poller also repeats a request at the same pace after a success, and with one worker after as many other requests. */
function pollsIn(traffic: Traffic) {
  const { requests, isOfOneWorker } = traffic;
  const pairs = certainRetries(traffic, () => true);
  const placeOf = new Map(requests.map((request, index) => [request, index]));
  const stepsOf = ({ failed, retry }: Retry) =>
    isOfOneWorker ? Number(placeOf.get(retry)) - Number(placeOf.get(failed)) : 0;
  const before = new Map(pairs.map((pair) => [pair.retry, pair]));
  const after = new Map(pairs.map((pair) => [pair.failed, pair]));
  return ({ retries, waitsMs }: Chain): boolean => {
    const { failed: first } = retries[0] as Retry;
    if (!isRead(first)) return false;
    const shortestMs = waitsMs.reduce((a, b) => Math.min(a, b)) / sameRatio;
    const longestMs = waitsMs.reduce((a, b) => Math.max(a, b)) * sameRatio;
    const mostSteps = retries.map(stepsOf).reduce((a, b) => Math.max(a, b));
    return [before.get(first), after.get((retries.at(-1) as Retry).retry)].some(
      (pair) =>
        pair &&
        isSuccess(pair.failed) &&
        retryWaitMs(pair) >= shortestMs &&
        retryWaitMs(pair) <= longestMs &&
        stepsOf(pair) <= mostSteps,
    );
  };
}

export const backoffGrows: Check = {
  name: 'backoff.grows',
  level: 'required',
  asks: 'A client that retries more than once waits longer each time.',
  judged: `Looks at retries of one request by one worker, after failures without \`Retry-After\`. Passes: a later wait of at least ${pauseMs} ms and ${growthRatio} times the first. Fails: two or more retries that all come within ${atOnceMs} ms; ${manyRetries} or more in a row with waits below ${pauseMs} ms; three or more equal waits (within ${Math.round((sameRatio - 1) * 100)} %) of ${pauseMs} ms or more. Not judged: other waits, which may be jitter or the delay of a busy machine; reads that come at the same pace after a success, which are polls.`,
  unseen: 'No request failed twice in a row without `Retry-After`, or the waits may be jitter.',
  faults: uncertainFaults,
  advice: 'Double the wait after each failure, with some jitter and up to a maximum.',
  guide: 'Errors',
  judge(traffic) {
    const chains = Map.groupBy(chainsIn(traffic), growthOf);
    const [bad = [], good = []] = [chains.get(false), chains.get(true)];
    return {
      bad: bad.flatMap(({ retries }) => requestsOf(retries)),
      good: good.flatMap(({ retries }) => requestsOf(retries)),
      failed: () => {
        const waits = (bad[0] as Chain).waitsMs.map((ms) => `${Math.round(ms)} ms`);
        return `The waits between attempts did not grow: ${waits.slice(0, 5).join(', ')}${waits.length > 5 ? ', …' : ''}.`;
      },
      passed: 'The waits between attempts grew.',
    };
  },
};

/** No common HTTP library makes more by default: most make 3 to 6, package managers 11. */
const maxAttempts = 20;

/** Whether more than `maxAttempts` came, and at least that many failed without `Retry-After`. */
const isUnbounded = (attempts: readonly Recorded[]) =>
  attempts.length > maxAttempts && attempts.filter(isFailure).length >= maxAttempts;

export const attemptsBounded: Check = {
  name: 'attempts.bounded',
  level: 'recommended',
  asks: `The client gives up after a number of attempts, ${maxAttempts} at most.`,
  judged: `Looks at retries as in \`backoff.grows\`, and at all POSTs with one \`Idempotency-Key\`. Fails: more than ${maxAttempts} attempts at one request in a row. Passes: a client that gives up after fewer, with at least one retry, and sends something else. Not judged: attempts that failed with \`Retry-After\`. A client may wait and retry as often as the service asks.`,
  unseen: 'No request was retried and then given up.',
  faults: uncertainFaults,
  advice: 'Count the attempts or limit their total time, and then report the failure to the caller.',
  guide: 'Errors',
  judge(traffic) {
    const chains = chainsIn(traffic).map(({ retries }) => retries);
    const { requests } = traffic;
    const long = chains.filter((retries) => retries.length >= maxAttempts).map(requestsOf);
    // Attempts with one key belong together, even if they overlap.
    const keyed = Map.groupBy(requests.filter(thingOf), thingOf).values();
    const bad = [...long, ...keyed.filter(isUnbounded)];
    const nameOf = (request: Recorded) => thingOf(request) ?? request.fingerprint;
    const latest = new Map(requests.map((request) => [nameOf(request), request]));
    const last = requests.at(-1);
    const isGivenUp = (retries: readonly Retry[]) => {
      const { retry } = retries.at(-1) as Retry;
      const isLatest = latest.get(nameOf(retry)) === retry;
      return isLatest && isFailure(retry) && last !== undefined && last !== retry && follows(last, retry);
    };
    return {
      bad: bad.flat(),
      good: chains.filter(isGivenUp).flatMap(requestsOf),
      failed: `The client made ${Math.max(...bad.map((attempts) => new Set(attempts).size))} attempts at one request.`,
      passed: 'The client gave up in the end, and continued with other requests.',
    };
  },
};
