import type { Recorded } from '../recordings/recorded.ts';
import { type Check, counted, inSeconds } from './check.ts';
import {
  earliestAfter,
  endOf,
  faultsWith,
  follows,
  hasSameFields,
  idempotencyKeyOf,
  isEarly,
  isRead,
  isSuccess,
  isSurelySame,
  isTransient,
  isUncertain,
  uncertainFaults,
  waitFaults,
} from './request-facts.ts';
import {
  certainRetries,
  chainsOf,
  distinct,
  equalPairs,
  possibleRetries,
  type Retry,
  requestsOf,
  retriesInRow,
  waitOf,
} from './retry-pairs.ts';

/** Answers that the same request would get again. After 401 the client may read its credentials again, once. */
const final = [400, 401, 403, 404, 405, 410, 413, 415, 422, 431];
const isFinal = (request: Recorded) =>
  final.includes(request.status as number) && request.code !== 'key_banned' && !isUncertain(request);

/** A later repetition is no retry: the program has a reason of its own. */
const soonMs = 5_000;
/** A client that waits so long between reads may wait for a resource to appear. */
const waitingMs = 250;

export const retryOnlyWhenUseful: Check = {
  name: 'retry.only-when-useful',
  level: 'required',
  asks: 'The client does not repeat a request after a final refusal: 400, 404, 410, 422 and the like.',
  judged: `After ${final.join(', ')} (but for a ban) the same request within ${soonMs / 1_000} s fails, unless a change succeeded in between. After 401 one retry is right, since the client may read its credentials again. GET and HEAD may wait for what answers 404, with ${waitingMs} ms or more between. An answer that did not come to its end is none. A request with another body, target, \`Content-Type\`, \`Idempotency-Key\` or condition is another request. To go on with other requests passes. What the client sends without faults, too, fails from the third in a row on. Once more is not judged, since two tests of a suite may ask for the same. 409 and 412 are not judged here.`,
  unseen: 'No request was refused so, no other request followed, or another worker may have sent the same.',
  faults: [...faultsWith((status, code) => final.includes(status) && code !== 'key_banned'), 'large-ids'],
  advice:
    'Retry only 408, 429, 500, 502, 503, 504 and broken connections, and report other errors to the caller.',
  guide: 'Errors',
  judge(traffic) {
    const { requests, isUsual } = traffic;
    const changes = changesBefore(requests);
    const isRepeated = (pair: Retry) =>
      pair.failed.fingerprint === pair.retry.fingerprint &&
      hasSameFields(pair.failed, pair.retry) &&
      waitOf(pair) < soonMs &&
      changes(pair.failed) === changes(pair.retry);
    const unusual = certainRetries(traffic, isFinal).filter(({ retry }) => !isUsual(retry));
    const inRow = chainsOf(retriesInRow(traffic, isFinal).filter(isRepeated)).filter(isNotOnPurpose);
    const certain = distinct([...unusual.filter(isRepeated), ...inRow.flat()]);
    const after401 = new Set(certain.flatMap(({ failed, retry }) => (failed.status === 401 ? [retry] : [])));
    const repeated = certain.filter((pair) => {
      const { failed } = pair;
      const isPatient = isRead(failed) && failed.status === 404 && waitOf(pair) >= waitingMs;
      const isFirstAfter401 = failed.status === 401 && !after401.has(failed);
      return !isPatient && !isFirstAfter401;
    });
    const possible = equalPairs(requests, isFinal).filter(isRepeated);
    const isDoubtful = possible.some(({ failed }) => failed.status !== 401);
    const last = requests.at(-1);
    const refused = requests.filter((request) => isFinal(request) && last && follows(last, request));
    return {
      bad: requestsOf(repeated),
      good: isDoubtful ? [] : refused,
      failed: () =>
        `${counted(repeated.length, 'request')} came again unchanged after ${(repeated[0] as Retry).failed.status}.`,
      passed: 'No request was retried after a final refusal.',
      unseen: isDoubtful
        ? 'A refused request came again: as a test suite does on purpose, from another worker, or to wait for a resource.'
        : 'No request got a final refusal, or no other request followed.',
    };
  },
};

/** A test suite may repeat a refused request on purpose, but once. */
const isNotOnPurpose = (inRow: readonly Retry[]) => inRow.length > 1;

/** Tells how many changes had succeeded when a request began. */
function changesBefore(requests: readonly Recorded[]): (request: Recorded) => number {
  const counts = new Map<Recorded, number>();
  let count = 0;
  for (const request of requests) {
    counts.set(request, count);
    if (!isRead(request) && isSuccess(request)) count++;
  }
  return (request) => counts.get(request) as number;
}

const maySafelyRetry = (request: Recorded) =>
  request.method !== 'POST' || idempotencyKeyOf(request) !== undefined || !isUncertain(request);

/** Whether a retry came too early, or may have done the work twice. Such a retry is nothing good. */
function isHarmful({ failed, retry }: Retry): boolean {
  const isTwice = failed.method === 'POST' && isUncertain(failed) && !hasSameFields(failed, retry);
  return isTwice || isEarly(retry, failed);
}

/** A client may give up at once when it is told to wait longer than its user would. */
const longestWaitMs = 300_000;
const asksForLongWait = (failed: Recorded) => (earliestAfter(failed) ?? 0) > failed.atMs + longestWaitMs;

/** A client that makes one retry, and gives up within this time, does not outlast the restart of a service. */
const shortOutageMs = 1_000;

export const failuresRetried: Check = {
  name: 'failures.retried',
  level: 'recommended',
  asks: 'The client tries again after a temporary failure: 408, 429, 500, 502, 503, 504, a broken connection, an answer that ends too soon.',
  judged: `A request that may be repeated and failed so must come again, unless it was a retry itself: a client may give up in the end. One that gives up after a single retry, less than ${inSeconds(shortOutageMs)} after the first attempt, fails. A retry that came too early, or with another \`Idempotency-Key\`, counts neither way. Neither what the client left before the answer need come again, nor what is to wait longer than ${longestWaitMs / 60_000} minutes. Read the report when the client has ended: one that still waits looks like one that has given up.`,
  unseen: 'No request that may be repeated failed so, or another request may have come in its place.',
  faults: [...waitFaults, ...uncertainFaults],
  advice:
    'Retry temporary failures a few times, with growing waits, and take an answer shorter than its `Content-Length` for one.',
  guide: 'Errors',
  judge(traffic) {
    const { retries, unretried } = possibleRetries(
      traffic,
      (request) => isTransient(request) && maySafelyRetry(request),
    );
    const attempts = new Set(retries.map(({ retry }) => retry));
    const given = unretried.filter((request) => !attempts.has(request) && !asksForLongWait(request));
    const left = new Set(unretried);
    const hasty = retries.filter(
      ({ failed, retry }) =>
        left.has(retry) && !attempts.has(failed) && endOf(retry) - failed.atMs < shortOutageMs,
    );
    const sure = retries.filter(
      (pair) =>
        !isHarmful(pair) && (traffic.knownRetries.has(pair.retry) || isSurelySame(pair.retry, pair.failed)),
    );
    return {
      bad: [...given, ...requestsOf(hasty)],
      good: requestsOf(sure),
      failed: () =>
        given.length > 0
          ? `${counted(given.length, 'request')} failed and did not come again.`
          : `The client gave up after two attempts within ${inSeconds(shortOutageMs)}: a short outage ends it.`,
      passed: 'Temporary failures were retried.',
      unseen:
        retries.length > 0
          ? 'What came after a failure was too early, or may have been another request.'
          : 'No request that may be repeated failed temporarily.',
    };
  },
};
