import { cameAfterIdling, endConnection } from '../../http/connections.ts';
import { fault } from './shared/fault.ts';

export const staleConnection = fault({
  name: 'stale-connection',
  endsConnection: true,
  needsDirectConnection: true,
  canTouch: ({ raw }) => cameAfterIdling(raw),
  group: 'Broken connections',
  level: 'recommended',
  does: 'Closes a reused connection (FIN) just as the next request arrives on it. The request has no effect. The first request on a connection is not affected.',
  goodClient: 'Retries on a new connection. This is not a failure of the service.',
  whyItMatters:
    'Connection pools reuse a connection that the server or a load balancer has just closed. This happens once in thousands of requests, and almost never in a test.',
  perform: ({ request, reply, cutOff }) => {
    reply.hijack();
    cutOff();
    endConnection(request.raw.socket);
  },
});
