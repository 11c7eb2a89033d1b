import { dayMs, hourMs, minuteMs, secondMs, toTime } from '../../foundation/time.ts';
import type { DeliveryAttempt, DeliveryState, DisabledReason } from './schema.ts';
import type { AttemptOutcome } from './send-request.ts';

/** The delays after failed attempts. After the last one the delivery has failed. */
export const retryDelaysMs = [
  5 * secondMs,
  30 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  10 * hourMs,
];

/** Delays vary by up to this share, so that deliveries that failed together are not retried together. */
const jitter = 0.2;

/** A longer `Retry-After` is shortened to this. */
const maxRetryAfterMs = hourMs;

/** The maximum number of first attempts of a webhook that are not on disk. After a crash they are repeated. */
export const maxUnrecorded = 100;

/** A webhook whose attempts have all failed for this long is disabled. */
export const disableAfterMs = 5 * dayMs;

/**
 * The delay after `failures` failed attempts. Undefined if there is no further attempt. `Retry-After` can only make it longer, so no
 * receiver gets more attempts than planned. `random` is from 0 to 1.
 */
export function retryDelayMs(failures: number, random: number, retryAfterMs = 0): number | undefined {
  const delayMs = retryDelaysMs[failures - 1];
  if (delayMs === undefined) return undefined;
  const jitteredMs = Math.round(delayMs * (1 - jitter + 2 * jitter * random));
  return Math.max(jitteredMs, Math.min(retryAfterMs, maxRetryAfterMs));
}

export interface AttemptResult {
  attempt: DeliveryAttempt;
  state: DeliveryState;
  /** The failed attempts of the current series. */
  failures: number;
  nextAttemptAtMs?: number;
  /** The state of the receiver. Absent if no request was made. */
  receiver?: 'healthy' | 'failing';
  /** Why the webhook is to be disabled. */
  disable?: DisabledReason;
  /** The URL of the request. Absent if no request was made. */
  url?: string;
  /** After a 410: when to retry if the URL of the webhook has changed since this attempt. */
  elsewhereAtMs?: number;
}

/** The state before an attempt, and its times. `random` is from 0 to 1. */
interface Circumstances {
  failures: number;
  failingSinceMs: number | undefined;
  startedAtMs: number;
  endedAtMs: number;
  random: number;
}

/** Derives the result of an attempt from its outcome. */
export function resultOf(
  { status, durationMs, error, retryAfterMs }: AttemptOutcome,
  { failures, failingSinceMs, startedAtMs, endedAtMs, random }: Circumstances,
): AttemptResult {
  const attempt = {
    at: toTime(startedAtMs),
    ...(status !== undefined && { status }),
    durationMs,
    ...(error !== undefined && { error }),
  };
  if (error === undefined) return { attempt, state: 'delivered', failures: 0, receiver: 'healthy' };
  const isGone = status === 410;
  const isFailing = failingSinceMs !== undefined && endedAtMs - failingSinceMs >= disableAfterMs;
  const delayMs = retryDelayMs(failures + 1, random, retryAfterMs);
  const nextMs = delayMs === undefined ? undefined : endedAtMs + delayMs;
  return {
    attempt,
    state: isGone || nextMs === undefined ? 'failed' : 'pending',
    failures: failures + 1,
    receiver: 'failing',
    ...((isGone || isFailing) && { disable: isGone ? 'gone' : 'failing' }),
    ...(nextMs !== undefined && { [isGone ? 'elsewhereAtMs' : 'nextAttemptAtMs']: nextMs }),
  };
}

/** The result for a webhook that has this URL now. If the attempt went to another URL, it does not change the state of the receiver. */
export function resultFor(url: string, result: AttemptResult): AttemptResult {
  if (result.url === undefined || result.url === url) return result;
  const { receiver: _receiver, disable: _disable, elsewhereAtMs, ...rest } = result;
  return elsewhereAtMs === undefined ? rest : { ...rest, state: 'pending', nextAttemptAtMs: elsewhereAtMs };
}

/** The outcome if the secret was derived from another key of the installation, so that the receiver could not verify a message. */
export const secretLost: AttemptOutcome = {
  durationMs: 0,
  error:
    'The service has lost the secret of this webhook, so nothing was sent. Replace it with rotate-secret.',
};

/** The result for a delivery whose event has expired. */
export const eventExpired = (atMs: number): AttemptResult => ({
  attempt: { at: toTime(atMs), durationMs: 0, error: 'The event is no longer stored, so it was not sent.' },
  state: 'failed',
  failures: 0,
});

/** Counts of attempts and webhooks since the start. */
export const newDeliveryCounts = () => ({
  delivered: 0,
  /** Failed, but a retry follows. */
  failed: 0,
  /** Failed for the last time. */
  givenUp: 0,
  /** Events that expired before they were sent. */
  missed: 0,
  disabled: { gone: 0, failing: 0 } satisfies Record<DisabledReason, number>,
});
export type DeliveryCounts = ReturnType<typeof newDeliveryCounts>;
