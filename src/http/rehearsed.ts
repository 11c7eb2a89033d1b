import type { FastifyRequest } from 'fastify';
import type { ApiError } from '../foundation/errors.ts';
import type { Fields } from '../foundation/field-names.ts';
import type { Answer, AnyInput, Handled } from './operation.ts';

type Handle = Handled['handle'];

declare module 'fastify' {
  interface FastifyRequest {
    /** What a rehearsal of its key does to it. */
    rehearsed: Rehearsed | undefined;
  }
}

/** What a rehearsal does to one request on its way through `mount.ts`. Without the parts it goes the usual way. */
export interface Rehearsed {
  /** The faults that have touched the response until now. */
  readonly faults: readonly string[];
  /** `Petstore-Rehearsal`, once a fault has touched the response. */
  readonly fields: Fields | undefined;
  /** The request as the operation reads it. */
  view?(request: FastifyRequest): FastifyRequest;
  /** Is waited for right before the operation's own transaction. */
  prepare?(input: AnyInput): Promise<void>;
  /** The handler as it runs for this request. */
  handle?(handle: Handle): Handle;
  /** A refusal as the client gets it. */
  refusal?(error: ApiError): ApiError;
  /** Changes a success or the head of a stream. Runs before If-None-Match is compared. */
  represent?(answer: Answer): Answer;
  /** Changes the text of a stream before it is sent, in pieces of whole messages. Undefined: no change. */
  readonly streamed?: ((text: string) => string) | undefined;
  /** The response as the client gets it. */
  answer?(answer: Answer): Answer | Promise<Answer>;
}
