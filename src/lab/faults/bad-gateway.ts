import { responseWriter } from '../../http/write-response.ts';
import { gatewayPage } from './gateway-timeout.ts';
import { fault } from './shared/fault.ts';

export const badGateway = fault({
  name: 'bad-gateway',
  gatewayStatus: 502,
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Returns 502 with an HTML page, like a gateway that cannot reach an instance. The request has no effect.',
  goodClient:
    'Checks the status before it reads the body, and retries requests that are safe to retry, with backoff.',
  whyItMatters:
    'Clients parse the page as JSON. They fail with a syntax error, and do not retry because they never check the status.',
  perform: ({ request, reply }) => {
    responseWriter(undefined)(request, reply, gatewayPage(request, 502));
  },
});
