import { operations } from '../../../operations.ts';
import type { Recorded } from '../../recordings/recorded.ts';
import { type Check, notObserved, passed } from './check.ts';
import { isSuccess } from './outcomes.ts';

export const operationsCovered: Check = {
  name: 'operations.covered',
  level: 'recommended',
  asks: 'The client uses every operation of the API; what it does not use, this recording says nothing about.',
  judged:
    'It passes when each operation was answered with success once. Nothing fails it: a client that needs less is not wrong.',
  unseen: 'Some operations were not used. The result says how many were.',
  faults: [],
  advice: 'Let the test of the client go through all operations, if it is to prove all of the client.',
  guide: 'Generate a client',
  judge(requests) {
    const first = new Map<string, Recorded>();
    for (const request of requests) {
      const { operation } = request;
      if (operation !== undefined && isSuccess(request) && !first.has(operation))
        first.set(operation, request);
    }
    const all = operations.length;
    return first.size === all
      ? passed([...first.values()], `All ${all} operations were used.`)
      : notObserved(`${first.size} of ${all} operations ${first.size === 1 ? 'was' : 'were'} used.`);
  },
};
