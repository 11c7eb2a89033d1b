import { resetConnection } from '../../http/connections.ts';
import { fault } from './shared/fault.ts';

export const reset = fault({
  name: 'reset',
  endsConnection: true,
  needsDirectConnection: true,
  group: 'Broken connections',
  level: 'recommended',
  does: 'Resets the connection (RST) before it processes the request.',
  goodClient: 'Retries requests that are safe to retry, with backoff.',
  whyItMatters:
    'Clients do not retry failures without a status, or retry a POST without an `Idempotency-Key`, although they cannot know whether it took effect.',
  perform: ({ request, reply, cutOff }) => {
    reply.hijack();
    cutOff();
    resetConnection(request.raw.socket);
  },
});
