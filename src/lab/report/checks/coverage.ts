import { operations } from '../../../operations.ts';
import type { Recorded } from '../../recordings/recorded.ts';
import { isSuccess } from './attempts.ts';
import { type Check, failed, notObserved, passed } from './check.ts';

export const operationsCovered: Check = {
  name: 'operations.covered',
  level: 'recommended',
  asks: 'The client uses every operation of the API; what it does not use, this recording says nothing about.',
  judged:
    'Each operation must have been answered with success once. The sentence of the result lists the others.',
  unseen: 'No request to an operation succeeded.',
  faults: [],
  advice:
    'Let the test of the client go through the operations that are missing, or take it for what it is: a list of what is unproved.',
  guide: 'Generate a client',
  judge(requests) {
    const first = new Map<string, Recorded>();
    for (const request of requests) {
      const { operation } = request;
      if (operation !== undefined && isSuccess(request) && !first.has(operation))
        first.set(operation, request);
    }
    if (first.size === 0) return notObserved('No request to an operation succeeded.');
    const missing = operations.filter(({ id }) => !first.has(id)).map(({ id }) => id);
    const evidence = [...first.values()];
    return missing.length === 0
      ? passed(evidence, `All ${operations.length} operations were used.`)
      : failed(
          evidence,
          `${first.size} of ${operations.length} operations were used. Not used: ${missing.join(', ')}.`,
        );
  },
};
