import type { RequestListener, Server } from 'node:http';

/** Requests of one turn at most, and how long it begins further ones, so that whoever comes meanwhile is read soon. */
const maxTogether = 64;
const requestsMs = 4;
/** A body beyond this length, in bytes, is large: to read it can take longer than to serve the request. */
const largeBodyBytes = 512;
/** How long a turn goes on with further large bodies. */
const largeBodiesMs = 2;

/**
 * Handles the requests that arrive in one turn of the event loop together, once all of them are read. Each step of their
 * path then runs for all in a row while the processor has its code at hand, and they reach the storage as one group.
 * Large bodies wait for each other and keep nobody else waiting: a turn reads one, and more while its time lasts.
 */
export class Arrivals {
  readonly #handle: RequestListener;
  #requests: Parameters<RequestListener>[] = [];
  #largeBodies: (() => void)[] = [];
  #isDue = false;

  /** Takes the requests of a server from its one listener, and hands them on in turn. */
  constructor(server: Server) {
    [this.#handle] = server.listeners('request') as [RequestListener];
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      this.#requests.push([request, response]);
      this.#comeBack();
    });
    // Where the rest of a request is broken, its head must be handled first: the answer tells the limits of its key.
    server.prependListener('clientError', (_error, broken) => {
      const { here = [], others = [] } = Object.groupBy(this.#requests, ([{ socket }]) =>
        socket === broken ? 'here' : 'others',
      );
      this.#requests = others;
      for (const arrived of here) this.#handleOne(...arrived);
    });
  }

  /** Calls `read` for a body of `length` bytes when it is its turn, which is at once unless it is large. */
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
    // The body of one that is gone would be waited for.
    if (!request.destroyed) this.#handle(request, response);
  }

  #readLargeBodies(): void {
    const endMs = performance.now() + largeBodiesMs;
    do this.#largeBodies.shift()?.();
    while (this.#largeBodies.length > 0 && performance.now() < endMs);
  }
}
