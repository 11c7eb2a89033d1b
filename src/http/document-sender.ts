import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../foundation/errors.ts';
import { addressOf } from '../limits/address.ts';

/** The maximum number of bytes that one turn of the event loop writes. */
export const pieceBytes = 64 * 1024;

/** The limits for each address. */
export interface DocumentBounds {
  /** Responses in progress. */
  sending: number;
  /** Responses that wait. */
  waiting: number;
  /** How long a client that reads nothing keeps its place while another waits. */
  slowMs: number;
}

/** A browser opens six connections for a page, and users of one network share an address. */
export const documentBounds: DocumentBounds = { sending: 32, waiting: 256, slowMs: 2_000 };

/** A response that sends a document. */
interface Sending {
  response: ServerResponse;
  /** When its last piece was sent, if the client has not read it yet. */
  unreadSinceMs: number | undefined;
  /** Continues to send. */
  resume(): void;
}

/** The responses to one address. */
interface Queue {
  address: string;
  /** Responses with a place. */
  sending: Set<Sending>;
  /** Responses that wait for a place. */
  waiting: Set<Sending>;
  /** Responses with a place that wait for a turn of the event loop. */
  ready: Sending[];
  timer?: NodeJS.Timeout | undefined;
}

/**
 * Sends documents, which need no key, without delaying other requests. A turn of the event loop begins one response or writes one piece of
 * a response, and addresses take turns. Each address has a bounded number of responses in progress. Further responses wait.
 */
export class DocumentSender {
  readonly #bounds: DocumentBounds;
  readonly #stopwatch: () => number;
  readonly #queues = new Map<string, Queue>();
  /** Addresses that wait for a turn, the next one first. */
  readonly #ready = new Set<Queue>();
  #isDue = false;

  constructor(stopwatch: () => number = () => performance.now(), bounds = documentBounds) {
    this.#stopwatch = stopwatch;
    this.#bounds = bounds;
  }

  /**
   * Waits for a place and a turn, and then calls `answer`, which may send bytes by the function it gets. Does not call it if
   * the client has left. Throws `rate_limited` if too many requests of its address wait already.
   */
  async answer(
    request: FastifyRequest,
    response: ServerResponse,
    answer: (send: (bytes: Uint8Array) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const queue = this.#queueOf(addressOf(request).id);
    const { sending, waiting } = queue;
    if (waiting.size >= this.#bounds.waiting)
      throw new ApiError(
        'rate_limited',
        `${waiting.size} requests from this address already wait for documents. Try again after 1 s.`,
        { 'Retry-After': '1' },
      );
    const own: Sending = { response, unreadSinceMs: undefined, resume: () => {} };
    const left = () => own.resume();
    response.once('close', left);
    try {
      if (sending.size < this.#bounds.sending) sending.add(own);
      else await this.#place(queue, own);
      await this.#turn(queue, own);
      if (!response.destroyed) await answer((bytes) => this.#send(queue, own, bytes));
    } finally {
      response.off('close', left);
      this.#leave(queue, own);
    }
  }

  #queueOf(address: string): Queue {
    const queue = this.#queues.get(address) ?? {
      address,
      sending: new Set(),
      waiting: new Set(),
      ready: [],
    };
    this.#queues.set(address, queue);
    return queue;
  }

  /** Waits for a place. */
  #place(queue: Queue, own: Sending): Promise<void> {
    queue.waiting.add(own);
    this.#endSlow(queue);
    return new Promise((resolve) => {
      own.resume = resolve;
    });
  }

  /** Waits for a turn of the event loop. */
  #turn(queue: Queue, own: Sending): Promise<void> {
    queue.ready.push(own);
    this.#ready.add(queue);
    this.#comeBack();
    return new Promise((resolve) => {
      own.resume = resolve;
    });
  }

  async #send(queue: Queue, own: Sending, bytes: Uint8Array): Promise<void> {
    const { response } = own;
    for (let start = 0; start < bytes.length && !response.destroyed; start += pieceBytes) {
      if (start > 0) await this.#turn(queue, own);
      await this.#write(own, bytes.subarray(start, start + pieceBytes));
    }
    response.end();
  }

  /** Writes a piece, and waits until the operating system has taken it. */
  #write(own: Sending, piece: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      own.unreadSinceMs = this.#stopwatch();
      own.resume = () => {
        own.unreadSinceMs = undefined;
        resolve();
      };
      own.response.write(piece, () => own.resume());
    });
  }

  #comeBack(): void {
    if (this.#isDue || this.#ready.size === 0) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      const [queue] = this.#ready as Set<Queue>;
      if (!queue) return;
      this.#ready.delete(queue);
      queue.ready.shift()?.resume();
      if (queue.ready.length > 0) this.#ready.add(queue);
      this.#comeBack();
    });
  }

  /** Gives the place of an ended response to the next one. */
  #leave(queue: Queue, own: Sending): void {
    const { address, sending, waiting } = queue;
    waiting.delete(own);
    sending.delete(own);
    const [next] = waiting;
    if (next && sending.size < this.#bounds.sending) {
      waiting.delete(next);
      sending.add(next);
      next.resume();
    }
    if (waiting.size === 0) clearTimeout(queue.timer);
    if (sending.size === 0 && waiting.size === 0) this.#queues.delete(address);
  }

  /** Ends responses whose clients read too slowly: one for each waiting request. Checks again until no request waits. */
  #endSlow(queue: Queue): void {
    const { slowMs } = this.#bounds;
    const beforeMs = this.#stopwatch() - slowMs;
    const slow = [...queue.sending].filter(
      ({ unreadSinceMs = Number.POSITIVE_INFINITY }) => unreadSinceMs <= beforeMs,
    );
    for (const { response } of slow.slice(0, queue.waiting.size)) response.destroy();
    clearTimeout(queue.timer);
    queue.timer = setTimeout(() => queue.waiting.size > 0 && this.#endSlow(queue), slowMs / 4).unref();
  }
}
