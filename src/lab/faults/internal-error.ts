import { toApiError } from '../../foundation/errors.ts';
import { fault } from './shared/fault.ts';

export const internalError = fault({
  name: 'internal-error',
  errors: ['internal_error'],
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Answers 500. Nothing was done.',
  goodClient: 'Retries what may be retried, later each time, though no time is given.',
  consequence: 'Clients retry a POST that may have been done, or take 500 for the end.',
  perform: ({ request }) => {
    throw toApiError(undefined, request.id);
  },
});
