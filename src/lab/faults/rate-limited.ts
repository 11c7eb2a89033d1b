import { fault } from './shared/fault.ts';
import { holdMs, refuseByLimit, retryAfterSeconds } from './shared/limit-refusals.ts';

export const rateLimited = fault({
  name: 'rate-limited',
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
