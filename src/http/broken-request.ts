import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ApiError, toApiError } from '../foundation/errors.ts';
import type { Fields } from '../foundation/field-names.ts';
import { endConnection, isAnsweredEarly, isEnding } from './connections.ts';
import { commonHeaders, requestIdOf } from './headers.ts';
import { errorContent } from './negotiation.ts';
import { pendingResponse } from './node-internals.ts';
import { reasonPhrase } from './server-response.ts';
import { bodyFields } from './write-response.ts';

type ParseError = Error & { code?: string };

/** Charges an address for a request that cannot be read. Returns the limit headers, and a refusal if the limit is used up. */
type Admit = (address: string | undefined) => Promise<{ headers: Fields; refusal?: ApiError | undefined }>;

/** What is known about a request that could not be read, after its response. */
interface UnreadOutcome {
  requestId: string;
  status: number;
  address: string | undefined;
  reason: string | undefined;
  code: string;
  /** The request, if only its body is broken. */
  unread: IncomingMessage | undefined;
}

/** What is needed to respond to such a request. */
interface Options {
  admit: Admit;
  /** Milliseconds since 1970. */
  clock: () => number;
  report(facts: UnreadOutcome): void;
  /** `Accept` of a request without a response. */
  accept: string | undefined;
  /** Where each error code has a page, below. */
  errorPages: string;
}

/**
 * Responds to a request that Node.js could not parse, after the responses to earlier ones, and ends the connection. It writes to the socket,
 * since there is no response object. If only the body is broken, the key was charged when the headers arrived. Otherwise the address is.
 */
export async function respondToBrokenRequest(
  error: ParseError,
  socket: Socket,
  options: Options,
): Promise<void> {
  const { admit, clock, report, accept, errorPages } = options;
  if (isEnding(socket)) return;
  const pending = pendingResponse(socket);
  if (pending?.req.complete) {
    pending.once('close', () => respondToBrokenRequest(error, socket, options));
    return;
  }
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  if (pending?.headersSent || isAnsweredEarly(socket)) {
    endConnection(socket);
    return;
  }
  const requestId = requestIdOf({ headers: {} });
  // The headers may have come together with the broken body. Then the caller may not be known yet.
  if (pending && !pending.req.limitHeaders) {
    await pending.req.admitting?.catch(() => {});
    await nextTurn();
    // The request was refused, and its response is being sent.
    if (pending.headersSent) {
      endConnection(socket);
      return;
    }
  }
  const charged = pending?.req.limitHeaders;
  const { headers: limits, refusal } = charged ? { headers: charged } : await admit(socket.remoteAddress);
  // Another error of this connection may have got its response meanwhile.
  if (isEnding(socket)) return;
  const apiError = refusal ?? refusalOf(error, requestId);
  const { type, text } = errorContent(apiError, pending?.req.headers.accept ?? accept, errorPages);
  const headers: Fields = {
    'X-Request-Id': requestId,
    ...commonHeaders,
    ...limits,
    ...apiError.headers,
    Vary: 'Accept',
    ...bodyFields(text, type),
    Date: new Date(clock()).toUTCString(),
    Connection: 'close',
  };
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const line = `HTTP/1.1 ${apiError.status} ${reasonPhrase(apiError.status)}`;
  endConnection(socket, `${line}\r\n${fields.join('')}\r\n${text}`);
  const { status, code } = apiError;
  const unread = pending?.req;
  report({ requestId, status, code, unread, address: socket.remoteAddress, reason: error.code });
}

function refusalOf(error: ParseError, requestId: string): ApiError {
  const isParseError = error.code?.startsWith('HPE_') && error.code !== 'HPE_HEADER_OVERFLOW';
  if (isParseError) return new ApiError('invalid_request', 'This is not a valid HTTP/1.1 request.');
  return toApiError(error, requestId);
}
