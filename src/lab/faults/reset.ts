import { resetConnection } from '../../http/connections.ts';
import { isDirect, onlyDirect } from './shared/connection-faults.ts';
import { fault } from './shared/fault.ts';

export const reset = fault({
  name: 'reset',
  endsConnection: true,
  canTouch: isDirect,
  group: 'Broken connections',
  level: 'recommended',
  does: `Resets the connection (RST) before anything is done. ${onlyDirect}`,
  goodClient: 'Retries what may be retried, later each time.',
  consequence:
    'Clients retry no failure without a status, or retry a POST without an `Idempotency-Key`, although they cannot know that nothing was done.',
  perform: ({ request, reply, cutOff }) => {
    reply.hijack();
    cutOff();
    resetConnection(request.raw.socket);
  },
});
