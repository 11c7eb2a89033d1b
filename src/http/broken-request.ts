import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ApiError, toApiError } from '../errors.ts';
import { endConnection, isAnsweredEarly, isEnding } from './connections.ts';
import { commonHeaders } from './headers.ts';
import { reasonPhrase } from './reason-phrase.ts';
import { requestIdOf } from './request-id.ts';

type ParseError = Error & { code?: string };

/** Charges an address for a request that cannot be read; the limit headers, and the refusal of one too many. */
type Admit = (
  address: string | undefined,
) => Promise<{ headers: Record<string, string>; refusal?: ApiError | undefined }>;

/** What is known of a request that could not be read, once it is answered. */
interface UnreadAnswered {
  requestId: string;
  status: number;
  address: string | undefined;
  reason: string | undefined;
}

/**
 * Answers what Node.js could not read as a request, on the bare socket, with the headers and the Error object of any
 * other answer, and closes it. Requests before it on the connection get their answers first. One whose body breaks was
 * charged when it came, and where it has been refused already it gets no second answer; of others the key cannot be read,
 * so they are charged to the address.
 */
export async function answerBrokenRequest(
  error: ParseError,
  socket: Socket,
  admit: Admit,
  answered: (facts: UnreadAnswered) => void,
): Promise<void> {
  if (isEnding(socket)) return;
  const pending = pendingAnswer(socket);
  if (pending?.req.complete) {
    pending.once('close', () => answerBrokenRequest(error, socket, admit, answered));
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
  // A request that came with the broken part of its body may still be looking for its caller.
  if (pending && !pending.req.limitHeaders) {
    await pending.req.admitting?.catch(() => {});
    await nextTurn();
    // It was refused, and the answer is on its way.
    if (pending.headersSent) {
      endConnection(socket);
      return;
    }
  }
  const charged = pending?.req.limitHeaders;
  const { headers: limits, refusal } = charged ? { headers: charged } : await admit(socket.remoteAddress);
  // It may have broken a second time meanwhile.
  if (isEnding(socket)) return;
  const apiError = refusal ?? refusalOf(error, requestId);
  const body = JSON.stringify(apiError.body);
  const headers = {
    'x-request-id': requestId,
    ...commonHeaders,
    ...limits,
    ...apiError.headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    date: new Date().toUTCString(),
    connection: 'close',
  };
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const line = `HTTP/1.1 ${apiError.status} ${reasonPhrase(apiError.status)}`;
  endConnection(socket, `${line}\r\n${fields.join('')}\r\n${body}`);
  answered({ requestId, status: apiError.status, address: socket.remoteAddress, reason: error.code });
}

function refusalOf(error: ParseError, requestId: string): ApiError {
  const isParseError = error.code?.startsWith('HPE_') && error.code !== 'HPE_HEADER_OVERFLOW';
  if (isParseError) return new ApiError('invalid_request', 'This is not a valid HTTP/1.1 request.');
  return toApiError(error, requestId);
}

/** The answer that is due on a socket, where Node.js tells to look, so that none is written into the middle of it. */
function pendingAnswer(socket: Socket): ServerResponse<IncomingMessage> | undefined {
  return (socket as { _httpMessage?: ServerResponse<IncomingMessage> | null })._httpMessage ?? undefined;
}
