import { counted } from '../../foundation/words.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import type { Check } from './check.ts';
import { thingOf } from './known-retries.ts';
import { looksBetween } from './reads-between.ts';
import { idempotencyKeyOf, isUncertain, keyInUse, uncertainFaults } from './request-facts.ts';
import { certainRetries, possibleRetries, type Retry, requestsOf, successivePairs } from './retry-pairs.ts';
import { differingPairs, mayBeRetried } from './same-body.ts';

const isPost = ({ method }: Recorded) => method === 'POST';
const isUncertainPost = (request: Recorded) => isPost(request) && isUncertain(request);
const hasSameKey = ({ failed, retry }: Retry) =>
  idempotencyKeyOf(failed) !== undefined && idempotencyKeyOf(failed) === idempotencyKeyOf(retry);

const uncertainEnds =
  'A request may have taken effect after 408, 500, 502, 504, a broken connection or an early disconnect of the client (RFC 9110, section 9.2.2). After 429 and 503 it has not.';
const unread = 'A POST whose body was not read counts only if its key identifies it.';

export const sameKeyOnRetry: Check = {
  name: 'idempotency.same-key-on-retry',
  level: 'required',
  needs: 'Idempotency-Key',
  asks: 'The client retries a POST with the `Idempotency-Key` of the first attempt.',
  judged: `Looks at POSTs that have a key and may have taken effect. Passes: a retry with the same key. Fails: a retry with another key or without one, unless a retry with the same key also comes. ${uncertainEnds} After 409 \`${keyInUse}\` the first request with this key is still in progress. ${unread} If the first POST succeeded, an equal one is a new request.`,
  unseen: 'No POST that has a key and may have taken effect was retried.',
  faults: uncertainFaults,
  advice: 'Create the key once per new resource, before the retry loop.',
  guide: 'Getting started',
  judge(traffic) {
    const pairs = successivePairs(traffic.requests, thingOf);
    const retried = new Set(pairs.map(({ failed }) => failed));
    const retries = new Set(pairs.map(({ retry }) => retry));
    const isAbandoned = (request: Recorded) =>
      isUncertainPost(request) && thingOf(request) !== undefined && !retried.has(request);
    const bad = certainRetries(traffic, isAbandoned).filter(({ retry }) => !retries.has(retry));
    return {
      bad: requestsOf(bad),
      good: requestsOf(pairs.filter(({ failed }) => isUncertain(failed))),
      failed: `The client retried ${counted(bad.length, 'POST')} with another Idempotency-Key, or without one.`,
      passed: 'Each retried POST had the same Idempotency-Key as before.',
    };
  },
};

export const noBlindPostRetry: Check = {
  name: 'idempotency.no-blind-post-retry',
  level: 'required',
  needs: 'Idempotency-Key',
  asks: 'If a POST without `Idempotency-Key` may have taken effect, the client does not retry it.',
  judged: `Looks at POSTs that may have taken effect. Fails: a POST that has no key and is sent again, even if the second one has a key. Passes: a POST that is sent once; a POST with a key, unless it is sent again with another key. Not judged: a POST that is sent again after the client has read the list of these resources to its end, because the list shows whether the first one took effect. ${uncertainEnds} ${unread}`,
  unseen:
    'No POST failed in a way that leaves its effect unknown, the client looked before it sent one again, or another worker may have sent the next one.',
  faults: uncertainFaults,
  advice: 'Send an `Idempotency-Key` with every POST, or do not retry it.',
  guide: 'Getting started',
  judge(traffic) {
    const uncertain = traffic.requests.filter(isUncertainPost);
    const isBlindIfRepeated = (request: Recorded) =>
      isUncertainPost(request) && idempotencyKeyOf(request) === undefined;
    const hasLooked = looksBetween(traffic);
    const again = certainRetries(traffic, isBlindIfRepeated);
    const blind = again.filter((pair) => !hasLooked(pair));
    const repeated = possibleRetries(traffic, isUncertainPost).retries.filter((pair) => !hasSameKey(pair));
    const isDoubtful = repeated.some(({ failed }) => isBlindIfRepeated(failed));
    const twice = new Set(requestsOf(repeated));
    return {
      bad: requestsOf(blind),
      good: isDoubtful ? [] : uncertain.filter((request) => !twice.has(request)),
      failed: `The client retried ${counted(blind.length, 'POST')} without Idempotency-Key, although ${blind.length === 1 ? 'it' : 'they'} may have taken effect.`,
      passed: 'No POST without Idempotency-Key was retried after it may have taken effect.',
      unseen: again.some(hasLooked)
        ? 'A POST that may have taken effect was sent again after the client had read the list.'
        : isDoubtful
          ? 'A POST that may have taken effect was sent again, perhaps by another worker.'
          : 'No POST failed in a way that leaves its effect unknown, or each such POST was sent again with another Idempotency-Key.',
    };
  },
};

const keyReused = 'idempotency_key_reused';

export const keyForOneThing: Check = {
  name: 'idempotency.key-for-one-thing',
  level: 'required',
  needs: 'Idempotency-Key',
  asks: 'The client sends a new `Idempotency-Key` with each different POST.',
  judged: `Fails: a POST with the key of an earlier POST but another target or body, or a POST that gets 422 \`${keyReused}\`. Passes: two different POSTs with two keys. Not judged: a retry with another body; see \`retry.same-body\`.`,
  unseen: 'Fewer than two different POSTs had their own keys.',
  faults: [],
  advice: 'Create a new key for each new resource. Do not use a constant.',
  guide: 'Getting started',
  judge({ requests }) {
    const differing = differingPairs(requests);
    const second = new Set(differing.map(({ retry }) => retry));
    const bad = [
      ...requestsOf(differing.filter(({ failed }) => !mayBeRetried(failed))),
      ...requests.filter((request) => request.code === keyReused && !second.has(request)),
    ];
    // A POST with several keys may be one resource that was created twice.
    const keyed = requests.filter((request) => thingOf(request) !== undefined);
    const good = [...Map.groupBy(keyed, ({ fingerprint }) => fingerprint).values()].filter(
      (same) => new Set(same.map(idempotencyKeyOf)).size === 1,
    );
    return {
      bad,
      good: good.length > 1 && differing.length === 0 ? good.flat() : [],
      failed: `${counted(bad.length, 'POST')} reused the key of another POST.`,
      passed: 'Each different POST had its own key.',
    };
  },
};
