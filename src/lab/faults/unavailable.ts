import { StorageUnavailableError, toApiError } from '../../foundation/errors.ts';
import { fault } from './shared/fault.ts';
import { retryAfterSeconds } from './shared/limit-refusals.ts';

export const unavailable = fault({
  name: 'unavailable',
  parameters: { retryAfterSeconds },
  errors: ['unavailable'],
  group: 'Failures and refusals',
  level: 'required',
  does: 'Returns 503 with `Retry-After`. The request has no effect.',
  goodClient: 'Retries requests that are safe to retry, with backoff.',
  whyItMatters: 'When the service is back, all clients retry at the same time and overload it again.',
  perform: ({ request, parameters }) => {
    const refusal = toApiError(new StorageUnavailableError(), request.id);
    throw refusal.withHeaders({ 'Retry-After': String(parameters.retryAfterSeconds) });
  },
});
