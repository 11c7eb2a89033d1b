import { resetConnection } from '../../http/connections.ts';
import { delivering } from './shared/connection-faults.ts';
import { fault } from './shared/fault.ts';

export const lostAnswer = fault({
  name: 'lost-answer',
  isQuick: true,
  endsConnection: true,
  fits: ({ success }) => success.kind !== 'stream',
  needsDirectConnection: true,
  group: 'Broken connections',
  level: 'required',
  does: 'Processes the request, commits a change, and resets the connection (RST) instead of sending a response.',
  goodClient:
    'Retries. A retried POST has the same `Idempotency-Key` and gets the first response, so only one resource is created. If a retried DELETE gets 404, the first one succeeded.',
  whyItMatters:
    'Clients retry a POST without an `Idempotency-Key` or with a new one, and a customer pays twice.',
  perform: (invocation) =>
    delivering(invocation, () => {
      invocation.cutOff();
      resetConnection(invocation.request.raw.socket);
    }),
});
