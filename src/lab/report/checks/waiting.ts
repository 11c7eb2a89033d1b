import { clockToleranceMs, isBan, isLimited, timerToleranceMs } from '../../attempts.ts';
import type { Recorded } from '../../recordings/recorded.ts';
import { type Check, counted, failed, notObserved, passed } from './check.ts';
import { connectionUse } from './connection-use.ts';
import { endOf, isSuccess, isSurelySame, isTouchedByAny, waitFaults } from './outcomes.ts';
import { bothOf, inFlightMs, type Observed, pausesOf, retryAfterOf, untilTime } from './pauses.ts';

const told = `Waiting counts from the end of the answer, less ${timerToleranceMs} ms for timers; where a date was told, less ${clockToleranceMs} ms for clocks, or half of the wait if that is shorter.`;
const others = `Requests on other connections, and on the same one while others are in use, count from ${inFlightMs} ms after it on: until then they may have been under way.`;
const ends =
  'A request that is admitted before its time counts neither way: the service had ended the wait itself, as it does when a rehearsal is ended.';

/** Why nothing was observed. */
const unseenBecause = ({ lifted }: Observed, otherwise: string) =>
  notObserved(
    lifted.length > 0 ? 'The service let the next request in before the time that it had told.' : otherwise,
  );

export const retryAfterObeyed: Check = {
  name: 'retry-after.obeyed',
  level: 'required',
  asks: 'After 429 and 503 the client waits as long as `Retry-After` says.',
  judged: `A 429 holds for every operation of the key that would get 429, too; one of \`rate-limited\` in a rehearsal holds for its operation. A 503 holds for the same request of the same worker: others were not told. ${told} ${others} After 429, what is refused again too early fails it. ${ends} After 503 being admitted proves nothing, and what comes too early fails it. What comes later than told is right, however late.`,
  unseen: 'No answer asked for a wait, or nothing that it concerned came afterwards.',
  faults: waitFaults,
  advice:
    'Read `Retry-After`, as a number of seconds and as a date, and send nothing before. Let all workers of a key wait together.',
  guide: 'Rate limits',
  judge(requests) {
    const use = connectionUse(requests);
    const observed = pausesOf(
      requests,
      (refused) => {
        const wait = retryAfterOf(refused);
        if (!wait) return undefined;
        if (refused.status === 503)
          return {
            ...wait,
            scope: use.isLast(refused) ? newConnection(refused) : sameConnection(refused),
            shownBy: (early) =>
              isSurelySame(early, refused) && use.isOfSameWorker(early, refused) ? 'disobedience' : 'nothing',
          };
        if (refused.status !== 429) return undefined;
        const isOfOperation = isTouchedByAny(refused, ['rate-limited', 'rate-limited-date']);
        return {
          ...wait,
          scope: isOfOperation ? `operation ${refused.operation}` : 'key',
          shownBy: (early) => shownAfterLimit(early, refused),
        };
      },
      (request) => [
        'key',
        `operation ${request.operation}`,
        use.opens(request) ? newConnection(request) : sameConnection(request),
      ],
    );
    const { kept, broken } = observed;
    if (broken.length > 0) {
      const { by, request } = broken[0] as (typeof broken)[number];
      const waited = Math.max(0, Math.round(request.atMs - endOf(by)));
      return failed(
        bothOf(broken),
        `${counted(broken.length, 'request')} came before the time that Retry-After had told: request ${request.number} came ${waited} ms after ${by.number} was refused with Retry-After: ${by.answer['retry-after']}.`,
      );
    }
    return kept.length > 0
      ? passed(bothOf(kept), `The client waited as long as told after ${counted(kept.length, 'refusal')}.`)
      : unseenBecause(observed, 'No request followed an answer with Retry-After.');
  },
};

const newConnection = ({ fingerprint }: Recorded) => `request ${fingerprint}`;
const sameConnection = ({ fingerprint, connection }: Recorded) => `request ${fingerprint} ${connection}`;

/** What a request shows that comes while a limit is used up: another operation may have a limit of its own, in a rehearsal. */
function shownAfterLimit(early: Recorded, { operation }: Recorded) {
  if (isLimited(early)) return 'disobedience';
  return isSuccess(early) && early.operation === operation ? 'end of the pause' : 'nothing';
}

export const banStops: Check = {
  name: 'ban.stops',
  level: 'required',
  asks: 'After 403 `key_banned` the client sends nothing until the ban is over.',
  judged: `Any request of the key that comes during the ban, and gets the same answer, fails it. ${told} ${others} ${ends}`,
  unseen:
    'There was no ban, or nothing came after it: a client that has ended cannot be told from one that still waits.',
  faults: ['banned'],
  advice:
    'Take 403 with the code `key_banned` as an order to all workers of the key to stop until `Retry-After`.',
  guide: 'Rate limits',
  judge(requests) {
    const observed = pausesOf(
      requests,
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
  asks: 'When `X-RateLimit-Remaining` is 0, the client waits until `X-RateLimit-Reset` and is not refused at all.',
  judged: `After an answer with 0 remaining, a request that is refused with 429 before the limit resets fails it. ${others} A request that is admitted counts neither way before that time, and for the client afterwards.`,
  unseen: 'No answer said that nothing remains, or nothing came afterwards.',
  faults: ['near-limit'],
  advice: 'Read the header fields of limits in every answer, slow down as they near 0, and wait at 0.',
  guide: 'Rate limits',
  judge(requests) {
    const { kept, broken } = pausesOf(
      requests,
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
        `${counted(broken.length, 'request')} came although nothing remained, and got 429.`,
      );
    return kept.length > 0
      ? passed(bothOf(kept), 'When nothing remained, the client waited until the limit was reset.')
      : notObserved('No request followed an answer that said that nothing remains.');
  },
};
