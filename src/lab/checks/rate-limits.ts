import { counted } from '../../foundation/words.ts';
import { banned } from '../faults/banned.ts';
import { faultsThat } from '../faults/list.ts';
import { isBan, isLimited } from '../recordings/outcome-kinds.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import { clockToleranceMs, timerToleranceMs } from '../recordings/timeline-layout.ts';
import type { Check, Found } from './check.ts';
import { bothOf, type Observed, type Pause, pausesOf } from './pauses.ts';
import {
  earliestAfter,
  endOf,
  faultsWith,
  follows,
  isSuccess,
  isTouchedByAny,
  keyInUse,
  waitFaults,
} from './request-facts.ts';

const tolerance = `The wait starts with the refused request. Tolerance: ${timerToleranceMs} ms plus a thousandth of the wait; for a date ${clockToleranceMs} ms, but at most half of the wait.`;
const others =
  'A retry of the refused request always counts. With only one worker, any other early request that is refused also counts. It does not count if the client sent every refused request again after the wait: then the early request may come from another worker.';
const ends =
  'Not judged: an early request that the service admits, because the service itself has then ended the wait.';

/** The faults whose 429 applies to one operation, and not to the whole key. */
const operationLimits = faultsThat(
  ({ errors, scope = 'operation' }) => scope === 'operation' && errors?.includes('rate_limited'),
);

const foundIn = (
  { tooEarly, obeyed, endedByService, uncertain }: Observed,
  texts: Pick<Found, 'failed' | 'passed'>,
): Found => ({
  ...texts,
  bad: bothOf(tooEarly),
  good: bothOf(obeyed),
  unseen:
    uncertain.length > 0
      ? `${counted(uncertain.length, 'request')} came too early, perhaps from workers that did not get the refusal.`
      : endedByService.length > 0
        ? 'The service admitted the next request before the wait was over.'
        : undefined,
});

export const retryAfterObeyed: Check = {
  name: 'retry-after.obeyed',
  level: 'required',
  asks: 'After 429, 503 and 409 `idempotency_key_in_use`, each worker of a key waits as long as its own `Retry-After` says, and all workers together stay below a ban.',
  judged: `Fails after 429: a request during the wait that gets 429 again. The 429 of \`rate-limited\` applies to its operation, any other 429 to the whole key. ${others} Fails after 503 and 409: an early retry of the same request, whatever its response. Fails with several workers: 429 during the wait of another one, if the service then bans the key. Passes: a client that waits long enough. ${tolerance} ${ends}`,
  unseen:
    'No response asked for a wait, no request followed, or an early request may come from another worker.',
  faults: [...waitFaults, ...faultsWith((_, code) => code === keyInUse)],
  advice:
    'Read `Retry-After`, as seconds and as a date, and let all workers of the key wait that long: each 429 is a strike.',
  guide: 'Rate limits',
  judge(traffic) {
    const observed = pausesOf(traffic, pauseOf, ({ operation }) => ['key', `operation ${operation}`]);
    const { obeyed, tooEarly, uncertain } = observed;
    const strikes = uncertain.filter(({ status }) => status === 429);
    const [first] = strikes;
    const isOwnBan = (request: Recorded) => isBan(request) && !isTouchedByAny(request, [banned.name]);
    const ban = first && traffic.requests.find((request) => isOwnBan(request) && follows(request, first));
    const found = foundIn(observed, {
      failed: () => {
        if (tooEarly.length === 0)
          return `${counted(strikes.length, 'request')} of other workers got 429 during a wait, until the key was banned (request ${ban?.id}).`;
        const { by, request } = tooEarly[0] as (typeof tooEarly)[number];
        const waited = Math.max(0, Math.round(request.atMs - endOf(by)));
        return `${counted(tooEarly.length, 'request')} came too early: request ${request.id} came ${waited} ms after request ${by.id} got ${by.status} with Retry-After: ${by.answerHeaders['retry-after']}.`;
      },
      passed: `The client waited for Retry-After, after ${counted(obeyed.length, 'refusal')}.`,
    });
    return ban ? { ...found, bad: [...(found.bad ?? []), ...strikes, ban] } : found;
  },
};

/** A 429 also applies to other requests. A 503, and a 409 for a key in use, apply only to the same request. */
function pauseOf(refused: Recorded): Pause | undefined {
  const { status, code, operation } = refused;
  const untilMs = earliestAfter(refused);
  if (untilMs === undefined) return undefined;
  if (status === 503 || code === keyInUse) return { untilMs, shownBy: () => 'too early' };
  if (status !== 429) return undefined;
  const scope = isTouchedByAny(refused, operationLimits) ? `operation ${operation}` : 'key';
  return { untilMs, scope, shownBy: (early) => shownAfterLimit(early, refused) };
}

/** What an early request shows after 429. In a rehearsal, each operation may have its own limit. */
const shownAfterLimit = (early: Recorded, { operation }: Recorded) =>
  shownBy(early, isLimited(early), early.operation === operation);

const shownBy = (early: Recorded, isRefused: boolean, isSameLimit = true) =>
  isRefused ? 'too early' : isSuccess(early) && isSameLimit ? 'pause ended' : 'nothing';

export const banStops: Check = {
  name: 'ban.stops',
  level: 'required',
  needs: 'bans with key_banned',
  asks: 'After 403 `key_banned` the client sends nothing until the ban is over.',
  judged: `Fails: a request of the key that gets 403 \`key_banned\` again during the ban. ${others} ${tolerance} ${ends}`,
  unseen:
    'There was no ban, no request followed, or an early request may come from another worker. The client may have ended, or may still be waiting.',
  faults: ['banned'],
  advice:
    'After 403 with the code `key_banned`, stop all workers of the key for as long as `Retry-After` says.',
  guide: 'Rate limits',
  judge(traffic) {
    const observed = pausesOf(
      traffic,
      (refused) => {
        const untilMs = isBan(refused) ? earliestAfter(refused) : undefined;
        const shown = (early: Recorded) => shownBy(early, isBan(early));
        return untilMs === undefined ? undefined : { untilMs, scope: 'key', shownBy: shown };
      },
      () => ['key'],
    );
    return foundIn(observed, {
      failed: `The client sent ${counted(observed.tooEarly.length, 'request')} while the key was banned.`,
      passed: 'The client sent nothing until the ban was over.',
    });
  },
};

export const limitsForeseen: Check = {
  name: 'limits.foreseen',
  level: 'recommended',
  isAdvice: true,
  needs: 'X-RateLimit-Remaining and X-RateLimit-Reset',
  asks: 'When `X-RateLimit-Remaining` is 0, the client waits until `X-RateLimit-Reset`.',
  judged: `Looks at requests after a response with 0 remaining, if one worker sent all requests. Fails: a request that gets 429 before the reset. Passes: a request after the reset. Tolerance: ${clockToleranceMs} ms, because clocks differ. Not judged: a reset that is no more than ${clockToleranceMs} ms away; a request before the reset that the service admits.`,
  unseen:
    'No response said that 0 requests remain, no request followed, or the request may come from another worker.',
  faults: ['near-limit'],
  advice: 'Read `X-RateLimit-Remaining` in every response, and at 0 wait until `X-RateLimit-Reset`.',
  guide: 'Rate limits',
  judge(traffic) {
    const observed = pausesOf(
      traffic,
      (answered) => {
        const { 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset } = answered.answerHeaders;
        const untilMs = Number(reset) * 1_000 - clockToleranceMs;
        if (remaining !== '0' || isLimited(answered) || !(untilMs > endOf(answered))) return undefined;
        return { untilMs, scope: 'key', shownBy: (early) => shownAfterLimit(early, answered) };
      },
      () => ['key'],
    );
    return foundIn(observed, {
      failed: `${counted(observed.tooEarly.length, 'request')} got 429 after a response that said 0 requests remain.`,
      passed: 'When 0 requests remained, the client waited for the reset.',
    });
  },
};
