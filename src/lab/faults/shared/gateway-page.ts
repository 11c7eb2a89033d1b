import type { FastifyReply, FastifyRequest } from 'fastify';
import { reasonPhrase } from '../../../http/server-response.ts';
import { responseWriter } from '../../../http/write-response.ts';
import { interceptAnswer } from './connection-faults.ts';

const write = responseWriter(undefined);

/** Replaces the response of the service with this status and an HTML page, like a gateway in front of it. */
export function answerAsGateway(request: FastifyRequest, reply: FastifyReply, status: 502 | 504): void {
  const { raw: response } = reply;
  response.writeHead = () => response;
  interceptAnswer(reply, () => {
    Reflect.deleteProperty(response, 'writeHead');
    // The client gets no error code.
    request.errorCode = undefined;
    write(request, reply, { status, headers: {}, body: pageOf(status), type: 'text/html' });
  });
}

function pageOf(status: number): string {
  const title = `${status} ${reasonPhrase(status)}`;
  return `<!DOCTYPE html>
<html lang="en">
<head><title>${title}</title></head>
<body><h1>${title}</h1></body>
</html>
`;
}
