import type { RequestListener, Server } from 'node:http';

/**
 * Handles the requests that arrive in one turn of the event loop together, once all of them are read. Each step of their
 * path then runs for all in a row while the processor has its code at hand, and they reach the storage as one group.
 */
export function handleTogether(server: Server): void {
  const [handle] = server.listeners('request') as [RequestListener];
  let arrived: Parameters<RequestListener>[] = [];
  const handleArrived = () => {
    const group = arrived;
    arrived = [];
    for (const [request, response] of group) {
      // The body of one that is gone would be waited for.
      if (!request.destroyed) handle(request, response);
    }
  };
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (arrived.push([request, response]) === 1) setImmediate(handleArrived);
  });
  // Where the rest of a request is broken, its head must be handled first: the answer tells the limits of its key.
  server.prependListener('clientError', handleArrived);
}
