import { fault } from './shared/fault.ts';
import { holdMs, refuse, retryAfterSeconds } from './shared/limit-refusals.ts';

export const banned = fault({
  name: 'banned',
  parameters: { retryAfterSeconds },
  scope: 'key',
  holdMs,
  errors: ['key_banned'],
  group: 'Limits and bans',
  level: 'recommended',
  mayEnd: true,
  does: 'Returns 403 `key_banned` with `Retry-After`. Until that time, every operation returns it.',
  goodClient: 'Sends nothing until that time, or stops and reports the reason.',
  whyItMatters:
    'Clients treat the 403 as a wrong key and give up permanently. Others ignore `Retry-After` and keep sending.',
  perform: (invocation) => {
    throw refuse(invocation, 'banned');
  },
});
