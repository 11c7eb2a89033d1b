import { ApiError, StorageUnavailableError, toApiError } from '../../foundation/errors.ts';
import { fault } from './shared/fault.ts';
import { retryAfterSeconds } from './shared/limit-refusals.ts';

export const unavailable = fault({
  name: 'unavailable',
  parameters: { retryAfterSeconds },
  errors: ['unavailable'],
  group: 'Failures and refusals',
  level: 'required',
  does: 'Answers 503 with `Retry-After`. Nothing was done.',
  goodClient: 'Retries what may be retried, later each time.',
  consequence: 'All clients of a service that comes back retry together, and it goes down again.',
  perform: ({ request, parameters }) => {
    const { code, message } = toApiError(new StorageUnavailableError(), request.id);
    throw new ApiError(code, message, { 'Retry-After': String(parameters.retryAfterSeconds) });
  },
});
