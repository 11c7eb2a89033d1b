import type { FastifyRequest } from 'fastify';
import { reasonPhrase } from '../../http/server-response.ts';
import type { OperationResponse } from '../../http/success.ts';
import { onDisconnect } from './shared/connection-faults.ts';
import { fault } from './shared/fault.ts';

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

/** The response of a gateway in front of the service: this status and an HTML page. The client gets no error code. */
export function gatewayPage(request: FastifyRequest, status: 502 | 504): OperationResponse {
  request.errorCode = undefined;
  const title = `${status} ${reasonPhrase(status)}`;
  const body = `<!DOCTYPE html>
<html lang="en">
<head><title>${title}</title></head>
<body><h1>${title}</h1></body>
</html>
`;
  return { status, headers: {}, body, type: 'text/html', isOfGateway: true };
}
