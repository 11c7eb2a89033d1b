import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Caller } from './keys/store.ts';
import type { Operation } from './operation.ts';

/** What is known of a request once it is answered. What could not be read is undefined. */
export interface Answered {
  requestId: string;
  method?: string | undefined;
  url?: string | undefined;
  operation?: Operation | undefined;
  /** Who sent it, where a key was admitted for it. */
  caller?: Caller | undefined;
  address: string | undefined;
  status: number;
  /** Milliseconds from when the request was handled to the end of its answer. */
  durationMs?: number | undefined;
  /** Why it could not be read, as Node.js names it. */
  reason?: string | undefined;
  /** What broke the sending of the answer. */
  error?: Error | null | undefined;
}

/** Whoever wants to know of every answer. It must not throw. */
export type Observer = (facts: Answered) => void;

/** The one way out of the service: each answer to a request is told here once, and to every observer. */
export class Answers extends LogController {
  readonly #observers: readonly Observer[];

  constructor(observers: readonly Observer[]) {
    super();
    this.#observers = observers;
  }

  tell(facts: Answered): void {
    for (const observe of this.#observers) observe(facts);
  }

  /** Fastify calls this for whatever it has handled. */
  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    this.tell({
      requestId: request.id,
      method: request.method,
      url: request.url,
      operation: request.operation,
      caller: request.caller,
      address: request.ip,
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
      error,
    });
  }

  override incomingRequest(): void {}

  override routeNotFound(): void {}
}
