import type { Server } from 'node:http';

/**
 * Tells a client that waits with its body to go on (`Expect: 100-continue`; RFC 9110, section 10.1.1) once the body is about
 * to be read, so that no client sends a body for a refusal. A connection whose client was never told ends with the answer:
 * nobody could tell whether what comes next is the body or another request. Other expectations are ignored.
 */
export function continueWhenRead(server: Server): void {
  server.on('checkContinue', (request, response) => {
    server.emit('request', request, response);
    const { shouldKeepAlive } = response;
    response.shouldKeepAlive = false;
    request.once('resume', () => {
      // What is left unread once it is answered is read to be dropped.
      if (response.headersSent) return;
      response.shouldKeepAlive = shouldKeepAlive;
      response.writeContinue();
    });
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}
