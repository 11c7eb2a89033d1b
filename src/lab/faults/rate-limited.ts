import { fault } from './shared/fault.ts';
import { holdMs, refuseByLimit, retryAfterSeconds } from './shared/limit-refusals.ts';

export const rateLimited = fault({
  name: 'rate-limited',
  parameters: { retryAfterSeconds },
  holdMs,
  errors: ['rate_limited'],
  group: 'Limits and bans',
  level: 'required',
  does: 'Answers 429 with `Retry-After`, as a used up limit does. Requests of the operation that come sooner get it again.',
  goodClient: 'Waits as long as it is told, and then succeeds.',
  consequence:
    'Clients that retry at once turn a short limit into a ban, and take the limit away from others who use the key.',
  perform: (invocation) => {
    throw refuseByLimit(invocation);
  },
});
