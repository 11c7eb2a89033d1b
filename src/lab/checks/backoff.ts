import type { Recorded } from '../recordings/recorded.ts';
import type { Check } from './check.ts';
import { thingOf } from './known-retries.ts';
import { earliestAfter, follows, isRead, isSuccess, isTransient, uncertainFaults } from './request-facts.ts';
import { certainRetries, chainsOf, type Retry, requestsOf, waitOf } from './retry-pairs.ts';
import type { Traffic } from './traffic.ts';

/** A shorter wait is none: even a retry on a new connection to this machine takes less. */
const atOnceMs = 10;
/** A wait of this length is intended. */
const pauseMs = 100;
/** This many retries without an intended wait are too many, jitter or not. */
const manyRetries = 4;
/** Waits within this ratio are equal. Three waits with full jitter are so close in 1 % of cases. */
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

/** The chains of retries that surely come from one worker, without those of pollers. */
function chainsIn(traffic: Traffic): Chain[] {
  const isPoll = pollsIn(traffic);
  return chainsOf(certainRetries(traffic, isFailure))
    .map((retries) => ({ retries, waitsMs: retries.map(waitOf) }))
    .filter((chain) => !isPoll(chain));
}

/**
 * Tells whether a chain belongs to a poller, which repeats a request at the same pace after a success, too. The only worker of a poller
 * sends as many other requests in between.
 */
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
        waitOf(pair) >= shortestMs &&
        waitOf(pair) <= longestMs &&
        stepsOf(pair) <= mostSteps,
    );
  };
}

export const backoffGrows: Check = {
  name: 'backoff.grows',
  level: 'required',
  asks: 'A client that retries more than once waits longer each time.',
  judged: `Judged are retries of one request by one worker, after failures without \`Retry-After\`. A later wait of at least ${pauseMs} ms that is ${growthRatio} times the first passes. These fail: two or more retries that all come within ${atOnceMs} ms, ${manyRetries} or more in a row with waits below ${pauseMs} ms, and three or more equal waits of ${pauseMs} ms or more (within ${Math.round((sameRatio - 1) * 100)} %). Other waits may be jitter, or shorter ones that a busy machine made longer. Reads that come at the same pace after a success, too, are polls and not judged.`,
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

/** No HTTP library in wide use makes more by default: most make 3 to 6, package managers 11. */
const maxAttempts = 20;

/** The requests with each `Idempotency-Key`. */
const keyedAttempts = (requests: readonly Recorded[]) => {
  const keyed = requests.filter((request) => thingOf(request) !== undefined);
  return [...Map.groupBy(keyed, thingOf).values()];
};

/** Whether so many attempts failed, without a wait that was asked for, and yet another one came. */
const isUnbounded = (attempts: readonly Recorded[]) =>
  attempts.length > maxAttempts && attempts.filter(isFailure).length >= maxAttempts;

export const attemptsBounded: Check = {
  name: 'attempts.bounded',
  level: 'recommended',
  asks: `The client gives up after some attempts, ${maxAttempts} at most.`,
  judged: `Judged are retries as in \`backoff.grows\`, and all POSTs with one \`Idempotency-Key\`. More than ${maxAttempts} attempts at one request in a row fail. To give up after fewer, with at least one retry, and to send something else passes. A client may wait for the end of a limit or a ban as often as \`Retry-After\` says.`,
  unseen: 'No request was retried and given up.',
  faults: uncertainFaults,
  advice: 'Count the attempts or limit their total time, and then report the failure to the caller.',
  guide: 'Errors',
  judge(traffic) {
    const chains = chainsIn(traffic).map(({ retries }) => retries);
    const { requests } = traffic;
    const long = chains.filter((retries) => retries.length >= maxAttempts).map(requestsOf);
    // Attempts with one key are at one thing, also if some of them overlap.
    const bad = [...long, ...keyedAttempts(requests).filter(isUnbounded)];
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
      passed: 'The client gave up in the end, and went on.',
    };
  },
};
