import { faults } from '../faults/list.ts';
import { isBan, isLimited } from '../recordings/outcome-kinds.ts';
import type { Recorded } from '../recordings/recorded.ts';
import { clockToleranceMs, timerToleranceMs } from '../recordings/timeline-layout.ts';
import { type Check, counted, failed, notObserved, passed } from './check.ts';
import { bothOf, inFlightMs, type Observed, pausesOf } from './pauses.ts';
import {
  endOf,
  faultsWith,
  isEarly,
  isSuccess,
  isTouchedByAny,
  keyInUse,
  retryAfterOf,
  untilTime,
  waitFaults,
} from './request-facts.ts';
import { certainRetries } from './retry-pairs.ts';
import type { Traffic } from './traffic.ts';

const told = `The wait begins with the end of the answer. ${timerToleranceMs} ms less is right, since timers differ; after a date, ${clockToleranceMs} ms less, since clocks differ, or half of a shorter wait.`;
const others = `If several workers sent requests at once, requests on other connections count from ${inFlightMs} ms on: earlier ones may have been in flight.`;
const ends =
  'A request that the service admits too early counts neither way: the service ended the wait itself, as it does when a rehearsal ends.';

/** The faults whose 429 holds for one operation, and not for all of the key. */
const operationLimits = faults
  .filter(({ errors, scope = 'operation' }) => scope === 'operation' && errors?.includes('rate_limited'))
  .map(({ name }) => name);

/** Why nothing was observed. */
const unseenBecause = ({ lifted }: Observed, otherwise: string) =>
  notObserved(
    lifted.length > 0 ? 'The service admitted the next request before the wait was over.' : otherwise,
  );

export const retryAfterObeyed: Check = {
  name: 'retry-after.obeyed',
  level: 'required',
  asks: 'After 429, 503 and 409 `idempotency_key_in_use` the client waits as long as `Retry-After` says.',
  judged: `A request that comes during the wait and is refused again with 429 fails it. A 429 of \`rate-limited\` holds for its operation, any other for all operations of the key. After 503 and 409 only a retry of the same request is judged, and one that comes too early fails it, whatever its answer. ${told} ${others} ${ends} A client may wait longer.`,
  unseen: 'No answer asked for a wait, no request followed, or an early one may be that of another worker.',
  faults: [...waitFaults, ...faultsWith((_, code) => code === keyInUse)],
  advice: 'Read `Retry-After`, as seconds and as a date, and let all workers of the key wait that long.',
  guide: 'Rate limits',
  judge(traffic) {
    const observed = pausesOf(
      traffic,
      (refused) => {
        const wait = refused.status === 429 ? retryAfterOf(refused) : undefined;
        const isOfOperation = isTouchedByAny(refused, operationLimits);
        return (
          wait && {
            ...wait,
            scope: isOfOperation ? `operation ${refused.operation}` : 'key',
            shownBy: (early) => shownAfterLimit(early, refused),
          }
        );
      },
      ({ operation }) => ['key', `operation ${operation}`],
    );
    const retries = retriesOfRefused(traffic);
    const kept = [...observed.kept, ...retries.kept];
    const broken = [...observed.broken, ...retries.broken];
    if (broken.length > 0) {
      const { by, request } = broken[0] as (typeof broken)[number];
      const waited = Math.max(0, Math.round(request.atMs - endOf(by)));
      return failed(
        bothOf(broken),
        `${counted(broken.length, 'request')} came too early: request ${request.number} came ${waited} ms after request ${by.number} got ${by.status} with Retry-After: ${by.answer['retry-after']}.`,
      );
    }
    return kept.length > 0
      ? passed(bothOf(kept), `The client waited as long as told after ${counted(kept.length, 'refusal')}.`)
      : unseenBecause(observed, 'No request followed an answer with Retry-After.');
  },
};

/** Retries after refusals that hold for one request: 503, and 409 while its `Idempotency-Key` is in use. */
function retriesOfRefused(traffic: Traffic): Pick<Observed, 'kept' | 'broken'> {
  const found: Pick<Observed, 'kept' | 'broken'> = { kept: [], broken: [] };
  for (const { failed: by, retry: request } of certainRetries(traffic, isRefusedAlone)) {
    const wait = retryAfterOf(by);
    if (wait) found[isEarly(request, wait) ? 'broken' : 'kept'].push({ by, request });
  }
  return found;
}

const isRefusedAlone = ({ status, code }: Recorded) => status === 503 || code === keyInUse;

/** What an early request shows after 429. In a rehearsal, another operation may have a limit of its own. */
function shownAfterLimit(early: Recorded, { operation }: Recorded) {
  if (isLimited(early)) return 'disobedience';
  return isSuccess(early) && early.operation === operation ? 'end of the pause' : 'nothing';
}

export const banStops: Check = {
  name: 'ban.stops',
  level: 'required',
  asks: 'After 403 `key_banned` the client sends nothing until the ban is over.',
  judged: `Any request of the key that comes during the ban and gets 403 \`key_banned\` again fails it. ${told} ${others} ${ends}`,
  unseen: 'There was no ban, or no request came after it: the client may have ended, or it may still wait.',
  faults: ['banned'],
  advice:
    'After 403 with the code `key_banned`, stop all workers of the key for as long as `Retry-After` says.',
  guide: 'Rate limits',
  judge(traffic) {
    const observed = pausesOf(
      traffic,
      (refused) => {
        const wait = isBan(refused) ? retryAfterOf(refused) : undefined;
        return wait && { ...wait, scope: 'key', shownBy: shownInBan };
      },
      () => ['key'],
    );
    const { kept, broken } = observed;
    if (broken.length > 0)
      return failed(bothOf(broken), `${counted(broken.length, 'request')} came while the key was banned.`);
    return kept.length > 0
      ? passed(bothOf(kept), 'Nothing came until the ban was over.')
      : unseenBecause(observed, 'There was no ban, or nothing came after it.');
  },
};

function shownInBan(early: Recorded) {
  if (isBan(early)) return 'disobedience';
  return isSuccess(early) ? 'end of the pause' : 'nothing';
}

export const limitsForeseen: Check = {
  name: 'limits.foreseen',
  level: 'recommended',
  asks: 'When `X-RateLimit-Remaining` is 0, the client waits until `X-RateLimit-Reset`.',
  judged: `After an answer with 0 remaining, a request that gets 429 before the limit resets fails it. A request after that time passes. ${others} A request that the service admits before that time counts neither way.`,
  unseen: 'No answer said that 0 requests remain, or no request followed.',
  faults: ['near-limit'],
  advice: 'Read `X-RateLimit-Remaining` in every answer, and at 0 wait until `X-RateLimit-Reset`.',
  guide: 'Rate limits',
  judge(traffic) {
    const { kept, broken } = pausesOf(
      traffic,
      (answered) => {
        const { 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset } = answered.answer;
        if (remaining !== '0' || isLimited(answered)) return undefined;
        const wait = untilTime(answered, Number(reset) * 1_000);
        return wait && { ...wait, scope: 'key', shownBy: (early) => shownAfterLimit(early, answered) };
      },
      () => ['key'],
    );
    if (broken.length > 0)
      return failed(
        bothOf(broken),
        `${counted(broken.length, 'request')} got 429 after an answer had said that 0 requests remain.`,
      );
    return kept.length > 0
      ? passed(bothOf(kept), 'When 0 requests remained, the client waited for the reset.')
      : notObserved('No request followed an answer that said that 0 requests remain.');
  },
};
