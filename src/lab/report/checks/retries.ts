import type { Recorded } from '../../recordings/recorded.ts';
import { type Check, counted, failed, notObserved, passed } from './check.ts';
import { connectionUse } from './connection-use.ts';
import {
  follows,
  idempotencyKeyOf,
  isSuccess,
  isSurelySame,
  isTransient,
  isUncertain,
  uncertainFaults,
  waitFaults,
} from './outcomes.ts';
import { inFlightMs } from './pauses.ts';
import { certainRetries, possibleRetries, type Retry, requestsOf, waitOf } from './retry-pairs.ts';

/** Answers that the same request would get again. What gets 401 belongs to no key, and is in no recording. */
const final = [400, 403, 404, 405, 410, 413, 415, 422, 431];
const isFinal = ({ status, code }: Recorded) =>
  status !== undefined && final.includes(status) && code !== 'key_banned';

const isRead = ({ method }: Recorded) => method === 'GET' || method === 'HEAD';

/** A request with other values of these is another attempt than the one that was refused. */
const deciding = ['content-type', 'if-match', 'if-none-match', 'idempotency-key'];
const isSame = ({ failed, retry }: Retry) =>
  deciding.every((name) => failed.headers[name] === retry.headers[name]);

/** Programs repeat a question later for reasons of their own. */
const soonMs = 5_000;
/** Who waits so long for something to appear is not hammering. */
const waitingMs = 250;

export const retryOnlyWhenUseful: Check = {
  name: 'retry.only-when-useful',
  level: 'required',
  asks: 'The client does not repeat a request that was refused for what it is: after 400, 404, 410 and the like.',
  judged: `After ${final.join(', ')} (but for a ban) the very same request of the same worker fails it within ${soonMs / 1_000} s, whatever lies between but a change that succeeded; on a new connection from ${inFlightMs} ms on. With another body, target, \`Content-Type\`, \`Idempotency-Key\` or precondition it is another request. GET and HEAD may wait for what answers 404, with ${waitingMs} ms or more between. 409 and 412 have reasons that pass. It passes if other things came after such a refusal, and the request itself did not.`,
  unseen:
    'No request was refused so, nothing came afterwards, or it is not certain whether what came again was a retry.',
  faults: ['sunset', 'large-ids'],
  advice: 'Retry 408, 429, 500 and 503 and broken connections. Hand all other errors to the caller.',
  guide: 'Errors',
  judge(requests) {
    const use = connectionUse(requests);
    const changes = changesBefore(requests);
    const isRepeated = (pair: Retry) =>
      isSame(pair) && waitOf(pair) < soonMs && changes(pair.failed) === changes(pair.retry);
    const repeated = certainRetries(requests, isFinal, use).filter((pair) => {
      const { failed, retry } = pair;
      const isPatient = isRead(failed) && failed.status === 404 && waitOf(pair) >= waitingMs;
      const mayBeOther = use.opens(retry) && waitOf(pair) < inFlightMs;
      return isRepeated(pair) && !isPatient && !mayBeOther;
    });
    if (repeated.length > 0)
      return failed(
        requestsOf(repeated),
        `${counted(repeated.length, 'request')} came again unchanged after ${(repeated[0] as Retry).failed.status}.`,
      );
    if (possibleRetries(requests, isFinal).retries.some(isRepeated))
      return notObserved(
        'What was refused for good came again, perhaps from another worker, or from one that waits for it to appear.',
      );
    const last = requests.at(-1);
    const refused = requests.filter((request) => isFinal(request) && last && follows(last, request));
    return refused.length > 0
      ? passed(refused, 'Nothing was retried after a final refusal.')
      : notObserved('No request was refused for what it is, or nothing came afterwards.');
  },
};

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

export const failuresRetried: Check = {
  name: 'failures.retried',
  level: 'recommended',
  asks: 'The client tries again after a temporary failure: 408, 429, 500, 502, 503, 504, a broken connection, an answer that ends too soon.',
  judged:
    'Each such failure of a request that may be repeated must be followed by the same request, unless it was a retry itself: a client may give up in the end. The same means equal in method, target and body, or length where the body was not read. What the client itself left before its answer need not be repeated: it may not be wanted any more. Read the report when the client has ended: one that still waits looks like one that has given up.',
  unseen: 'No request that may be repeated failed so, or it is not certain whether what came was the same.',
  faults: [...waitFaults, ...uncertainFaults],
  advice:
    'Retry what may be retried, a few times and later each time. Compare the length of a body with `Content-Length`.',
  guide: 'Errors',
  judge(requests) {
    const { retries, unretried } = possibleRetries(
      requests,
      (request) => isTransient(request) && maySafelyRetry(request),
    );
    const attempts = new Set(retries.map(({ retry }) => retry));
    const given = unretried.filter((request) => !attempts.has(request));
    if (given.length > 0)
      return failed(given, `${counted(given.length, 'request')} failed and did not come again.`);
    const sure = retries.filter(({ failed, retry }) => isSurelySame(retry, failed));
    if (sure.length > 0) return passed(requestsOf(sure), 'Temporary failures were retried.');
    return notObserved(
      retries.length > 0
        ? 'What failed ended before its body was read, so what came afterwards may have been another request.'
        : 'No request that may be repeated failed temporarily.',
    );
  },
};
