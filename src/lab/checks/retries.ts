import { counted, inSeconds } from '../../foundation/words.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import type { Check } from './check.ts';
import { readAgain } from './reads-between.ts';
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
  possibleRetries,
  type Retry,
  requestsOf,
  retriesInRow,
  retryWaitMs,
  successivePairs,
} from './retry-pairs.ts';

/** Statuses that the same request would get again. After 401 the client may read its credentials again, once. */
const final = [400, 401, 403, 404, 405, 410, 413, 415, 422, 431];
const isFinal = (request: Recorded) =>
  (final.includes(request.status as number) || isConflict(request)) &&
  request.code !== 'key_banned' &&
  !isUncertain(request);
/** Only with `Retry-After` a conflict ends by itself. */
const isConflict = ({ status, answerHeaders }: Recorded) =>
  status === 409 && answerHeaders['retry-after'] === undefined;

/** A later repetition is no retry: the program has another reason for it. */
const soonMs = 5_000;
/** With this time between reads, a client may be waiting for a resource to appear. */
const waitingMs = 250;

export const retryOnlyWhenUseful: Check = {
  name: 'retry.only-when-useful',
  level: 'required',
  asks: 'The client does not repeat a request after a final refusal: 400, 404, 409 without `Retry-After`, 410, 422 and so on.',
  judged: `Looks at requests that got ${final.join(', ')}, except for bans, or 409 without \`Retry-After\`. Fails: the same request within ${soonMs / 1_000} s, unless a change succeeded in between. If the client sends the request no more often than in its runs without faults, or starts over after another failure and gets a refusal that it also gets there, it fails only when it sends it three times or more in a row. Passes: other requests follow. Allowed: one retry after 401; GET and HEAD after 404, at least ${waitingMs} ms apart. A request with another body, target, \`Content-Type\`, \`Idempotency-Key\`, \`Last-Event-ID\` or condition is a different one. Not judged: 412 and incomplete responses.`,
  unseen:
    'No request got such a refusal, no other request followed, or another worker may have sent the same request.',
  faults: [...faultsWith((status, code) => final.includes(status) && code !== 'key_banned'), 'large-ids'],
  advice:
    'Retry only after 408, 429, 500, 502, 503, 504 and broken connections. Report other errors to the caller.',
  guide: 'Errors',
  judge(traffic) {
    const { requests, isUsual, isUsualRefusal } = traffic;
    const changes = countBefore(requests, (request) => !isRead(request) && isSuccess(request));
    const failures = countBefore(requests, (request) => !isSuccess(request) && !isUsualRefusal(request));
    /** Whether the client starts over after a failure, and the refusal also happens without faults. */
    const startsOver = ({ failed, retry }: Retry) =>
      isUsualRefusal(failed) && failures(failed) !== failures(retry);
    const isRepeated = (pair: Retry) =>
      pair.failed.fingerprint === pair.retry.fingerprint &&
      hasSameFields(pair.failed, pair.retry) &&
      retryWaitMs(pair) < soonMs &&
      changes(pair.failed) === changes(pair.retry);
    const unusual = certainRetries(traffic, isFinal).filter(
      (pair) => !isUsual(pair.retry) && !startsOver(pair),
    );
    // A test suite may repeat a refused request on purpose, but only once.
    const inRow = chainsOf(retriesInRow(traffic, isFinal).filter(isRepeated)).filter(
      ({ length }) => length > 1,
    );
    const certain = distinct([...unusual.filter(isRepeated), ...inRow.flat()]);
    const after401 = new Set(certain.flatMap(({ failed, retry }) => (failed.status === 401 ? [retry] : [])));
    const repeated = certain.filter((pair) => {
      const { failed } = pair;
      const isPatient = isRead(failed) && failed.status === 404 && retryWaitMs(pair) >= waitingMs;
      const isFirstAfter401 = failed.status === 401 && !after401.has(failed);
      return !isPatient && !isFirstAfter401;
    });
    const possible = successivePairs(requests, ({ fingerprint }) => fingerprint).filter(
      (pair) => isFinal(pair.failed) && follows(pair.retry, pair.failed) && isRepeated(pair),
    );
    const isDoubtful = possible.some(({ failed }) => failed.status !== 401);
    const last = requests.at(-1);
    const refused = requests.filter((request) => isFinal(request) && last && follows(last, request));
    return {
      bad: requestsOf(repeated),
      good: isDoubtful ? [] : refused,
      failed: () =>
        `The client repeated ${counted(repeated.length, 'request')} unchanged after ${(repeated[0] as Retry).failed.status}.`,
      passed: 'No request was retried after a final refusal.',
      unseen: isDoubtful
        ? 'A refused request was repeated, perhaps on purpose in a test suite, by another worker, or to wait for a resource.'
        : 'No request got a final refusal, or no other request followed.',
    };
  },
};

/** Returns how many requests of a kind had come when a request began. */
function countBefore(requests: readonly Recorded[], isOfKind: (request: Recorded) => boolean) {
  const counts = new Map<Recorded, number>();
  let count = 0;
  for (const request of requests) {
    counts.set(request, count);
    if (isOfKind(request)) count++;
  }
  return (request: Recorded) => counts.get(request) as number;
}

const maySafelyRetry = (request: Recorded) =>
  request.method !== 'POST' || idempotencyKeyOf(request) !== undefined || !isUncertain(request);

/** Whether a retry came too early, or may have taken effect twice. Such a retry is no evidence for the client. */
function isHarmful({ failed, retry }: Retry): boolean {
  const isTwice = failed.method === 'POST' && isUncertain(failed) && !hasSameFields(failed, retry);
  return isTwice || isEarly(retry, failed);
}

/** A client may give up at once if the wait is longer than this. */
const longestWaitMs = 300_000;
const asksForLongWait = (failed: Recorded) => (earliestAfter(failed) ?? 0) > failed.atMs + longestWaitMs;

/** A client that makes one retry, and gives up within this time, does not outlast the restart of a service. */
const shortOutageMs = 1_000;

export const failuresRetried: Check = {
  name: 'failures.retried',
  level: 'recommended',
  asks: 'The client retries after a temporary failure: 408, 429, 500, 502, 503, 504, a broken connection or an incomplete response.',
  judged: `Looks at requests that failed temporarily and are safe to retry. Passes: a retry, or a new change of the resource after it was read again. Fails: no retry, or a client that gives up after a single retry within ${inSeconds(shortOutageMs)} of the first attempt. After more retries a client may give up. Not judged: a retry that came too early or with another \`Idempotency-Key\`; a request that the client itself cancelled; a change that may have taken effect, if the client then read the resource; a wait of more than ${longestWaitMs / 60_000} minutes. Read the report after the client has ended: a client that is still waiting counts as one that gave up.`,
  unseen: 'No request that is safe to retry failed temporarily, or another request may have followed it.',
  faults: [...waitFaults, ...uncertainFaults],
  advice:
    'Retry temporary failures a few times, with growing waits. Treat a response shorter than its `Content-Length` as such a failure.',
  guide: 'Errors',
  judge(traffic) {
    const again = readAgain(traffic);
    const isDecidedAgain = (failed: Recorded) =>
      again.has(failed) && (isUncertain(failed) || again.get(failed)?.length !== 0);
    const { retries, unretried } = possibleRetries(
      traffic,
      (request) => isTransient(request) && maySafelyRetry(request),
    );
    const attempts = new Set(retries.map(({ retry }) => retry));
    const left = new Set(unretried.filter((request) => !isDecidedAgain(request)));
    const given = [...left].filter((request) => !attempts.has(request) && !asksForLongWait(request));
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
      good: [...requestsOf(sure), ...unretried.flatMap((failed) => again.get(failed) ?? [])],
      failed: () =>
        given.length > 0
          ? `The client did not retry ${counted(given.length, 'failed request')}.`
          : `The client gave up after two attempts within ${inSeconds(shortOutageMs)}, so even a short outage makes it fail.`,
      passed: 'Temporary failures were retried.',
      unseen:
        retries.length > 0
          ? 'The request after a failure was too early, or may have been a different one.'
          : 'No request that is safe to retry failed temporarily.',
    };
  },
};
