import { ApiError } from '../../foundation/errors.ts';
import type { Fields } from '../../foundation/field-names.ts';
import { dayMs, minuteMs } from '../../foundation/time.ts';
import { counted, digits } from '../../foundation/words.ts';
import type { Decision, WindowState } from './decision.ts';

/** The window that `X-RateLimit-*` and refusals describe: the one with fewer requests left. */
export const bindingWindow = ({ minute, day }: Pick<Decision, 'minute' | 'day'>) =>
  day.remaining <= minute.remaining ? 'day' : 'minute';

/**
 * The headers about the limits of a caller: `X-RateLimit-*` for the binding window and, with `hasDraft`, for both windows the fields
 * of draft-ietf-httpapi-ratelimit-headers. During a ban no requests remain until its end. No `t` is larger than the `w` of its window.
 */
export function limitHeaders(decision: Decision, hasDraft: boolean): Fields {
  const { outcome, nowMs, minute, day, bannedUntilMs } = decision;
  const isBanned = outcome === 'banned';
  const binding = decision[bindingWindow(decision)];
  const state = (window: WindowState, lengthMs: number) =>
    isBanned
      ? `r=0;t=${secondsUntil(Math.min(bannedUntilMs, nowMs + lengthMs), nowMs)}`
      : `r=${digits(window.remaining)};t=${secondsUntil(window.endsAtMs, nowMs)}`;
  const fields = {
    'X-RateLimit-Limit': String(binding.quota),
    'X-RateLimit-Remaining': isBanned ? '0' : digits(binding.remaining),
    'X-RateLimit-Reset': String(Math.ceil((isBanned ? bannedUntilMs : binding.endsAtMs) / 1000)),
  };
  if (!hasDraft) return fields;
  return {
    ...fields,
    'RateLimit-Policy': `"minute";q=${minute.quota};w=60,"day";q=${day.quota};w=86400`,
    RateLimit: `"minute";${state(minute, minuteMs)},"day";${state(day, dayMs)}`,
  };
}

/** The limit headers of a response, with `Retry-After` if the request was not admitted. */
export const allLimitHeaders = (decision: Decision, hasDraft: boolean): Fields => ({
  ...limitHeaders(decision, hasDraft),
  ...(decision.outcome !== 'admitted' && { 'Retry-After': String(secondsToRetry(decision)) }),
});

/** Who decides on the plans that are not open to a key. */
export const whomToAsk = (contact: string) => contact || 'the operator of the service';

/** How a key gets higher limits. */
export const howToGetMore = (contact: string) =>
  `GET /accounts/me shows to which plans this key can change. For other limits, ask ${whomToAsk(contact)}.`;

/** The error for a request that was not admitted: 429, or 403 during a ban, with `Retry-After`. `more`: how to get higher limits. */
export function limitRefusal(decision: Decision, more = ''): ApiError {
  const seconds = secondsToRetry(decision);
  const headers = { 'Retry-After': String(seconds) };
  if (decision.outcome === 'banned')
    return new ApiError(
      'key_banned',
      `This API key is banned for a while, because it kept sending after 429. Try again after ${seconds} s.`,
      headers,
    );
  const window = bindingWindow(decision);
  return new ApiError(
    'rate_limited',
    `The limit of ${counted(decision[window].quota, 'request')} per ${window} is used up. Try again after ${seconds} s. ${more}`.trimEnd(),
    headers,
    { violatedPolicies: (['minute', 'day'] as const).filter((name) => decision[name].remaining === 0) },
  );
}

const secondsToRetry = ({ retryAtMs, nowMs }: Decision) => secondsUntil(retryAtMs, nowMs);

/** Whole seconds until a time, rounded up, at least 1. */
const secondsUntil = (timeMs: number, nowMs: number) => Math.max(1, Math.ceil((timeMs - nowMs) / 1000));
