import { toApiError } from '../../foundation/errors.ts';
import { fault } from './shared/fault.ts';
import { answerAsGateway } from './shared/gateway-page.ts';

export const badGateway = fault({
  name: 'bad-gateway',
  gatewayStatus: 502,
  group: 'Failures and refusals',
  level: 'recommended',
  does: 'Answers 502 with a page of HTML, as a gateway does that reaches no instance. Nothing was done.',
  goodClient:
    'Looks at the status before it reads the body, and retries what may be retried, later each time.',
  consequence:
    'Clients parse the page as JSON. They fail with a wrong syntax, and retry nothing since they never saw the status.',
  perform: ({ request, reply }) => {
    answerAsGateway(request, reply, 502);
    // Ends the request here. The page is sent in place of this error.
    throw toApiError(undefined, request.id);
  },
});
