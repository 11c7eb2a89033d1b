import { counted } from '../../foundation/words.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import type { Check } from './check.ts';
import { follows, isSuccess } from './request-facts.ts';

export const deprecatedNotCalled: Check = {
  name: 'deprecated.not-called',
  level: 'recommended',
  asks: 'The client uses no deprecated operation.',
  judged:
    'Fails: any request to an operation that the description marks as deprecated. Passes: requests to the successor only.',
  unseen: 'Neither a deprecated operation nor its successor was used.',
  faults: [],
  advice: 'Use the operation that `Link` names with `rel="successor-version"`.',
  guide: 'Versioning',
  judge({ requests, api }) {
    const successors = api.operations.map(({ deprecated }) => deprecated?.successor);
    const bad = requests.filter((request) => api.operationOf(request)?.deprecated);
    return {
      bad,
      good: requests.filter(({ operation }) => operation !== undefined && successors.includes(operation)),
      failed: `${counted(bad.length, 'request')} went to a deprecated operation.`,
      passed: 'The client used the successor, and no deprecated operation.',
    };
  },
};

export const successorUsed: Check = {
  name: 'sunset.successor-used',
  level: 'recommended',
  asks: 'When a deprecated operation returns 410, the client uses its successor.',
  judged:
    'Looks at the next request after 410. Passes: a request to the successor. Fails: a request of the same worker to the deprecated operation. Not judged: a client that sends neither.',
  unseen: 'No deprecated operation returned 410, or neither it nor its successor was used afterwards.',
  faults: ['sunset'],
  advice: 'After 410, send the request to the operation that `Link` names with `rel="successor-version"`.',
  guide: 'Versioning',
  judge({ requests, api, isOfSameWorker }) {
    const successorOf = (request: Recorded) => api.operationOf(request)?.deprecated?.successor;
    const gone = new Map<string, Recorded>();
    const good: Recorded[] = [];
    const bad: Recorded[] = [];
    for (const request of requests) {
      for (const [operation, refused] of gone) {
        if (!follows(request, refused)) continue;
        if (request.operation === operation && isOfSameWorker(request, refused)) bad.push(refused, request);
        else if (request.operation === successorOf(refused)) good.push(refused, request);
        else continue;
        gone.delete(operation);
      }
      if (request.status === 410 && successorOf(request)) gone.set(request.operation as string, request);
    }
    return {
      bad,
      good,
      failed: `After 410 the client used the same operation again, in ${counted(bad.length / 2, 'request')}.`,
      passed: 'After 410 the client used the successor.',
    };
  },
};

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
    const used = requests.filter((request) => isSuccess(request) && request.operation !== undefined);
    const first = new Map(used.toReversed().map((request) => [request.operation, request]));
    const all = api.operations.length;
    return {
      good: first.size === all ? [...first.values()] : [],
      passed: `All ${all} operations were used.`,
      unseen: `${first.size} of ${all} operations ${first.size === 1 ? 'was' : 'were'} used.`,
    };
  },
};
