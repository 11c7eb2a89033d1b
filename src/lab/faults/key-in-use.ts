import { idempotencyKeyInUse } from '../../http/idempotency.ts';
import { fault } from './shared/fault.ts';

export const keyInUse = fault({
  name: 'key-in-use',
  fits: ({ method }) => method === 'POST',
  canTouch: ({ headers }) => headers['idempotency-key'] !== undefined,
  errors: ['idempotency_key_in_use'],
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Answers 409 `idempotency_key_in_use` with `Retry-After` to a POST with an `Idempotency-Key`, as if its first attempt were still being answered. Nothing was done.',
  goodClient: 'Waits as long as it is told, and sends the same request again with the same key.',
  consequence:
    'Clients take every 409 for a refusal that lasts, and report a failure although their first attempt succeeds. Others send it again with a new key, and do it twice.',
  perform: () => {
    throw idempotencyKeyInUse();
  },
});
