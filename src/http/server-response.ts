import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http';
import { withDocumentedNames } from '../foundation/field-names.ts';
import { sendReadyLines } from './node-internals.ts';

// An import would load all that node:http exports, also a client of web sockets, and take a tenth of the start.
const { ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http');

type Head = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** A response whose header names have the documented case, because some clients keep headers in a plain dictionary. */
export class NamedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  /** The headers that were passed for the response: an object, or alternating names and values. */
  head: Head | undefined;
  /** Header lines that are sent as they are, before those of `head`. They hold nothing that a caller chose without a check. */
  readyLines = '';

  override writeHead(status: number, ...rest: (string | Head | undefined)[]): this {
    const parts = rest.map(named);
    this.head = parts.at(-1) as Head | undefined;
    return super.writeHead(status, ...(parts as [Head?]));
  }
}

sendReadyLines(NamedResponse.prototype);

/** Responses whose `Date` comes from a given clock, in milliseconds since 1970, not from that of Node.js. */
export const datedResponse = (clock: () => number) =>
  class<Request extends IncomingMessage = IncomingMessage> extends NamedResponse<Request> {
    override writeHead(status: number, ...rest: (string | Head | undefined)[]): this {
      this.setHeader('Date', new Date(clock()).toUTCString());
      return super.writeHead(status, ...rest);
    }
  };

const named = (part: string | Head | undefined) =>
  typeof part === 'object' && !Array.isArray(part) ? withDocumentedNames(part) : part;

/** The reason phrase of a status, such as `Not Found` for 404 (RFC 9112, section 4). */
export const reasonPhrase = (status: number): string => STATUS_CODES[status] as string;
