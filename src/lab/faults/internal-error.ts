import { toApiError } from '../../foundation/errors.ts';
import { fault } from './shared/fault.ts';

export const internalError = fault({
  name: 'internal-error',
  errors: ['internal_error'],
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Returns 500. The request has no effect.',
  goodClient: 'Retries requests that are safe to retry, with backoff, even without `Retry-After`.',
  whyItMatters: 'Clients retry a POST without an `Idempotency-Key`, or never retry after a 500.',
  perform: ({ request }) => {
    throw toApiError(undefined, request.id);
  },
});
