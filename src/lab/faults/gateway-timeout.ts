import { onDisconnect } from './shared/connection-faults.ts';
import { fault } from './shared/fault.ts';
import { gatewayPage } from './shared/gateway-page.ts';

export const gatewayTimeout = fault({
  name: 'gateway-timeout',
  gatewayStatus: 504,
  fits: ({ success }) => success.kind !== 'stream',
  group: 'Failures and refusals',
  level: 'required',
  does: 'Processes the request, commits a change, and returns 504 with an HTML page, like a gateway that timed out.',
  goodClient:
    'Checks the status before it reads the body, and treats the outcome as unknown. It retries. A retried POST has the same `Idempotency-Key` and gets the first response.',
  whyItMatters:
    'Clients send the POST again without an `Idempotency-Key`, and a customer pays twice. Others parse the page as JSON, and report a syntax error instead of 504.',
  perform: ({ request, reply, cutOff }) => {
    onDisconnect(reply, cutOff);
    return { answer: () => gatewayPage(request, 504) };
  },
});
