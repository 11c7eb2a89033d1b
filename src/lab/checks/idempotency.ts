import type { Recorded } from '../recordings/recorded.ts';
import { type Check, counted } from './check.ts';
import { thingOf } from './known-retries.ts';
import { idempotencyKeyOf, isUncertain, keyInUse, uncertainFaults } from './request-facts.ts';
import { certainRetries, possibleRetries, type Retry, requestsOf } from './retry-pairs.ts';
import { differingPairs, mayBeRetried } from './same-body.ts';

const isPost = ({ method }: Recorded) => method === 'POST';
const isUncertainPost = (request: Recorded) => isPost(request) && isUncertain(request);
const hasSameKey = ({ failed, retry }: Retry) =>
  idempotencyKeyOf(failed) !== undefined && idempotencyKeyOf(failed) === idempotencyKeyOf(retry);

const uncertainEnds =
  'It may have taken effect after 408, 500, 502, 504 and a broken connection, and when the client left before the answer (RFC 9110, section 9.2.2). After 429 and 503 it did not.';
const unread = 'A POST whose body was not read counts only if its key shows which POST it was.';

export const sameKeyOnRetry: Check = {
  name: 'idempotency.same-key-on-retry',
  level: 'required',
  asks: 'The client retries a POST with the `Idempotency-Key` of the first attempt.',
  judged: `Judged are POSTs with a key that may have taken effect. To send one again with its key passes. To send it again with another key or without one fails, unless its own key comes again, too. ${uncertainEnds} It may also be in progress, after 409 \`${keyInUse}\`. ${unread} Two equal POSTs are two things if the first one succeeded.`,
  unseen: 'No POST with a key that may have taken effect was retried.',
  faults: uncertainFaults,
  advice: 'Create the key once for each thing, before the loop of attempts.',
  guide: 'Getting started',
  judge(traffic) {
    const first = new Map<string, Recorded>();
    const last = new Map<string, Recorded>();
    const good: Recorded[] = [];
    for (const request of traffic.requests) {
      const thing = thingOf(request);
      if (thing === undefined) continue;
      const before = last.get(thing);
      if (before && isUncertain(before)) good.push(before, request);
      if (!before) first.set(thing, request);
      last.set(thing, request);
    }
    const isAbandoned = (request: Recorded) =>
      isUncertainPost(request) && last.get(thingOf(request) ?? '') === request;
    const isOther = (retry: Recorded) => {
      const thing = thingOf(retry);
      return thing === undefined || first.get(thing) === retry;
    };
    const bad = certainRetries(traffic, isAbandoned).filter(({ retry }) => isOther(retry));
    return {
      bad: requestsOf(bad),
      good,
      failed: `${counted(bad.length, 'POST')} came again with another Idempotency-Key, or without one.`,
      passed: 'Each retried POST had the Idempotency-Key of the attempt before.',
    };
  },
};

export const noBlindPostRetry: Check = {
  name: 'idempotency.no-blind-post-retry',
  level: 'required',
  asks: 'The client does not retry a POST without `Idempotency-Key` that may have taken effect.',
  judged: `To send such a POST again fails, with or without a key. To send it once passes, and so does a POST that had a key, unless it came again with another one. ${uncertainEnds} ${unread}`,
  unseen: 'No POST may have taken effect, or another worker may have sent the next one.',
  faults: uncertainFaults,
  advice: 'Send an `Idempotency-Key` with every POST, or do not retry it.',
  guide: 'Getting started',
  judge(traffic) {
    const uncertain = traffic.requests.filter(isUncertainPost);
    const isBlindIfRepeated = (request: Recorded) =>
      isUncertainPost(request) && idempotencyKeyOf(request) === undefined;
    const blind = certainRetries(traffic, isBlindIfRepeated);
    const repeated = possibleRetries(traffic, isUncertainPost).retries.filter((pair) => !hasSameKey(pair));
    const isDoubtful = repeated.some(({ failed }) => isBlindIfRepeated(failed));
    const twice = new Set(requestsOf(repeated));
    return {
      bad: requestsOf(blind),
      good: isDoubtful ? [] : uncertain.filter((request) => !twice.has(request)),
      failed: `${counted(blind.length, 'POST')} without Idempotency-Key came again although ${blind.length === 1 ? 'it' : 'they'} may have taken effect.`,
      passed: 'No POST without Idempotency-Key was retried after it may have taken effect.',
      unseen: isDoubtful
        ? 'A POST that may have taken effect came again, perhaps from another worker.'
        : 'No POST may have taken effect, or each came again with another Idempotency-Key.',
    };
  },
};

const keyReused = 'idempotency_key_reused';

export const keyForOneThing: Check = {
  name: 'idempotency.key-for-one-thing',
  level: 'required',
  asks: 'The client sends another `Idempotency-Key` with each different POST.',
  judged: `A POST with the key of an earlier one and another target or body fails, and so does one that got 422 \`${keyReused}\`. Two different POSTs with two keys pass. A retry with another body is judged by \`retry.same-body\`.`,
  unseen: 'Fewer than two different POSTs had a key of their own.',
  faults: [],
  advice: 'Create a new key for each thing, and never a constant one.',
  guide: 'Getting started',
  judge({ requests }) {
    const differing = differingPairs(requests);
    const second = new Set(differing.map(({ retry }) => retry));
    const bad = [
      ...requestsOf(differing.filter(({ failed }) => !mayBeRetried(failed))),
      ...requests.filter((request) => request.code === keyReused && !second.has(request)),
    ];
    // A POST that came with several keys may be one thing that was made twice.
    const keyed = requests.filter((request) => thingOf(request) !== undefined);
    const good = [...Map.groupBy(keyed, ({ fingerprint }) => fingerprint).values()].filter(
      (same) => new Set(same.map(idempotencyKeyOf)).size === 1,
    );
    return {
      bad,
      good: good.length > 1 && differing.length === 0 ? good.flat() : [],
      failed: `${counted(bad.length, 'POST')} had a key that another POST had, too.`,
      passed: 'Each different POST had a key of its own.',
    };
  },
};
