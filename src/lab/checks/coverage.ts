import type { Recorded } from '../recordings/recorded.ts';
import type { Check } from './check.ts';
import { isSuccess } from './request-facts.ts';

export const operationsCovered: Check = {
  name: 'operations.covered',
  level: 'recommended',
  asks: 'The client uses every operation of the API.',
  judged:
    'Passes: every operation succeeded at least once. It never fails, because a client may need fewer operations.',
  unseen: 'Some operations were not used. The result says how many were used.',
  faults: [],
  advice: 'Let the tests of the client use all operations.',
  guide: 'Generate a client',
  judge({ requests, api }) {
    const first = new Map<string, Recorded>();
    for (const request of requests) {
      const { operation } = request;
      if (operation !== undefined && isSuccess(request) && !first.has(operation))
        first.set(operation, request);
    }
    const all = api.operations.length;
    return {
      good: first.size === all ? [...first.values()] : [],
      passed: `All ${all} operations were used.`,
      unseen: `${first.size} of ${all} operations ${first.size === 1 ? 'was' : 'were'} used.`,
    };
  },
};
