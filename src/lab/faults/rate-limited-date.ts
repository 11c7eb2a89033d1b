import { secondMs } from '../../foundation/time.ts';
import { fault } from './shared/fault.ts';
import { holdMs, refuseByLimit, retryAfterSeconds } from './shared/limit-refusals.ts';

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
