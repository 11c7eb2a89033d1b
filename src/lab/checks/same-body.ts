import { counted } from '../../foundation/words.ts';
import { bodyOf } from '../recordings/link-attempts.ts';
import { isBan } from '../recordings/outcome-kinds.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import type { Check } from './check.ts';
import {
  faultsWith,
  hasDisconnected,
  idempotencyKeyOf,
  isRedirect,
  isTransient,
  redirectFaults,
  uncertainFaults,
  waitFaults,
} from './request-facts.ts';
import {
  certainRetries,
  distinct,
  followedRedirects,
  type Retry,
  requestsOf,
  successivePairs,
} from './retry-pairs.ts';

/** Whether a client may have retried it. A redirect, 401 and a ban ask for the same request again. */
export const mayBeRetried = (request: Recorded) =>
  isTransient(request) ||
  hasDisconnected(request) ||
  isRedirect(request) ||
  isBan(request) ||
  request.status === 401;

/** Successive POSTs with one key that certainly differ in target or body. */
export const differingPairs = (requests: readonly Recorded[]) =>
  successivePairs(requests, (request) =>
    request.method === 'POST' ? idempotencyKeyOf(request) : undefined,
  ).filter(differs);

/** Whether two requests certainly differ in target or body. For a body that was not read, the length is compared. */
const differs = ({ failed: one, retry: other }: Retry) =>
  one.target !== other.target ||
  (one.bodyBytes !== undefined && other.bodyBytes !== undefined
    ? bodyOf(one.fingerprint) !== bodyOf(other.fingerprint)
    : lengthOf(one) !== undefined && lengthOf(other) !== undefined && lengthOf(one) !== lengthOf(other));

/** The length of a body in bytes, undefined if it is not known. */
const lengthOf = ({ bodyBytes, headers }: Recorded) =>
  bodyBytes ?? (headers['content-length'] === undefined ? undefined : Number(headers['content-length']));

/** The headers that change the meaning of a body. Another check is about `Idempotency-Key`. */
const contentFields = ['content-type', 'content-encoding'];
const conditions = ['if-match', 'if-none-match'];

export const sameBodyOnRetry: Check = {
  name: 'retry.same-body',
  level: 'required',
  asks: 'A retry, or the request after a redirect, is the same request: the same method, target, body, `Content-Type` and conditions.',
  judged: `Looks at retries after a temporary failure, a ban or 401, and after a request that the client cancelled. Fails: another body or target with the same \`Idempotency-Key\`; a missing body, if there is only one worker; another ${contentFields.map((name) => `\`${name}\``).join(' or ')} of a body; a missing ${conditions.map((name) => `\`${name}\``).join(' or ')}. Another \`ETag\` is allowed there, because the client may have read the resource again. After 307 and 308, the next request must have the same method, and a body if the first had one.`,
  unseen: 'No request was certainly retried, and no redirect was followed.',
  faults: [
    ...waitFaults,
    ...uncertainFaults,
    ...redirectFaults,
    ...faultsWith((status, code) => status === 401 || code === 'key_banned'),
  ],
  advice:
    'Create the body once, before the first attempt, as bytes or text: a stream can be read only once. Send the same method, headers and body with each attempt, and after 307 and 308.',
  guide: 'Errors',
  judge(traffic) {
    const { requests, isOfOneWorker } = traffic;
    const differing = differingPairs(requests).filter(({ failed }) => mayBeRetried(failed));
    const followed = followedRedirects(requests);
    const retries = certainRetries(traffic, mayBeRetried);
    const inRow = requests.slice(1).map((retry, at) => ({ failed: requests[at] as Recorded, retry }));
    const emptied = isOfOneWorker ? inRow.filter(isEmptied) : [];
    const changed = [...followed, ...retries, ...emptied].filter((pair) => changeOf(pair) !== undefined);
    const bad = distinct([...differing, ...changed]);
    const good = [...followed, ...retries.filter(hasSameBody)];
    return {
      bad: requestsOf(bad),
      good: requestsOf(good),
      failed: () => {
        const worst = (bad.find(({ failed, retry }) => failed.method !== retry.method) ?? bad[0]) as Retry;
        const { failed, retry } = worst;
        const change = changeOf(worst) ?? 'with another target or body';
        return `The client repeated ${counted(bad.length, 'request')} with a change: request ${retry.id} repeats request ${failed.id}, but ${change}.`;
      },
      passed: 'Each retry was the same request as the first attempt.',
    };
  },
};

/** Whether both bodies were read, and were the same. */
const hasSameBody = ({ failed, retry }: Retry) =>
  failed.bodyBytes !== undefined && retry.bodyBytes !== undefined && failed.fingerprint === retry.fingerprint;

/** What has changed between two attempts, apart from their bodies. */
function changeOf({ failed, retry }: Retry): string | undefined {
  if (failed.method !== retry.method) return `as ${retry.method}`;
  if (isEmpty(retry) && !isEmpty(failed)) return 'without its body';
  const field = contentFields.find((name) => !isEmpty(retry) && failed.headers[name] !== retry.headers[name]);
  if (field) return `with another ${field}`;
  const condition = conditions.find((name) => failed.headers[name] && !retry.headers[name]);
  return condition && `without its ${condition}`;
}

/** Whether a failed request had a body, and the next one is the same without it. */
const isEmptied = ({ failed, retry }: Retry) =>
  failed.method === retry.method &&
  failed.target === retry.target &&
  mayBeRetried(failed) &&
  !isEmpty(failed) &&
  isEmpty(retry);

/** For a body that was read, the number of bytes read counts, and not its headers. */
const isEmpty = (request: Recorded) =>
  request.bodyBytes === undefined
    ? (lengthOf(request) ?? 0) === 0 && request.headers['transfer-encoding'] === undefined
    : request.bodyBytes === 0;
