import type { RequestListener, Server } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** The most requests of one turn, so that new arrivals are read soon, and the time after which a turn begins no further request. */
const maxTogether = 64;
const requestsMs = 4;
/** A body of more bytes is large: reading it can take longer than serving the request. */
const largeBodyBytes = 512;
/** The time after which a turn reads no further large body. */
const largeBodiesMs = 1;

/**
 * Handles the requests of one turn of the event loop together, so that each step runs for all while its code is in the processor's cache,
 * and they reach the storage as a group. Large bodies wait only for each other: a turn reads one, and more while it has time.
 */
export class RequestBatcher {
  readonly #handle: RequestListener;
  #requests: Parameters<RequestListener>[] = [];
  #largeBodies: (() => void)[] = [];
  #isDue = false;

  /** Replaces the one request listener of a server, and passes the requests to it in turns. */
  constructor(server: Server) {
    [this.#handle] = server.listeners('request') as [RequestListener];
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      this.#requests.push([request, response]);
      this.#comeBack();
    });
    // If the rest of a request is broken, its head must be handled first: the response carries the limits of its key.
    server.prependListener('clientError', (_error, broken) => {
      const { here = [], others = [] } = Object.groupBy(this.#requests, ([{ socket }]) =>
        socket === broken ? 'here' : 'others',
      );
      this.#requests = others;
      for (const arrived of here) this.#handleOne(...arrived);
    });
  }

  /** Calls `read` for a body of `length` bytes: at once, or when it is its turn if it is large. */
  readBody(length: number, read: () => void): void {
    if (length <= largeBodyBytes) {
      read();
      return;
    }
    this.#largeBodies.push(read);
    this.#comeBack();
  }

  #comeBack(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#handleSome();
      this.#readLargeBodies();
      if (this.#requests.length > 0 || this.#largeBodies.length > 0) this.#comeBack();
    });
  }

  #handleSome(): void {
    const endMs = performance.now() + requestsMs;
    let count = 0;
    for (const arrived of this.#requests) {
      if (count === maxTogether || performance.now() > endMs) break;
      count++;
      this.#handleOne(...arrived);
    }
    this.#requests.splice(0, count);
  }

  #handleOne(...[request, response]: Parameters<RequestListener>): void {
    // If the client has disconnected, its body never arrives, and Fastify would wait for it.
    if (!request.destroyed) this.#handle(request, response);
  }

  #readLargeBodies(): void {
    const endMs = performance.now() + largeBodiesMs;
    do this.#largeBodies.shift()?.();
    while (this.#largeBodies.length > 0 && performance.now() < endMs);
  }
}

/** Bodies are read here, in turns, and parsed later by the operation, which decides on media types. */
export function takeBodiesAsBytes(app: FastifyInstance): void {
  const arrivals = new RequestBatcher(app.server);
  app.removeAllContentTypeParsers();
  // `*` would work, too, but Fastify would then search for its parser at each request.
  app.addContentTypeParser(/^/, { parseAs: 'buffer' }, (_request, body, done) =>
    arrivals.readBody(body.length, () => done(null, body)),
  );
}
