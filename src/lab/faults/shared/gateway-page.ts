import type { FastifyRequest } from 'fastify';
import type { OperationResponse } from '../../../http/operation.ts';
import { reasonPhrase } from '../../../http/server-response.ts';

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
