import { operations } from '../../api/operations.ts';
import type { Recorded } from '../recordings/recorded.ts';
import { type Check, counted } from './check.ts';
import { follows } from './request-facts.ts';

const successors = new Map(
  operations.flatMap(({ id, deprecated }) => (deprecated ? [[id, deprecated.successor] as const] : [])),
);
const successorOf = ({ operation = '' }: Recorded) => successors.get(operation);
const isSuccessor = ({ operation = '' }: Recorded) => [...successors.values()].includes(operation);

export const deprecatedNotCalled: Check = {
  name: 'deprecated.not-called',
  level: 'recommended',
  asks: 'The client uses no deprecated operation.',
  judged: `Any request to ${[...successors.keys()].map((id) => `\`${id}\``).join(', ')} fails. A client that used the successor instead passes.`,
  unseen: 'Neither a deprecated operation nor its successor was used.',
  faults: [],
  advice: 'Use the operation that `Link` names with `rel="successor-version"`.',
  guide: 'Versioning',
  judge({ requests }) {
    const bad = requests.filter((request) => successorOf(request) !== undefined);
    return {
      bad,
      good: requests.filter(isSuccessor),
      failed: `${counted(bad.length, 'request')} went to a deprecated operation.`,
      passed: 'The client used the successor, and no deprecated operation.',
    };
  },
};

export const successorUsed: Check = {
  name: 'sunset.successor-used',
  level: 'recommended',
  asks: 'When a deprecated operation answers 410, the client uses its successor.',
  judged:
    'After 410, the next request to the successor passes, and one of the same worker to the deprecated operation itself fails. A client that sends neither is not judged.',
  unseen: 'No deprecated operation answered 410, or neither it nor its successor was used afterwards.',
  faults: ['sunset'],
  advice: 'After 410, send the request to the operation that `Link` names with `rel="successor-version"`.',
  guide: 'Versioning',
  judge({ requests, isOfSameWorker }) {
    const gone = new Map<string, Recorded>();
    const good: Recorded[] = [];
    const bad: Recorded[] = [];
    for (const request of requests) {
      for (const [operation, refused] of gone) {
        if (!follows(request, refused)) continue;
        if (request.operation === operation && isOfSameWorker(request, refused)) bad.push(refused, request);
        else if (request.operation === successors.get(operation)) good.push(refused, request);
        else continue;
        gone.delete(operation);
      }
      if (request.status === 410 && successorOf(request)) gone.set(request.operation as string, request);
    }
    return {
      bad,
      good,
      failed: `${counted(bad.length / 2, 'request')} came again to an operation that was gone.`,
      passed: 'After 410 the client used the successor.',
    };
  },
};
