import { attemptsBounded, backoffGrows } from './backoff.ts';
import { conflictReadAgain, ifMatchSent, updatesNotLost } from './changes.ts';
import type { Check } from './check.ts';
import { connectionsReused } from './connections-reused.ts';
import { credentialsNotForwarded } from './credentials.ts';
import { keyForOneThing, noBlindPostRetry, sameKeyOnRetry } from './idempotency.ts';
import { idsExact } from './ids.ts';
import { deprecatedNotCalled, operationsCovered, successorUsed } from './operations-used.ts';
import { filtersKept, pagesToTheEnd } from './pages.ts';
import { banStops, limitsForeseen, retryAfterObeyed } from './rate-limits.ts';
import { failuresRetried, retryOnlyWhenUseful } from './retries.ts';
import { sameBodyOnRetry } from './same-body.ts';
import { streamsResumed } from './streams.ts';
import { timeLimitExists } from './time-limit.ts';

/** Raise it when you add or remove a check, or change its meaning. A test notices if you forget. */
export const checksVersion = 6;

/** Every check, in the order of `GET /lab/checks` and of report cards. */
export const checks: readonly Check[] = [
  retryAfterObeyed,
  backoffGrows,
  attemptsBounded,
  timeLimitExists,
  retryOnlyWhenUseful,
  failuresRetried,
  sameBodyOnRetry,
  sameKeyOnRetry,
  noBlindPostRetry,
  keyForOneThing,
  credentialsNotForwarded,
  banStops,
  limitsForeseen,
  pagesToTheEnd,
  filtersKept,
  streamsResumed,
  idsExact,
  ifMatchSent,
  updatesNotLost,
  conflictReadAgain,
  deprecatedNotCalled,
  successorUsed,
  connectionsReused,
  operationsCovered,
];
