import type { Recorded } from '../../recordings/recorded.ts';
import { type Check, failed, notObserved, passed } from './check.ts';
import { type ConnectionUse, connectionUse } from './connection-use.ts';
import { isSuccess, isTransient, shareConnection, uncertainFaults } from './outcomes.ts';
import { certainRetries, chainsOf, type Retry, requestsOf, waitOf } from './retry-pairs.ts';

/** Nobody waits on purpose for less, and a retry that needs a new connection to this machine takes less. */
const atOnceMs = 10;
/** A wait of so many milliseconds is one that was meant. */
const pauseMs = 100;
/** So many retries without one such wait are too many, jitter or not. */
const manyRetries = 4;
/** Waits within this ratio are equal. Three waits with full jitter are so close to each other once in a hundred times. */
const sameRatio = 1.25;
const growthRatio = 1.5;

/** Retries of one worker, one after another. */
interface Chain {
  retries: readonly Retry[];
  waitsMs: readonly number[];
  /** On connections of their own workers could look like one that retries at once. */
  isOnOneConnection: boolean;
}

/** What a chain shows: that its waits grow, that they do not, or undefined, since jitter looks like anything. */
function growthOf({ waitsMs, isOnOneConnection }: Chain): boolean | undefined {
  if (waitsMs.length < 2) return undefined;
  const [first, ...later] = waitsMs as [number, ...number[]];
  const longestLater = later.reduce((a, b) => Math.max(a, b));
  if (longestLater >= pauseMs && longestLater >= first * growthRatio) return true;
  const longest = Math.max(first, longestLater);
  if (isOnOneConnection && longest < atOnceMs) return false;
  if (isHammering(waitsMs)) return false;
  const shortest = waitsMs.reduce((a, b) => Math.min(a, b));
  const isMeant = isOnOneConnection || shortest >= pauseMs;
  return waitsMs.length >= 3 && isMeant && longest <= shortest * sameRatio ? false : undefined;
}

/** Whether so many retries in a row came without one wait that was meant. */
const isHammering = (waitsMs: readonly number[]) =>
  waitsMs.some(
    (_, end) =>
      end + 1 >= manyRetries && waitsMs.slice(end + 1 - manyRetries, end + 1).every((ms) => ms < pauseMs),
  );

/** Failures that told no time: those with `Retry-After` have theirs. */
const isFailure = (request: Recorded) => isTransient(request) && request.answer['retry-after'] === undefined;

/** The chains of workers, without those of pollers and without those that may be several workers. */
function judgedChains(requests: readonly Recorded[]): Chain[] {
  const use = connectionUse(requests);
  const isPoll = pollsIn(requests, use);
  const lastToOpen = new Map<string, Recorded>();
  for (const request of requests) if (use.opens(request)) lastToOpen.set(request.fingerprint, request);
  return chainsOf(certainRetries(requests, isFailure, use)).flatMap((retries) => {
    const isOnOneConnection = retries.every(({ failed, retry }) => shareConnection(failed, retry));
    const { failed: first } = retries[0] as Retry;
    const { retry: last } = retries.at(-1) as Retry;
    // Workers that begin side by side look like a chain until their own retries come.
    const others = lastToOpen.get(first.fingerprint);
    if (!isOnOneConnection && others && others.atMs > last.atMs) return [];
    const chain = { retries, waitsMs: retries.map(waitOf), isOnOneConnection };
    return isPoll(chain) ? [] : [chain];
  });
}

/** Tells whether a chain is part of the pace of one who asks the same question all the time, also after a success. */
function pollsIn(requests: readonly Recorded[], use: ConnectionUse) {
  const pairs = certainRetries(requests, () => true, use);
  const before = new Map(pairs.map((pair) => [pair.retry, pair]));
  const after = new Map(pairs.map((pair) => [pair.failed, pair]));
  return ({ retries, waitsMs }: Chain): boolean => {
    const { failed: first } = retries[0] as Retry;
    if (first.method !== 'GET' && first.method !== 'HEAD') return false;
    const shortestMs = waitsMs.reduce((a, b) => Math.min(a, b)) / sameRatio;
    const longestMs = waitsMs.reduce((a, b) => Math.max(a, b)) * sameRatio;
    return [before.get(first), after.get((retries.at(-1) as Retry).retry)].some(
      (pair) => pair && isSuccess(pair.failed) && waitOf(pair) >= shortestMs && waitOf(pair) <= longestMs,
    );
  };
}

export const backoffGrows: Check = {
  name: 'backoff.grows',
  level: 'required',
  asks: 'A client that retries more than once waits longer each time.',
  judged: `Judged are retries of one request by one worker, after failures that told no time, as those with \`Retry-After\` have theirs. ${manyRetries} or more in a row with waits below ${pauseMs} ms fail it; on one connection, so do two or more that all come within ${atOnceMs} ms, and three or more waits that are equal (within ${Math.round((sameRatio - 1) * 100)} %), on new connections if they are ${pauseMs} ms or longer. A later wait of at least ${pauseMs} ms that is ${growthRatio} times the first passes. Anything else may be jitter. Not judged are one who asks the same question at the same pace after a success, too, retries on new connections if the same request opens one more afterwards, which may be those of several workers, and what the client itself gave up.`,
  unseen: 'No request failed at least twice in a row without a time told, or the waits could be jitter.',
  faults: uncertainFaults,
  advice:
    'Double the wait after each failure, up to a bound, with some chance in it, and stop after a few times.',
  guide: 'Errors',
  judge(requests) {
    const judged = judgedChains(requests).map((chain) => ({ ...chain, grows: growthOf(chain) }));
    const bad = judged.filter(({ grows }) => grows === false);
    if (bad.length > 0) {
      const waits = (bad[0] as Chain).waitsMs.map((ms) => `${Math.round(ms)} ms`);
      return failed(
        bad.flatMap(({ retries }) => requestsOf(retries)),
        `The waits between attempts did not grow: ${waits.slice(0, 5).join(', ')}${waits.length > 5 ? ', …' : ''}.`,
      );
    }
    const good = judged.filter(({ grows }) => grows === true);
    return good.length > 0
      ? passed(
          good.flatMap(({ retries }) => requestsOf(retries)),
          'The waits between attempts grew.',
        )
      : notObserved('No request was retried often enough to tell.');
  },
};
