import Type from 'typebox';
import { ApiError, StorageUnavailableError, toApiError } from '../../../errors.ts';
import { assertNotSunset } from '../../../lifecycle.ts';
import { type Decision, minuteMs } from '../../../limits/decision.ts';
import { limitHeaders, limitRefusal } from '../../../limits/headers.ts';
import { fault, type Performance } from '../fault.ts';

const secondMs = 1_000;
const every = () => true;

const retryAfterSeconds = Type.Integer({
  format: 'int32',
  minimum: 1,
  maximum: 86_400,
  default: 1,
  description: 'What `Retry-After` says, in seconds.',
  examples: [2],
});

type Held = Omit<Performance, 'parameters'> & { parameters: { retryAfterSeconds: number } };

const holdMs = (parameters: { retryAfterSeconds: number }) => parameters.retryAfterSeconds * secondMs;

/** Lets the answer tell that a window of the limits is used up, or of a ban, until a time, as if the real limits had decided so. */
function refuse(
  { request, nowMs, untilMs, decision }: Pick<Performance, 'request' | 'nowMs' | 'untilMs' | 'decision'>,
  outcome: 'minute' | 'day' | 'banned',
): ApiError {
  const rehearsed: Decision = {
    ...decision,
    outcome: outcome === 'banned' ? 'banned' : 'limited',
    nowMs,
    minute: { ...decision.minute, ...(outcome === 'minute' && { remaining: 0, endsAtMs: untilMs }) },
    // Where both windows are used up, a refusal is about the day.
    day:
      outcome === 'day'
        ? { ...decision.day, remaining: 0, endsAtMs: untilMs }
        : { ...decision.day, remaining: Math.max(1, decision.day.remaining) },
    bannedUntilMs: outcome === 'banned' ? untilMs : 0,
    retryAtMs: untilMs,
  };
  request.limitHeaders = limitHeaders(rehearsed);
  return limitRefusal(rehearsed);
}

/** The refusal of a used up limit: that of a day if it takes longer than a minute. */
const limited = (performance: Held) =>
  refuse(performance, holdMs(performance.parameters) > minuteMs ? 'day' : 'minute');

export const rateLimited = fault({
  name: 'rate-limited',
  parameters: { retryAfterSeconds },
  fits: every,
  holdMs,
  group: 'Limits and bans',
  level: 'required',
  does: 'Answers 429 with `Retry-After`, as a used up limit does. Requests of the operation that come sooner get it again.',
  goodClient: 'Waits as long as it is told, and then succeeds.',
  bites:
    'Clients that retry at once turn a short limit into a ban, and take the limit away from others who use the key.',
  perform: (performance) => {
    throw limited(performance);
  },
});

export const rateLimitedDate = fault({
  name: 'rate-limited-date',
  parameters: { retryAfterSeconds },
  fits: every,
  holdMs,
  group: 'Limits and bans',
  level: 'required',
  does: 'Answers 429 with `Retry-After` as a date (RFC 9110, section 10.2.3). Requests of the operation that come sooner get it again.',
  goodClient: 'Waits until that time, and then succeeds.',
  bites: 'Clients that read the field as a number alone get NaN, and retry at once or never.',
  perform: (performance) => {
    const { code, message, headers } = limited(performance);
    // A date has whole seconds, and must not be too early.
    const date = new Date(Math.ceil(performance.untilMs / secondMs) * secondMs).toUTCString();
    throw new ApiError(code, message, { ...headers, 'Retry-After': date });
  },
});

export const banned = fault({
  name: 'banned',
  parameters: { retryAfterSeconds },
  fits: every,
  scope: 'key',
  holdMs,
  group: 'Limits and bans',
  level: 'recommended',
  does: 'Answers 403 `key_banned` with `Retry-After`. Until then every operation answers so. `after` and `times` count all requests of the key together. The ban is over with the rehearsal.',
  goodClient: 'Sends nothing until then.',
  bites:
    'Clients take 403 for a wrong key and give up for good, or do not see that it ends and go on sending.',
  perform: (performance) => {
    throw refuse(performance, 'banned');
  },
});

export const nearLimit = fault({
  name: 'near-limit',
  parameters: {
    remaining: Type.Integer({
      format: 'int32',
      minimum: 1,
      maximum: 1_000,
      default: 5,
      description: 'How many requests are left at the beginning of each minute.',
      examples: [5],
    }),
  },
  isCondition: true,
  scope: 'key',
  perMinute: ({ remaining }) => remaining,
  fits: every,
  group: 'Limits and bans',
  level: 'required',
  does: 'The header fields of limits tell of so many requests that are left, and then come 429 until the minute ends. Each minute begins anew.',
  goodClient: 'Slows down, or waits once nothing remains.',
  bites: 'Clients that do not read the fields learn of a limit by its refusals alone.',
  perform: (performance) => {
    const { request, untilMs, left, decision, touch } = performance;
    touch();
    if (left < 0) throw refuse(performance, 'minute');
    const { minute } = decision;
    const remaining = Math.min(left, minute.remaining);
    request.limitHeaders = limitHeaders({ ...decision, minute: { ...minute, remaining, endsAtMs: untilMs } });
    return {};
  },
});

export const unavailable = fault({
  name: 'unavailable',
  parameters: { retryAfterSeconds },
  fits: every,
  group: 'Failures and refusals',
  level: 'required',
  does: 'Answers 503 with `Retry-After`. Nothing was done.',
  goodClient: 'Retries what may be retried, later each time.',
  bites: 'All clients of a service that comes back retry together, and it goes down again.',
  perform: ({ request, parameters }) => {
    const { code, message } = toApiError(new StorageUnavailableError(), request.id);
    throw new ApiError(code, message, { 'Retry-After': String(parameters.retryAfterSeconds) });
  },
});

export const internalError = fault({
  name: 'internal-error',
  parameters: {},
  fits: every,
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Answers 500. Nothing was done.',
  goodClient: 'Retries what may be retried, later each time, though no time is given.',
  bites: 'Clients retry a POST that may have been done, or take 500 for the end.',
  perform: ({ request }) => {
    throw toApiError(undefined, request.id);
  },
});

export const sunset = fault({
  name: 'sunset',
  parameters: {},
  isCondition: true,
  refusesAll: true,
  fits: (operation) => operation.deprecated !== undefined,
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Deprecated operations answer 410, as after their sunset.',
  goodClient: 'Uses the successor, which `Link` names.',
  bites: 'Clients ignore `Deprecation` and `Sunset` for years and break in one night.',
  perform: ({ operation, tools, touch }) => {
    touch();
    assertNotSunset(operation, tools.operations, Number.POSITIVE_INFINITY);
    return {};
  },
});
