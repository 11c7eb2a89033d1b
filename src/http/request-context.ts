import type { FastifyRequest } from 'fastify';
import type { ApiError, ErrorCode } from '../foundation/errors.ts';
import type { Fields } from '../foundation/field-names.ts';
import type { FairShare } from './fair-share.ts';
import type { AnyInput, Handled, Operation } from './operation.ts';
import type { OperationResponse } from './responses.ts';

/** What the steps of a request tell each other. `api/admission.ts` adds the caller. */
declare module 'fastify' {
  interface FastifyRequest {
    /** The operation that the request is for, if there is one. */
    operation: Operation | undefined;
    /** What changes it and its response. */
    interceptor: Interceptor | undefined;
    /** The limit headers, once the request was charged. */
    limitHeaders: Fields | undefined;
    /** The code of the error that it got. */
    errorCode: ErrorCode | undefined;
    /** Its trace context, once something has asked for it. */
    traceparent: string | undefined;
  }
  interface FastifyContextConfig {
    operation?: Operation;
    /** Headers of every response of a deprecated operation. */
    lifecycle?: RouteHeaders | undefined;
  }
  interface FastifyInstance {
    /** All requests share it. */
    fairShare: FairShare;
    /** The beginnings of the paths of the APIs that are served. */
    apiStarts: readonly string[];
    /** The forms of the paths of pages, which are of no API, even if an API begins like them. */
    pageForms: readonly RegExp[];
    /** The reference has a page for each error code below this URL. */
    errorPages: string;
  }
}

declare module 'node:http' {
  interface IncomingMessage {
    /** The alias that stands in its path. `url` has the path without it. */
    alias?: string;
    /** The limit headers of its response, set when it is charged, if it has content. */
    limitHeaders?: Fields;
    /** Its admission, while it waits. */
    admitting?: Promise<void>;
  }
}

/** Returns the headers of every response of a route, for the path parameters of the request. */
export type RouteHeaders = (params: Record<string, string>) => Fields;

type Handle = Handled['handle'];

/** Changes one request, and its response, on the way through `mount.ts`. Absent parts change nothing. */
export interface Interceptor {
  /** The names of the faults that have changed the response, for the log and the metrics. */
  readonly faults: readonly string[];
  /** Headers to add to the response. */
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
  /** The response that the client gets instead of `answer`, which may be an error. Its `deliver` can cut it off. */
  answer?(answer: OperationResponse): OperationResponse | Promise<OperationResponse>;
}
