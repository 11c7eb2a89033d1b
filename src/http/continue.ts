import type { Server } from 'node:http';

/**
 * Tells a client that waits with its body to go on (`Expect: 100-continue`; RFC 9110, section 10.1.1) once the body is about
 * to be read, so that no client sends the body of a refused request. If the client was never told, the connection ends
 * with the answer: it would be unclear whether the body or another request comes next. Other expectations are ignored.
 */
export function continueWhenRead(server: Server): void {
  server.on('checkContinue', (request, response) => {
    server.emit('request', request, response);
    const { shouldKeepAlive } = response;
    response.shouldKeepAlive = false;
    request.once('resume', () => {
      // A body that is unread after the answer is read and dropped.
      if (response.headersSent) return;
      response.shouldKeepAlive = shouldKeepAlive;
      response.writeContinue();
    });
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}
