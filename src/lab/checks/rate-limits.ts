import { faults } from '../faults/list.ts';
import { isBan, isLimited } from '../recordings/outcome-kinds.ts';
import type { Recorded } from '../recordings/recorded.ts';
import { clockToleranceMs, timerToleranceMs } from '../recordings/timeline-layout.ts';
import { type Check, counted, type Found } from './check.ts';
import { bothOf, type Observed, type Pause, pausesOf } from './pauses.ts';
import {
  earliestAfter,
  endOf,
  faultsWith,
  isSuccess,
  isTouchedByAny,
  keyInUse,
  waitFaults,
} from './request-facts.ts';

const told = `The wait begins with the refused request. ${timerToleranceMs} ms and a thousandth less is right, since timers differ; after a date, ${clockToleranceMs} ms less, since clocks differ, or half of a shorter wait.`;
const others =
  'A retry of the refused request counts, since its sender was told. Other requests count if one worker sent all, and if a refused one did not come again in time. Else they may be those of another worker that was not told.';
const ends =
  'A request that the service admits too early counts neither way: the service ended the wait itself, as it does when a rehearsal ends.';

/** The faults whose 429 holds for one operation, and not for all of the key. */
const operationLimits = faults
  .filter(({ errors, scope = 'operation' }) => scope === 'operation' && errors?.includes('rate_limited'))
  .map(({ name }) => name);

/** What a check says of pauses. */
const foundIn = (
  { broken, kept, lifted, unsure }: Observed,
  texts: Pick<Found, 'failed' | 'passed'>,
): Found => ({
  ...texts,
  bad: bothOf(broken),
  good: bothOf(kept),
  unseen:
    unsure.length > 0
      ? `${counted(unsure.length, 'request')} came too early, perhaps from workers that were not told to wait.`
      : lifted.length > 0
        ? 'The service admitted the next request before the wait was over.'
        : undefined,
});

export const retryAfterObeyed: Check = {
  name: 'retry-after.obeyed',
  level: 'required',
  asks: 'After 429, 503 and 409 `idempotency_key_in_use` the client waits as long as `Retry-After` says.',
  judged: `A request that comes during the wait and is refused again with 429 fails it. A 429 of \`rate-limited\` holds for its operation, any other for all operations of the key. ${others} After 503 and 409 only a retry of the same request is judged, and one that comes too early fails it, whatever its answer. ${told} ${ends} A client may wait longer.`,
  unseen: 'No answer asked for a wait, no request followed, or an early one may be that of another worker.',
  faults: [...waitFaults, ...faultsWith((_, code) => code === keyInUse)],
  advice: 'Read `Retry-After`, as seconds and as a date, and let all workers of the key wait that long.',
  guide: 'Rate limits',
  judge(traffic) {
    const observed = pausesOf(traffic, pauseOf, ({ operation }) => ['key', `operation ${operation}`]);
    const { kept, broken } = observed;
    return foundIn(observed, {
      failed: () => {
        const { by, request } = broken[0] as (typeof broken)[number];
        const waited = Math.max(0, Math.round(request.atMs - endOf(by)));
        return `${counted(broken.length, 'request')} came too early: request ${request.number} came ${waited} ms after request ${by.number} got ${by.status} with Retry-After: ${by.answer['retry-after']}.`;
      },
      passed: `The client waited as long as told after ${counted(kept.length, 'refusal')}.`,
    });
  },
};

/** A limit holds for other requests, too. 503, and 409 while its `Idempotency-Key` is in use, hold for the request alone. */
function pauseOf(refused: Recorded): Pause | undefined {
  const { status, code, operation } = refused;
  const untilMs = earliestAfter(refused);
  if (untilMs === undefined) return undefined;
  if (status === 503 || code === keyInUse) return { untilMs, shownBy: () => 'disobedience' };
  if (status !== 429) return undefined;
  const scope = isTouchedByAny(refused, operationLimits) ? `operation ${operation}` : 'key';
  return { untilMs, scope, shownBy: (early) => shownAfterLimit(early, refused) };
}

/** What an early request shows after 429. In a rehearsal, another operation may have a limit of its own. */
function shownAfterLimit(early: Recorded, { operation }: Recorded) {
  if (isLimited(early)) return 'disobedience';
  return isSuccess(early) && early.operation === operation ? 'end of the pause' : 'nothing';
}

export const banStops: Check = {
  name: 'ban.stops',
  level: 'required',
  asks: 'After 403 `key_banned` the client sends nothing until the ban is over.',
  judged: `Any request of the key that comes during the ban and gets 403 \`key_banned\` again fails it. ${others} ${told} ${ends}`,
  unseen:
    'There was no ban, no request came after it, or an early one may be that of another worker. The client may have ended, or it may still wait.',
  faults: ['banned'],
  advice:
    'After 403 with the code `key_banned`, stop all workers of the key for as long as `Retry-After` says.',
  guide: 'Rate limits',
  judge(traffic) {
    const observed = pausesOf(
      traffic,
      (refused) => {
        const untilMs = isBan(refused) ? earliestAfter(refused) : undefined;
        return untilMs === undefined ? undefined : { untilMs, scope: 'key', shownBy: shownInBan };
      },
      () => ['key'],
    );
    return foundIn(observed, {
      failed: `${counted(observed.broken.length, 'request')} came while the key was banned.`,
      passed: 'Nothing came until the ban was over.',
    });
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
  judged: `After an answer with 0 remaining, a request that gets 429 before the limit resets fails it, if one worker sent all requests. A request after that time passes. ${clockToleranceMs} ms less is right, since clocks differ, and a shorter time until the reset is not judged. A request that the service admits before that time counts neither way.`,
  unseen: 'No answer said that 0 requests remain, no request followed, or it may be that of another worker.',
  faults: ['near-limit'],
  advice: 'Read `X-RateLimit-Remaining` in every answer, and at 0 wait until `X-RateLimit-Reset`.',
  guide: 'Rate limits',
  judge(traffic) {
    const observed = pausesOf(
      traffic,
      (answered) => {
        const { 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset } = answered.answer;
        const untilMs = Number(reset) * 1_000 - clockToleranceMs;
        if (remaining !== '0' || isLimited(answered) || !(untilMs > endOf(answered))) return undefined;
        return { untilMs, scope: 'key', shownBy: (early) => shownAfterLimit(early, answered) };
      },
      () => ['key'],
    );
    return foundIn(observed, {
      failed: `${counted(observed.broken.length, 'request')} got 429 after an answer had said that 0 requests remain.`,
      passed: 'When 0 requests remained, the client waited for the reset.',
    });
  },
};
