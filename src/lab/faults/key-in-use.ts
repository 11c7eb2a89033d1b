import { idempotencyKeyInUse } from '../../http/idempotency.ts';
import { fault } from './shared/fault.ts';

export const keyInUse = fault({
  name: 'key-in-use',
  fits: ({ method }) => method === 'POST',
  canTouch: ({ headers }) => headers['idempotency-key'] !== undefined,
  errors: ['idempotency_key_in_use'],
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Returns 409 `idempotency_key_in_use` with `Retry-After` for a POST with an `Idempotency-Key`, as if its first attempt were still in progress. The request has no effect.',
  goodClient: 'Waits as long as `Retry-After` says, and sends the same request again with the same key.',
  whyItMatters:
    'Clients treat every 409 as permanent, and report a failure although their first attempt succeeds. Others retry with a new key, and the request takes effect twice.',
  perform: () => {
    throw idempotencyKeyInUse();
  },
});
