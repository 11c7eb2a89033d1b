import { toTime } from '../instant.ts';
import { disableAfterMs, nextAttemptMs } from './schedule.ts';
import type { Attempt, DeliveryState, DisabledReason } from './schema.ts';
import type { Outcome } from './send.ts';

/** An attempt and what follows from it. */
export interface Result {
  attempt: Attempt;
  state: DeliveryState;
  /** How many attempts of the present series have failed. */
  failures: number;
  nextAttemptAtMs?: number;
  /** What it says about the receiver; absent where it says nothing. */
  receiver?: 'well' | 'failing';
  /** Why the webhook is to be disabled. */
  disable?: DisabledReason;
}

/** What was known before an attempt, and when it began and ended. `random` is from 0 to 1. */
interface Circumstances {
  failures: number;
  failingSinceMs: number | undefined;
  startedAtMs: number;
  endedAtMs: number;
  random: number;
}

/** What follows from the outcome of an attempt. */
export function judge(
  { status, durationMs, error, retryAfterMs }: Outcome,
  { failures, failingSinceMs, startedAtMs, endedAtMs, random }: Circumstances,
): Result {
  const attempt = {
    at: toTime(startedAtMs),
    ...(status !== undefined && { status }),
    durationMs,
    ...(error !== undefined && { error }),
  };
  if (error === undefined) return { attempt, state: 'delivered', failures: 0, receiver: 'well' };
  const isGone = status === 410;
  const isFailing = failingSinceMs !== undefined && endedAtMs - failingSinceMs >= disableAfterMs;
  const delayMs = isGone ? undefined : nextAttemptMs(failures + 1, random, retryAfterMs);
  return {
    attempt,
    state: delayMs === undefined ? 'failed' : 'pending',
    failures: failures + 1,
    ...(delayMs !== undefined && { nextAttemptAtMs: endedAtMs + delayMs }),
    receiver: 'failing',
    ...((isGone || isFailing) && { disable: isGone ? 'gone' : 'failing' }),
  };
}

/** Of an attempt that nobody could verify, since the key of the installation is another than when the secret was made. */
export const secretLost: Outcome = {
  durationMs: 0,
  error:
    'The service has lost the secret of this webhook, so nothing was sent. Replace it with rotate-secret.',
};

/** Of a delivery whose event is no longer kept, so that there is nothing to send. */
export const noLongerKept = (atMs: number): Result => ({
  attempt: { at: toTime(atMs), durationMs: 0, error: 'The event is no longer kept, so it was not sent.' },
  state: 'failed',
  failures: 0,
});
