import { bodyOf } from '../recordings/link-attempts.ts';
import type { Recorded } from '../recordings/recorded.ts';
import { type Check, counted, failed, notObserved, passed } from './check.ts';
import {
  followedRedirects,
  idempotencyKeyOf,
  isLeft,
  isSurelySame,
  isTransient,
  redirectFaults,
  uncertainFaults,
  waitFaults,
} from './request-facts.ts';
import { certainRetries, type Retry, requestsOf } from './retry-pairs.ts';

/** Whether a client may have retried it. */
export const mayBeRetried = (request: Recorded) => isTransient(request) || isLeft(request);

/** Successive POSTs with one key that surely differ in their target or body. */
export function differingPairs(requests: readonly Recorded[]): Retry[] {
  const latest = new Map<string, Recorded>();
  const pairs: Retry[] = [];
  for (const request of requests) {
    const key = idempotencyKeyOf(request);
    if (request.method !== 'POST' || key === undefined) continue;
    const failed = latest.get(key);
    if (failed && differs(failed, request)) pairs.push({ failed, retry: request });
    latest.set(key, request);
  }
  return pairs;
}

/** Whether two requests surely have another target or body. The length says something of a body that was not read. */
const differs = (one: Recorded, other: Recorded) =>
  one.target !== other.target ||
  (one.bodyBytes !== undefined && other.bodyBytes !== undefined
    ? bodyOf(one.fingerprint) !== bodyOf(other.fingerprint)
    : lengthOf(one) !== undefined && lengthOf(other) !== undefined && lengthOf(one) !== lengthOf(other));

/** The length of a body in bytes, undefined if it is not known. */
const lengthOf = ({ bodyBytes, headers }: Recorded) =>
  bodyBytes ?? (headers['content-length'] === undefined ? undefined : Number(headers['content-length']));

/** The header fields that say what a request means. Another check is about `Idempotency-Key`. */
const contentFields = ['content-type', 'content-encoding'];
const conditions = ['if-match', 'if-none-match'];

export const sameBodyOnRetry: Check = {
  name: 'retry.same-body',
  level: 'required',
  asks: 'A retry, or the request after a redirect, is the same request: the same method, target, body, `Content-Type` and conditions.',
  judged: `Judged are retries after a temporary failure, and after an answer that the client did not wait for. Another body or target with the same \`Idempotency-Key\` fails, and so does no body where there was one, in the next request of the only worker. A retry with the same body fails with another ${contentFields.map((name) => `\`${name}\``).join(' or ')}, and without the ${conditions.map((name) => `\`${name}\``).join(' or ')} of the first attempt. Another tag is right: the client may have read the resource again. After 307 and 308, the request that follows must have the same method and a body.`,
  unseen: 'No request was surely retried, and no redirect followed.',
  faults: [...waitFaults, ...uncertainFaults, ...redirectFaults],
  advice: 'Keep the body as bytes or text and send it again, since a stream can be read only once.',
  guide: 'Errors',
  judge(traffic) {
    const { requests, isOfOneWorker } = traffic;
    const other = differingPairs(requests).filter(({ failed }) => mayBeRetried(failed));
    const emptied = isOfOneWorker ? emptiedRetries(requests) : [];
    const redirected = followedRedirects(requests).map(({ redirect, next }) => ({
      failed: redirect,
      retry: next,
    }));
    const [followed, altered] = [true, false].map((is) =>
      redirected.filter((pair) => isSameRequest(pair) === is),
    );
    const retries = certainRetries(traffic, mayBeRetried);
    const [good, changed] = [true, false].map((is) => retries.filter((pair) => isSameInFields(pair) === is));
    const bad = [...other, ...emptied, ...(changed as Retry[]), ...(altered as Retry[])];
    if (bad.length > 0)
      return failed(requestsOf(bad), `${counted(bad.length, 'request')} came again, but not as the same.`);
    const again = (good as Retry[]).filter((pair) => isSurelySame(pair.failed, pair.retry));
    const sure = [...again, ...(followed as Retry[])];
    return sure.length > 0
      ? passed(requestsOf(sure), 'Each retry was the same request.')
      : notObserved('No request was surely retried.');
  },
};

const isSameInFields = ({ failed, retry }: Retry) =>
  contentFields.every((name) => failed.headers[name] === retry.headers[name]) &&
  conditions.every((name) => failed.headers[name] === undefined || retry.headers[name] !== undefined);

/** Whether what followed a redirect is the same request. The body of the first may not have been read. */
const isSameRequest = (pair: Retry) =>
  pair.failed.method === pair.retry.method &&
  isEmpty(pair.failed) === isEmpty(pair.retry) &&
  isSameInFields(pair);

/** Failures with a body, and the next request if it goes to the same target without one. */
function emptiedRetries(requests: readonly Recorded[]): Retry[] {
  const pairs = requests.slice(1).map((retry, index) => ({ failed: requests[index] as Recorded, retry }));
  return pairs.filter(
    ({ failed, retry }) =>
      mayBeRetried(failed) &&
      failed.method === retry.method &&
      failed.target === retry.target &&
      !isEmpty(failed) &&
      isEmpty(retry),
  );
}

/** A body that was read has the length that was read, whatever its header fields say. */
const isEmpty = (request: Recorded) =>
  request.bodyBytes === undefined
    ? (lengthOf(request) ?? 0) === 0 && request.headers['transfer-encoding'] === undefined
    : request.bodyBytes === 0;
