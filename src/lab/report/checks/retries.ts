import type { Recorded } from '../../recordings/recorded.ts';
import {
  chainsOf,
  endOf,
  follows,
  idempotencyKeyOf,
  isTransient,
  isUncertain,
  type Retry,
  requestsOf,
  retriesOf,
  shareConnection,
} from './attempts.ts';
import { type Check, counted, failed, notObserved, passed } from './check.ts';

/** Nobody waits on purpose for less, and a retry that needs a new connection to this machine takes less. */
const atOnceMs = 10;
/** A wait of so many milliseconds is one that was meant. */
const pauseMs = 100;
/** Waits within this ratio are equal. Three waits with full jitter are so close to each other once in a hundred times. */
const sameRatio = 1.25;
const growthRatio = 1.5;

const gapOf = ({ failed, retry }: Retry) => Math.max(0, retry.atMs - endOf(failed));

/** What a chain of waits shows: that they grow, that they do not, or undefined, since jitter looks like anything. */
function growthOf(gaps: readonly number[]): boolean | undefined {
  if (gaps.length < 2) return undefined;
  const [first, ...later] = gaps as [number, ...number[]];
  const longest = Math.max(...later);
  if (longest >= pauseMs && longest >= first * growthRatio) return true;
  if (Math.max(...gaps) < atOnceMs) return false;
  if (gaps.length >= 3 && Math.max(...gaps) <= Math.min(...gaps) * sameRatio) return false;
  return undefined;
}

export const backoffGrows: Check = {
  name: 'backoff.grows',
  level: 'required',
  asks: 'A client that retries more than once waits longer each time.',
  judged: `Judged are retries of one request after failures that told no time, as those with \`Retry-After\` have theirs. Two or more that all come within ${atOnceMs} ms fail it, and so do three or more waits that are equal (within ${Math.round((sameRatio - 1) * 100)} %). A later wait of at least ${pauseMs} ms that is ${growthRatio} times the first passes. Anything else may be jitter, and is not judged.`,
  unseen: 'No request failed at least twice in a row without a time told, or the waits could be jitter.',
  faults: ['internal-error', 'reset', 'lost-answer'],
  advice:
    'Double the wait after each failure, up to a bound, with some chance in it, and stop after a few times.',
  guide: 'Errors',
  judge(requests) {
    const { retries } = retriesOf(
      requests,
      (request) => isTransient(request) && request.answer['retry-after'] === undefined,
    );
    const judged = chainsOf(retries).map((chain) => ({ chain, grows: growthOf(chain.map(gapOf)) }));
    const bad = judged.filter(({ grows }) => grows === false);
    if (bad.length > 0) {
      const waits = (bad[0] as (typeof bad)[number]).chain.map((link) => `${Math.round(gapOf(link))} ms`);
      return failed(
        bad.flatMap(({ chain }) => requestsOf(chain)),
        `The waits between attempts did not grow: ${waits.slice(0, 5).join(', ')}${waits.length > 5 ? ', …' : ''}.`,
      );
    }
    const good = judged.filter(({ grows }) => grows === true);
    return good.length > 0
      ? passed(
          good.flatMap(({ chain }) => requestsOf(chain)),
          'The waits between attempts grew.',
        )
      : notObserved('No request was retried often enough to tell.');
  },
};

/** Answers that the same request would get again. */
const final = [400, 401, 403, 404, 405, 410, 413, 415, 422, 431];
const isFinal = ({ status, code }: Recorded) =>
  status !== undefined && final.includes(status) && code !== 'key_banned';

/** A request with other values of these is another attempt than the one that was refused. */
const deciding = ['content-type', 'if-match', 'if-none-match', 'idempotency-key'];
const isSameRequest = (one: Recorded, other: Recorded) =>
  one.fingerprint === other.fingerprint &&
  deciding.every((name) => one.headers[name] === other.headers[name]);

/** Programs repeat a question later for reasons of their own. */
const inARowMs = 60_000;

export const retryOnlyWhenUseful: Check = {
  name: 'retry.only-when-useful',
  level: 'required',
  asks: 'The client does not repeat a request that was refused for what it is: after 400, 401, 404 and the like.',
  judged: `After ${final.join(', ')} (but for a ban) the very same request fails it if it is the next that the client sends, at all or on its connection, within ${inARowMs / 1_000} s. With another body, target, \`Content-Type\`, \`Idempotency-Key\` or precondition it is another request; after other requests it is another question. 409 and 412 have reasons that pass.`,
  unseen: 'No request was refused so.',
  faults: ['sunset', 'large-ids'],
  advice: 'Retry 408, 429, 500 and 503 and broken connections. Hand all other errors to the caller.',
  guide: 'Errors',
  judge(requests) {
    const refused = requests.filter(isFinal);
    if (refused.length === 0) return notObserved('No request was refused for what it is.');
    const nextOnConnection = new Map<Recorded, Recorded>();
    const last = new Map<string, Recorded>();
    for (const request of requests) {
      const before = last.get(request.connection);
      if (before && shareConnection(before, request)) nextOnConnection.set(before, request);
      last.set(request.connection, request);
    }
    const repeated = requests.flatMap((request, index): Retry[] => {
      if (!isFinal(request)) return [];
      const retry = [requests[index + 1], nextOnConnection.get(request)].find(
        (next) =>
          next &&
          isSameRequest(request, next) &&
          follows(next, request) &&
          next.atMs - endOf(request) < inARowMs,
      );
      return retry ? [{ failed: request, retry }] : [];
    });
    return repeated.length > 0
      ? failed(
          requestsOf(repeated),
          `${counted(repeated.length, 'request')} came again unchanged after ${(repeated[0] as Retry).failed.status}.`,
        )
      : passed(refused, `${counted(refused.length, 'refusal')} that would come again led to no retry.`);
  },
};

const isPost = ({ method }: Recorded) => method === 'POST';

export const sameKeyOnRetry: Check = {
  name: 'idempotency.same-key-on-retry',
  level: 'required',
  asks: 'A retried POST carries the `Idempotency-Key` of the attempt before.',
  judged:
    'A POST that had a key, ended by 408, 500, 502, 504 or a broken connection, and then came again with the same body, must have the same key. After 429 and 503 nothing was done, so another key does no harm. Two equal POSTs of which the first succeeded are two things.',
  unseen: 'No POST with a key ended so and was retried.',
  faults: ['lost-answer', 'internal-error', 'reset'],
  advice:
    'Make the key once for each thing that is to be created, before the loop of attempts, and not within it.',
  guide: 'Getting started',
  judge(requests) {
    const { retries } = retriesOf(
      requests.filter(isPost),
      (request) => isUncertain(request) && idempotencyKeyOf(request) !== undefined,
    );
    if (retries.length === 0) return notObserved('No POST with an Idempotency-Key was retried.');
    const bad = retries.filter(({ failed, retry }) => idempotencyKeyOf(failed) !== idempotencyKeyOf(retry));
    return bad.length > 0
      ? failed(
          requestsOf(bad),
          `${counted(bad.length, 'POST')} came again with another Idempotency-Key, or without one.`,
        )
      : passed(requestsOf(retries), 'Each retried POST had the Idempotency-Key of the attempt before.');
  },
};

export const noBlindPostRetry: Check = {
  name: 'idempotency.no-blind-post-retry',
  level: 'required',
  asks: 'A POST without `Idempotency-Key` is not repeated when it may have taken effect.',
  judged:
    'That is so after 408, 500, 502, 504 and a connection that broke, also an idle one: the client cannot know how far the request came (RFC 9110, section 9.2.2). After 429 and 503 it may be repeated: they say that nothing was done. A retry with a key, and none at all, pass. That a client gave up by a time limit of its own is not noticed: it may still read.',
  unseen: 'No POST ended so.',
  faults: ['lost-answer', 'internal-error', 'reset', 'stale-connection'],
  advice: 'Send an `Idempotency-Key` with every POST, or do not retry it.',
  guide: 'Getting started',
  judge(requests) {
    const posts = requests.filter(isPost);
    const uncertain = posts.filter(isUncertain);
    if (uncertain.length === 0) return notObserved('No POST ended so that it may have taken effect.');
    const { retries } = retriesOf(posts, isUncertain);
    const blind = retries.filter(({ failed }) => idempotencyKeyOf(failed) === undefined);
    return blind.length > 0
      ? failed(
          requestsOf(blind),
          `${counted(blind.length, 'POST')} without Idempotency-Key came again although it may have taken effect.`,
        )
      : passed(uncertain, 'No POST without Idempotency-Key was repeated blindly.');
  },
};

const maySafelyRetry = (request: Recorded) =>
  !isPost(request) || idempotencyKeyOf(request) !== undefined || !isUncertain(request);

export const failuresRetried: Check = {
  name: 'failures.retried',
  level: 'recommended',
  asks: 'The client tries again after a failure that passes: 408, 429, 500, 502, 503, 504, a broken connection, an answer that ends too soon.',
  judged:
    'Each such failure of a request that may be repeated must be followed by the same request, unless it was a retry itself: a client may give up in the end. The same means equal in method, target and body. Read the report when the client has ended: one that still waits looks like one that has given up.',
  unseen: 'No request that may be repeated failed so.',
  faults: [
    'rate-limited',
    'unavailable',
    'internal-error',
    'reset',
    'lost-answer',
    'truncated',
    'stale-connection',
  ],
  advice:
    'Retry what may be retried, a few times and later each time. Compare the length of a body with `Content-Length`.',
  guide: 'Errors',
  judge(requests) {
    const { retries, unretried } = retriesOf(
      requests,
      (request) => isTransient(request) && maySafelyRetry(request),
    );
    const attempts = new Set(retries.map(({ retry }) => retry));
    const given = unretried.filter((request) => !attempts.has(request));
    if (given.length > 0)
      return failed(given, `${counted(given.length, 'request')} failed and did not come again.`);
    return retries.length > 0
      ? passed(requestsOf(retries), 'What failed in passing was tried again.')
      : notObserved('No request that may be repeated failed in passing.');
  },
};
