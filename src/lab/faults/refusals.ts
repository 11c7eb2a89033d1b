import Type from 'typebox';
import { ApiError, toApiError } from '../../errors.ts';
import { assertNotSunset } from '../../lifecycle.ts';
import { type Decision, minuteMs } from '../../limits/decision.ts';
import { limitHeaders, limitRefusal } from '../../limits/headers.ts';
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

/** Lets the answer tell of limits that are used up, or of a ban, until a time. */
function refuse(
  { request, nowMs, untilMs, decision }: Pick<Performance, 'request' | 'nowMs' | 'untilMs' | 'decision'>,
  outcome: 'limited' | 'banned',
): ApiError {
  const rehearsed: Decision = {
    ...decision,
    outcome,
    nowMs,
    minute: { ...decision.minute, remaining: 0, endsAtMs: untilMs },
    day: { ...decision.day, remaining: Math.max(1, decision.day.remaining) },
    bannedUntilMs: outcome === 'banned' ? untilMs : 0,
    retryAtMs: untilMs,
  };
  request.limitHeaders = limitHeaders(rehearsed);
  return limitRefusal(rehearsed);
}

export const rateLimited = fault({
  name: 'rate-limited',
  parameters: { retryAfterSeconds },
  fits: every,
  holds: { scope: 'operation', ms: (parameters) => parameters.retryAfterSeconds * secondMs },
  does: 'Answers 429 with `Retry-After`, as a used up limit does. Requests of the operation that come sooner get it again.',
  goodClient: 'Waits as long as it is told, and then succeeds.',
  bites:
    'Clients that retry at once turn a short limit into a ban, and take the limit away from others who use the key.',
  perform: (performance) => {
    throw refuse(performance, 'limited');
  },
});

export const rateLimitedDate = fault({
  name: 'rate-limited-date',
  parameters: { retryAfterSeconds },
  fits: every,
  holds: { scope: 'operation', ms: (parameters) => parameters.retryAfterSeconds * secondMs },
  does: 'Answers 429 with `Retry-After` as a date (RFC 9110, section 10.2.3). Requests of the operation that come sooner get it again.',
  goodClient: 'Waits until that time, and then succeeds.',
  bites: 'Clients that read the field as a number alone get NaN, and retry at once or never.',
  perform: (performance) => {
    const { code, message, headers } = refuse(performance, 'limited');
    // A date has whole seconds, and must not be too early.
    const date = new Date(Math.ceil(performance.untilMs / secondMs) * secondMs).toUTCString();
    throw new ApiError(code, message, { ...headers, 'Retry-After': date });
  },
});

export const banned = fault({
  name: 'banned',
  parameters: { retryAfterSeconds },
  fits: every,
  holds: { scope: 'key', ms: (parameters) => parameters.retryAfterSeconds * secondMs },
  does: 'Answers 403 `key_banned` with `Retry-After`. Until then every operation answers so. The ban is over with the rehearsal.',
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
      minimum: 0,
      maximum: 1_000,
      default: 5,
      description: 'How many requests are left at the beginning of each minute.',
      examples: [5],
    }),
  },
  isCondition: true,
  fits: every,
  does: 'The header fields of limits tell of so many requests that are left, and then come 429 until the minute ends. Each minute begins anew.',
  goodClient: 'Slows down, or waits once nothing remains.',
  bites: 'Clients that do not read the fields learn of a limit by its refusals alone.',
  perform: (performance) => {
    const { request, nowMs, left, decision, touch } = performance;
    touch();
    const endsAtMs = (Math.floor(nowMs / minuteMs) + 1) * minuteMs;
    if (left < 0) throw refuse({ request, nowMs, untilMs: endsAtMs, decision }, 'limited');
    const minute = { ...decision.minute, remaining: Math.min(left, decision.minute.remaining), endsAtMs };
    request.limitHeaders = limitHeaders({ ...decision, minute });
    return {};
  },
});

export const unavailable = fault({
  name: 'unavailable',
  parameters: { retryAfterSeconds },
  fits: every,
  does: 'Answers 503 with `Retry-After`. Nothing was done.',
  goodClient: 'Retries what may be retried, later each time.',
  bites: 'All clients of a service that comes back retry together, and it goes down again.',
  perform: ({ parameters }) => {
    const headers = { 'Retry-After': String(parameters.retryAfterSeconds) };
    throw new ApiError('unavailable', 'The storage cannot answer at the moment. Try again shortly.', headers);
  },
});

export const internalError = fault({
  name: 'internal-error',
  parameters: {},
  fits: every,
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
  fits: (operation) => operation.deprecated !== undefined,
  does: 'Deprecated operations answer 410, as after their sunset.',
  goodClient: 'Uses the successor, which `Link` names.',
  bites: 'Clients ignore `Deprecation` and `Sunset` for years and break in one night.',
  perform: ({ operation, tools, touch }) => {
    touch();
    assertNotSunset(operation, tools.operations, Number.POSITIVE_INFINITY);
    return {};
  },
});
