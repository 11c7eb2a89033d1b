import { ApiError } from '../errors.ts';
import type { Fields } from '../field-names.ts';
import type { Decision, WindowState } from './decision.ts';

/**
 * The header fields about the limits of a caller: `X-RateLimit-*` for the binding window, and for both windows the fields
 * of draft-ietf-httpapi-ratelimit-headers. During a ban zero requests remain until it ends.
 */
export function limitHeaders({ outcome, nowMs, minute, day, bannedUntilMs }: Decision): Fields {
  const isBanned = outcome === 'banned';
  const binding = day.remaining <= minute.remaining ? day : minute;
  const state = (window: WindowState) =>
    isBanned
      ? `r=0;t=${secondsUntil(bannedUntilMs, nowMs)}`
      : `r=${window.remaining};t=${secondsUntil(window.endsAtMs, nowMs)}`;
  return {
    'X-RateLimit-Limit': String(binding.quota),
    'X-RateLimit-Remaining': isBanned ? '0' : String(binding.remaining),
    'X-RateLimit-Reset': String(Math.ceil((isBanned ? bannedUntilMs : binding.endsAtMs) / 1000)),
    'RateLimit-Policy': `"minute";q=${minute.quota};w=60,"day";q=${day.quota};w=86400`,
    RateLimit: `"minute";${state(minute)},"day";${state(day)}`,
  };
}

/** The refusal of a request that was not admitted: 429, or 403 during a ban, with the time to try again. */
export function limitRefusal(decision: Decision): ApiError {
  const { outcome, nowMs, retryAtMs } = decision;
  const seconds = secondsUntil(retryAtMs, nowMs);
  const headers = { 'Retry-After': String(seconds) };
  if (outcome === 'banned') {
    return new ApiError(
      'key_banned',
      `This API key is banned for a while, because it kept sending after 429. Try again after ${seconds} s.`,
      headers,
    );
  }
  const { window, quota } = fullWindow(decision);
  return new ApiError(
    'rate_limited',
    `The limit of ${quota} requests per ${window} is used up. Try again after ${seconds} s.`,
    headers,
  );
}

const fullWindow = ({ minute, day }: Decision) =>
  day.remaining === 0 ? { window: 'day', quota: day.quota } : { window: 'minute', quota: minute.quota };

/** Whole seconds until a time, rounded up, at least 1. */
const secondsUntil = (timeMs: number, nowMs: number) => Math.max(1, Math.ceil((timeMs - nowMs) / 1000));
