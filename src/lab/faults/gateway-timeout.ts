import { onDisconnect } from './shared/connection-faults.ts';
import { fault } from './shared/fault.ts';
import { answerAsGateway } from './shared/gateway-page.ts';

export const gatewayTimeout = fault({
  name: 'gateway-timeout',
  gatewayStatus: 504,
  fits: ({ success }) => success.kind !== 'stream',
  group: 'Failures and refusals',
  level: 'required',
  does: 'Does what was asked, commits it, and answers 504 with a page of HTML, as a gateway does that waited too long.',
  goodClient:
    'Looks at the status before it reads the body, and takes the outcome for unknown: a POST is sent again with the same `Idempotency-Key`, and gets the first answer.',
  consequence:
    'Clients send the POST again without an `Idempotency-Key`, and a customer pays twice. Others parse the page as JSON, and report a wrong syntax instead of 504.',
  perform: ({ request, reply, cutOff }) => {
    answerAsGateway(request, reply, 504);
    onDisconnect(reply, cutOff);
  },
});
