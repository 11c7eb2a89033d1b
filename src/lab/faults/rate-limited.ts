import type { ApiError } from '../../foundation/errors.ts';
import { minuteMs, secondMs } from '../../foundation/time.ts';
import { type FaultInvocation, fault } from './shared/fault.ts';
import { holdMs, refuse, retryAfterSeconds } from './shared/limit-refusals.ts';

export const rateLimited = fault({
  name: 'rate-limited',
  isQuick: true,
  parameters: { retryAfterSeconds },
  holdMs,
  errors: ['rate_limited'],
  group: 'Limits and bans',
  level: 'required',
  does: 'Returns 429 with `Retry-After`, like a used-up limit. Until then, each request for the operation gets 429 again.',
  goodClient: 'Waits as long as `Retry-After` says, and then succeeds.',
  whyItMatters:
    'Clients that retry at once turn a short limit into a ban, which affects every user of the key.',
  perform: (invocation) => {
    throw refuseByLimit(invocation);
  },
});

export const rateLimitedDate = fault({
  name: 'rate-limited-date',
  parameters: { retryAfterSeconds },
  holdMs,
  errors: ['rate_limited'],
  undescribed: ['Retry-After'],
  group: 'Limits and bans',
  level: 'required',
  does: 'Returns 429 with `Retry-After` as a date (RFC 9110, section 10.2.3). Until then, each request for the operation gets 429 again.',
  goodClient: 'Waits until that time, and then succeeds.',
  whyItMatters: 'Clients that read the header as a number get NaN, and retry at once or never.',
  perform: (invocation) => {
    const refusal = refuseByLimit(invocation);
    // A date has whole seconds, and must not be too early.
    const date = new Date(Math.ceil(invocation.untilMs / secondMs) * secondMs).toUTCString();
    throw refusal.withHeaders({ ...refusal.headers, 'Retry-After': date });
  },
});

const aheadMs = 10 * minuteMs;

export const clockAhead = fault({
  name: 'clock-ahead',
  parameters: { retryAfterSeconds },
  holdMs,
  mayWaitLong: true,
  errors: ['rate_limited'],
  group: 'Limits and bans',
  level: 'recommended',
  does: 'Returns 429 like `rate-limited`, from a clock that is ten minutes ahead: `Date` and `X-RateLimit-Reset` are ten minutes ahead. `Retry-After` is right, in seconds.',
  goodClient:
    'Waits as long as `Retry-After` says. To use `X-RateLimit-Reset`, it compares it with `Date`, not with its own clock.',
  whyItMatters:
    'Clocks differ. Clients that compare `X-RateLimit-Reset` with their own clock wait for minutes, or hit the limit again, like the throttling plugin of Octokit.',
  perform: (invocation) => {
    const refusal = refuseByLimit(invocation);
    const { request, nowMs } = invocation;
    const reset = Number(request.limitHeaders?.['X-RateLimit-Reset']) + aheadMs / secondMs;
    request.limitHeaders = { ...request.limitHeaders, 'X-RateLimit-Reset': String(reset) };
    throw refusal.withHeaders({ ...refusal.headers, Date: new Date(nowMs + aheadMs).toUTCString() });
  },
});

/** The refusal of a used-up limit: the limit of the day if it lasts longer than a minute. */
const refuseByLimit = (
  invocation: Omit<FaultInvocation, 'parameters'> & { parameters: { retryAfterSeconds: number } },
): ApiError => refuse(invocation, holdMs(invocation.parameters) > minuteMs ? 'day' : 'minute');
