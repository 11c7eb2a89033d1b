import type { Decision, WindowState } from '../../../access/limits/decision.ts';
import { limitHeaders, limitRefusal } from '../../../access/limits/headers.ts';
import type { ApiError } from '../../../foundation/errors.ts';
import { ampleQuota, plans } from '../../../foundation/settings/plans.ts';
import { secondMs } from '../../../foundation/time.ts';
import { type FaultInvocation, integer } from './fault.ts';

export const retryAfterSeconds = integer(
  { minimum: 1, maximum: 86_400, default: 1 },
  'The value of `Retry-After`, in seconds.',
  2,
);

export const holdMs = (parameters: { retryAfterSeconds: number }) => parameters.retryAfterSeconds * secondMs;

/** The windows that a rehearsed limit shows. A practically unlimited quota shows as that of the largest plan. */
export function shownWindows({ minute, day }: Decision): Pick<Decision, 'minute' | 'day'> {
  const { perMinute, perDay } = plans.business;
  return {
    minute: minute.quota < ampleQuota.perMinute ? minute : ofQuota(minute, perMinute),
    day: day.quota < ampleQuota.perDay ? day : ofQuota(day, perDay),
  };
}

const ofQuota = (window: WindowState, quota: number): WindowState => ({
  ...window,
  quota,
  remaining: Math.min(window.remaining, quota),
});

/** Refuses a request like the real limits: with a used-up window, or with a ban, until `untilMs`. */
export function refuse(
  { request, nowMs, untilMs, decision, services }: Omit<FaultInvocation, 'parameters'>,
  outcome: 'minute' | 'day' | 'banned',
): ApiError {
  const { minute, day } = shownWindows(decision);
  const rehearsed: Decision = {
    ...decision,
    outcome: outcome === 'banned' ? 'banned' : 'limited',
    nowMs,
    minute: { ...minute, ...(outcome === 'minute' && { remaining: 0, endsAtMs: untilMs }) },
    // If both windows are used up, a refusal names the day.
    day:
      outcome === 'day'
        ? { ...day, remaining: 0, endsAtMs: untilMs }
        : { ...day, remaining: Math.max(1, day.remaining) },
    bannedUntilMs: outcome === 'banned' ? untilMs : 0,
    retryAtMs: untilMs,
  };
  request.limitHeaders = limitHeaders(rehearsed, services.hasDraftLimits);
  return limitRefusal(rehearsed, services.howToGetMore);
}
