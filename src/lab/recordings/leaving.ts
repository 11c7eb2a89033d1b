import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A request of a recorded key from its admission on. */
export interface Watched {
  request: FastifyRequest;
  reply: FastifyReply;
  /** When it was admitted, by the clock of the instance. */
  beganAtMs: number;
  isRecorded: boolean;
}

interface Parts {
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Microseconds since 1970, which do not go back. */
  nowUs: () => number;
  /** Is called for a request whose client has left, once. */
  record: (watched: Watched) => void;
}

/**
 * Watches requests of recorded keys until they are recorded, and notices when their clients leave. The framework tells of sent answers
 * alone. A client has left when it has closed its side of the connection: whether it only says that it sends nothing more cannot be
 * known, and is rare.
 */
export class Leaving {
  readonly #parts: Parts;
  readonly #watched = new WeakMap<IncomingMessage, Watched>();
  readonly #underWay = new Set<Watched>();
  /** When the clients of connections have left, in microseconds since 1970. */
  readonly #leftAtUs = new WeakMap<Socket, number | undefined>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Watches a request that was admitted. A stream has no end but that its reader leaves. */
  watch(request: FastifyRequest, reply: FastifyReply): void {
    const watched = { request, reply, beganAtMs: this.#parts.clock(), isRecorded: false };
    this.#watched.set(request.raw, watched);
    if (request.operation?.success.kind === 'stream') return;
    this.#underWay.add(watched);
    const { socket } = request.raw;
    this.#watchConnection(socket);
    reply.raw.once('close', () => {
      if (watched.isRecorded) return;
      if (!this.#leftAtUs.get(socket)) this.#leftAtUs.set(socket, this.#parts.nowUs());
      this.#parts.record(watched);
    });
  }

  /** One listener for all requests of a connection, which may come at once. */
  #watchConnection(socket: Socket): void {
    if (this.#leftAtUs.has(socket)) return;
    this.#leftAtUs.set(socket, undefined);
    socket.once('end', () => this.#leftAtUs.set(socket, this.#parts.nowUs()));
  }

  /** What is known of a request that is recorded now; undefined if it was not watched. It is under way no longer. */
  settle(request: IncomingMessage): (Watched & { leftAtUs: number | undefined }) | undefined {
    const watched = this.#watched.get(request);
    if (!watched) return undefined;
    const told = { ...watched, leftAtUs: this.#underWay.has(watched) ? this.#leftOf(watched) : undefined };
    watched.isRecorded = true;
    this.#underWay.delete(watched);
    return told;
  }

  /** Records the requests of a key that are still under way although their clients have left. */
  recordLeft(keyId: string): void {
    for (const watched of this.#underWay)
      if (watched.request.caller?.keyId === keyId && this.#leftOf(watched)) this.#parts.record(watched);
  }

  #leftOf = ({ request }: Watched) => this.#leftAtUs.get(request.raw.socket);
}
