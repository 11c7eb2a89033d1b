import type { FastifyRequest } from 'fastify';
import type { ApiError } from '../foundation/errors.ts';
import type { Fields } from '../foundation/field-names.ts';
import type { AnyInput, Handled, OperationResponse } from './operation.ts';

type Handle = Handled['handle'];

declare module 'fastify' {
  interface FastifyRequest {
    /** How the rehearsal of its key changes it. */
    rehearsed: Rehearsed | undefined;
  }
}

/** How a rehearsal changes one request in `mount.ts`. Absent parts change nothing. */
export interface Rehearsed {
  /** The faults that have changed the response until now. */
  readonly faults: readonly string[];
  /** `Petstore-Rehearsal`, once a fault has changed the response. */
  readonly fields: Fields | undefined;
  /** The request as the operation reads it. */
  view?(request: FastifyRequest): FastifyRequest;
  /** Awaited right before the operation's own transaction. */
  prepare?(input: AnyInput): Promise<void>;
  /** The handler to run for this request. */
  handle?(handle: Handle): Handle;
  /** The error that the client gets instead of `error`. */
  refusal?(error: ApiError): ApiError;
  /** Changes a success or the head of a stream. Runs before If-None-Match is compared. */
  represent?(answer: OperationResponse): OperationResponse;
  /** Changes the text of a stream before it is sent, in pieces of whole messages. Undefined: no change. */
  readonly streamed?: ((text: string) => string) | undefined;
  /** The response that the client gets instead of `answer`. */
  answer?(answer: OperationResponse): OperationResponse | Promise<OperationResponse>;
}
