import type { IncomingMessage } from 'node:http';
import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Caller } from '../access/keys/store.ts';
import type { Operation } from '../http/operation.ts';
import { traceIdIn, traceIdOf, traceparentFrom } from '../http/trace-context.ts';

/** What is known about a request after its response. What could not be read is undefined. */
export interface RequestOutcome {
  requestId: string;
  method?: string | undefined;
  url?: string | undefined;
  operation?: Operation | undefined;
  /** The caller, if the request was admitted with a valid key. */
  caller?: Caller | undefined;
  /** The caller whose key it carried, also if the request was refused. */
  sender?: Caller | undefined;
  address: string | undefined;
  /** 0 if the connection was cut off instead of a response. */
  status: number;
  /** Milliseconds from when the request was handled to the end of its response. */
  durationMs?: number | undefined;
  /** Why it could not be read: the error code of Node.js. */
  reason?: string | undefined;
  /** The faults of a rehearsal that changed the response. */
  faults?: readonly string[] | undefined;
  code?: string | undefined;
  /** The request and its response. Absent if the request could not be read. */
  exchange?: { request: FastifyRequest; reply: FastifyReply };
  /** A request whose headers could be read, and whose body could not. */
  unread?: IncomingMessage | undefined;
  /** The error that stopped the response from being sent. */
  error?: Error | null | undefined;
}

/** The trace id of a request. The headers of one whose body is broken may have been read. */
export const traceIdOfOutcome = ({ exchange, unread, requestId }: RequestOutcome): string =>
  exchange ? traceIdOf(exchange.request) : traceIdIn(traceparentFrom(unread?.headers.traceparent, requestId));

/** Is called for every response. Must not throw. */
type Observer = (facts: RequestOutcome) => void;

/** What is known of a request that could be read. `isCutOff`: its connection was cut off before or within its response. */
export const factsOf = (
  request: FastifyRequest,
  reply: FastifyReply,
  address: string | undefined,
  isCutOff = false,
): RequestOutcome => ({
  requestId: request.id,
  method: request.method,
  url: request.url,
  operation: request.operation,
  caller: request.caller,
  sender: request.sender,
  address,
  status: isCutOff ? 0 : reply.statusCode,
  durationMs: reply.elapsedTime,
  faults: request.interceptor?.faults,
  code: isCutOff ? undefined : request.errorCode,
  exchange: { request, reply },
});

/** Reports each response once to every observer. Every response of the service passes here. */
export class OutcomeReporter extends LogController {
  readonly #observers: readonly Observer[];

  constructor(observers: readonly Observer[]) {
    super();
    this.#observers = observers;
  }

  report(facts: RequestOutcome): void {
    for (const observe of this.#observers) observe(facts);
  }

  /** Fastify calls this for every request that it has handled. */
  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    this.report({ ...factsOf(request, reply, request.ip), error });
  }

  /** For a response whose client has disconnected. A closed connection has no address, so the caller passes it. */
  clientDisconnected(request: FastifyRequest, reply: FastifyReply, address: string | undefined): void {
    this.report(factsOf(request, reply, address));
  }

  /** For a connection that was cut off before or within its response. */
  cutOff(request: FastifyRequest, reply: FastifyReply, address: string | undefined): void {
    this.report(factsOf(request, reply, address, true));
  }

  override incomingRequest(): void {}

  override routeNotFound(): void {}
}
