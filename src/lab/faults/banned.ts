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
  does: 'Answers 403 `key_banned` with `Retry-After`. Until then every operation answers so.',
  goodClient: 'Sends nothing until then, or ends and says why.',
  consequence:
    'Clients take 403 for a wrong key and give up for good, or do not see that it ends and go on sending.',
  perform: (invocation) => {
    throw refuse(invocation, 'banned');
  },
});
