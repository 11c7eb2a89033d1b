import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A request of a recorded key, from its admission on. */
interface WatchedRequest {
  request: FastifyRequest;
  reply: FastifyReply;
  /** When it was admitted, by the clock of the instance. */
  beganAtMs: number;
  /** The same in microseconds since 1970, by a clock that does not go back. */
  admittedAtUs: number;
  isRecorded: boolean;
  /** Of a stream: when the last bytes were sent, in microseconds since 1970. */
  sentAtUs?: number;
}

interface Parts {
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Microseconds since 1970, which do not go back. */
  nowUs: () => number;
  /** Is called once for a request whose client has disconnected. */
  record: (watched: WatchedRequest) => void;
}

/** Notices when clients close their side, since Fastify reports sent responses only. A half-close, which is rare, looks the same. */
export class DisconnectWatcher {
  readonly #parts: Parts;
  readonly #watched = new WeakMap<IncomingMessage, WatchedRequest>();
  readonly #inFlight = new Set<WatchedRequest>();
  /** When the clients of connections disconnected, in microseconds since 1970. */
  readonly #leftAtUs = new WeakMap<Socket, number | undefined>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Watches an admitted request. */
  watch(request: FastifyRequest, reply: FastifyReply): void {
    const { clock, nowUs } = this.#parts;
    const began = { beganAtMs: clock(), admittedAtUs: nowUs() };
    const watched: WatchedRequest = { request, reply, ...began, isRecorded: false };
    this.#watched.set(request.raw, watched);
    this.#inFlight.add(watched);
    const { socket } = request.raw;
    this.#watchConnection(socket);
    const isStream = request.operation?.success.kind === 'stream';
    if (isStream) this.#noteWrites(watched);
    reply.raw.once('close', () => {
      if (watched.isRecorded) return;
      // The service may have ended a stream. For any other unsent response the client has disconnected.
      const hasLeft = !isStream || socket.errored;
      if (hasLeft && !this.#leftAtUs.get(socket)) this.#leftAtUs.set(socket, this.#parts.nowUs());
      this.#parts.record(watched);
    });
  }

  /** Notes when something is sent on a stream. */
  #noteWrites(watched: WatchedRequest): void {
    const { raw: response } = watched.reply;
    const note = () => {
      watched.sentAtUs = this.#parts.nowUs();
    };
    const write = response.write.bind(response) as (...args: unknown[]) => boolean;
    response.write = (...args: unknown[]) => {
      note();
      return write(...args);
    };
    note();
  }

  /** Adds one listener for all requests of a connection, since a client may pipeline many. */
  #watchConnection(socket: Socket): void {
    if (this.#leftAtUs.has(socket)) return;
    this.#leftAtUs.set(socket, undefined);
    socket.once('end', () => {
      // If the service has closed its side first, the client only follows.
      if (!socket.writableEnded) this.#leftAtUs.set(socket, this.#parts.nowUs());
    });
  }

  /** Stops watching a request, because it is recorded now. Returns the known facts about it; undefined if it was not watched. */
  settle(request: IncomingMessage): (WatchedRequest & { leftAtUs: number | undefined }) | undefined {
    const watched = this.#watched.get(request);
    if (!watched) return undefined;
    const leftAtUs = this.#inFlight.has(watched) ? this.#leftOf(watched) : undefined;
    const settled = { ...watched, leftAtUs };
    watched.isRecorded = true;
    this.#inFlight.delete(watched);
    return settled;
  }

  /** Records the requests of a key that are in flight although their clients have disconnected. */
  recordLeft(keyId: string): void {
    for (const watched of this.#inFlight)
      if (watched.request.caller?.keyId === keyId && this.#leftOf(watched)) this.#parts.record(watched);
  }

  #leftOf = ({ request }: WatchedRequest) => this.#leftAtUs.get(request.raw.socket);
}
