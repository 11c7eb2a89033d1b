import { isTouchedByAny } from './attempts.ts';
import { type Check, counted, failed, notObserved, passed } from './check.ts';
import {
  bothOf,
  clockToleranceMs,
  inFlightMs,
  pausesOf,
  retryAfterOf,
  timerToleranceMs,
  untilTime,
} from './pauses.ts';

const told = `Waiting counts from the end of the answer, less ${timerToleranceMs} ms for timers; where a date was told, less ${clockToleranceMs} ms for clocks, or half of the wait if that is shorter.`;
const others = `Requests on other connections count from ${inFlightMs} ms after the refusal on: until then they may have been under way.`;

export const retryAfterObeyed: Check = {
  name: 'retry-after.obeyed',
  level: 'required',
  asks: 'After 429 and 503 the client waits as long as `Retry-After` says.',
  judged: `A 429 stops the operation, and all of the key that would get 429, too; \`rate-limited\` in a rehearsal stops the operation alone, and a 503 the same request. ${told} ${others} What comes later than told is right, however late.`,
  unseen: 'No answer asked for a wait, or nothing that it concerned came afterwards.',
  faults: ['rate-limited', 'rate-limited-date', 'unavailable'],
  advice:
    'Read `Retry-After`, as a number of seconds and as a date, and send nothing before. Let all workers of a key wait together.',
  guide: 'Rate limits',
  judge(requests) {
    const { kept, broken } = pausesOf(
      requests,
      (refused) => {
        const wait = retryAfterOf(refused);
        if (!wait) return undefined;
        if (refused.status === 503) return { ...wait, scope: `request ${refused.fingerprint}` };
        if (refused.status !== 429) return undefined;
        const isOfOperation = isTouchedByAny(refused, ['rate-limited', 'rate-limited-date']);
        return { ...wait, scope: isOfOperation ? `operation ${refused.operation}` : 'key' };
      },
      ({ operation, fingerprint }) => ['key', `operation ${operation}`, `request ${fingerprint}`],
    );
    // What was admitted after all, as another operation may be in a rehearsal, was stopped by nobody.
    const early = broken.filter(
      ({ by, request }) => request.operation === by.operation || request.status === 429,
    );
    if (early.length > 0) {
      const { by, request } = early[0] as (typeof early)[number];
      const waited = Math.max(0, Math.round(request.atMs - by.atMs - by.tookMs));
      return failed(
        bothOf(early),
        `${counted(early.length, 'request')} came before the time that Retry-After had told: request ${request.number} came ${waited} ms after ${by.number} was refused with Retry-After: ${by.answer['retry-after']}.`,
      );
    }
    return kept.length > 0
      ? passed(bothOf(kept), `What came after ${counted(kept.length, 'refusal')} waited as long as told.`)
      : notObserved('No request followed an answer with Retry-After.');
  },
};

export const banStops: Check = {
  name: 'ban.stops',
  level: 'required',
  asks: 'After 403 `key_banned` the client sends nothing until the ban is over.',
  judged: `Any request of the key during the ban fails it. ${told} ${others}`,
  unseen:
    'There was no ban, or nothing came after it: a client that has ended cannot be told from one that still waits.',
  faults: ['banned'],
  advice:
    'Take 403 with the code `key_banned` as an order to all workers of the key to stop until `Retry-After`.',
  guide: 'Rate limits',
  judge(requests) {
    const { kept, broken } = pausesOf(
      requests,
      (refused) => {
        const wait = refused.code === 'key_banned' ? retryAfterOf(refused) : undefined;
        return wait && { ...wait, scope: 'key' };
      },
      () => ['key'],
    );
    if (broken.length > 0)
      return failed(bothOf(broken), `${counted(broken.length, 'request')} came while the key was banned.`);
    return kept.length > 0
      ? passed(bothOf(kept), 'Nothing came until the ban was over.')
      : notObserved('There was no ban, or nothing came after it.');
  },
};

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
        if (remaining !== '0' || answered.status === 429 || answered.status === 403) return undefined;
        const wait = untilTime(answered, Number(reset) * 1_000);
        return wait && { ...wait, scope: 'key' };
      },
      () => ['key'],
    );
    const refused = broken.filter(({ request }) => request.status === 429);
    if (refused.length > 0)
      return failed(
        bothOf(refused),
        `${counted(refused.length, 'request')} came although nothing remained, and got 429.`,
      );
    return kept.length > 0
      ? passed(bothOf(kept), 'When nothing remained, the client waited until the limit was reset.')
      : notObserved('No request followed an answer that said that nothing remains.');
  },
};
