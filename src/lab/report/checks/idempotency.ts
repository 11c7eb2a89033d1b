import type { Recorded } from '../../recordings/recorded.ts';
import { type Check, counted, failed, notObserved, passed } from './check.ts';
import { idempotencyKeyOf, isUncertain, uncertainFaults } from './outcomes.ts';
import { certainRetries, possibleRetries, requestsOf } from './retry-pairs.ts';

const isPost = ({ method }: Recorded) => method === 'POST';

/** What a key is for: POSTs that are equal in this are attempts at one thing. */
const thingOf = (request: Recorded) => `${idempotencyKeyOf(request)} ${request.fingerprint}`;

const unread =
  'What ended before its body was read may have been another POST, and does not count against the client.';

export const sameKeyOnRetry: Check = {
  name: 'idempotency.same-key-on-retry',
  level: 'required',
  asks: 'A retried POST carries the `Idempotency-Key` of the attempt before.',
  judged: `Judged is a POST with a key that ended by 408, 500, 502, 504, a broken connection, or because the client left before its answer. If the same POST comes again with its key, that is right, whoever else sends equal ones. If its key never comes again, the same POST with a new key or without one fails it, when the same worker sends it. ${unread} After 429 and 503 nothing was done, so another key does no harm. Two equal POSTs of which the first succeeded are two things.`,
  unseen: 'No POST with a key ended so and was retried.',
  faults: uncertainFaults,
  advice:
    'Make the key once for each thing that is to be created, before the loop of attempts, and not within it.',
  guide: 'Getting started',
  judge(requests) {
    const keyed = requests.filter((request) => isPost(request) && idempotencyKeyOf(request) !== undefined);
    const first = new Map<string, Recorded>();
    const last = new Map<string, Recorded>();
    const good: Recorded[] = [];
    for (const request of keyed) {
      const thing = thingOf(request);
      const before = last.get(thing);
      if (before && isUncertain(before)) good.push(before, request);
      if (!before) first.set(thing, request);
      last.set(thing, request);
    }
    const bad = certainRetries(
      requests,
      (request) =>
        isPost(request) &&
        idempotencyKeyOf(request) !== undefined &&
        isUncertain(request) &&
        last.get(thingOf(request)) === request,
    ).filter(({ retry }) => idempotencyKeyOf(retry) === undefined || first.get(thingOf(retry)) === retry);
    if (bad.length > 0)
      return failed(
        requestsOf(bad),
        `${counted(bad.length, 'POST')} came again with another Idempotency-Key, or without one.`,
      );
    return good.length > 0
      ? passed(good, 'Each retried POST had the Idempotency-Key of the attempt before.')
      : notObserved('No POST with an Idempotency-Key was retried.');
  },
};

export const noBlindPostRetry: Check = {
  name: 'idempotency.no-blind-post-retry',
  level: 'required',
  asks: 'A POST without `Idempotency-Key` is not repeated when it may have taken effect.',
  judged: `That is so after 408, 500, 502, 504, a connection that broke, also an idle one, and when the client left before its answer: it cannot know how far the request came (RFC 9110, section 9.2.2). The same POST fails it when the same worker sends it again. ${unread} After 429 and 503 it may be repeated: they say that nothing was done. A retry with a key, and none at all, pass.`,
  unseen: 'No POST ended so, or it is not certain who sent it again, or whether what came was the same.',
  faults: uncertainFaults,
  advice: 'Send an `Idempotency-Key` with every POST, or do not retry it.',
  guide: 'Getting started',
  judge(requests) {
    const isUncertainPost = (request: Recorded) => isPost(request) && isUncertain(request);
    const uncertain = requests.filter(isUncertainPost);
    if (uncertain.length === 0) return notObserved('No POST ended so that it may have taken effect.');
    const isBlindIfRepeated = (request: Recorded) =>
      isUncertainPost(request) && idempotencyKeyOf(request) === undefined;
    const blind = certainRetries(requests, isBlindIfRepeated);
    if (blind.length > 0)
      return failed(
        requestsOf(blind),
        `${counted(blind.length, 'POST')} without Idempotency-Key came again although ${blind.length === 1 ? 'it' : 'they'} may have taken effect.`,
      );
    return possibleRetries(requests, isBlindIfRepeated).retries.length > 0
      ? notObserved(
          'A POST that may have taken effect came again, perhaps from another worker, or another one came.',
        )
      : passed(uncertain, 'No POST without Idempotency-Key was repeated blindly.');
  },
};
