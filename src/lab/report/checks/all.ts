import { backoffGrows } from './backoff.ts';
import { conflictReadAgain, ifMatchSent, updatesNotLost } from './changes.ts';
import type { Check } from './check.ts';
import { connectionsReused } from './connections.ts';
import { operationsCovered } from './coverage.ts';
import { noBlindPostRetry, sameKeyOnRetry } from './idempotency.ts';
import { idsExact } from './ids.ts';
import { deprecatedNotCalled, successorUsed } from './lifecycle.ts';
import { pagesToTheEnd } from './pages.ts';
import { failuresRetried, retryOnlyWhenUseful } from './retries.ts';
import { banStops, limitsForeseen, retryAfterObeyed } from './waiting.ts';

/** Is raised when a check is added or removed, or when what one means changes. A test notices. */
export const checksVersion = 2;

/** Every check, in the order in which they are listed. */
export const checks: readonly Check[] = [
  retryAfterObeyed,
  backoffGrows,
  retryOnlyWhenUseful,
  failuresRetried,
  sameKeyOnRetry,
  noBlindPostRetry,
  banStops,
  limitsForeseen,
  pagesToTheEnd,
  idsExact,
  ifMatchSent,
  updatesNotLost,
  conflictReadAgain,
  deprecatedNotCalled,
  successorUsed,
  connectionsReused,
  operationsCovered,
];
