import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { limitHeaders, limitRefusal } from '../access/limit-headers.ts';
import type { Decision } from '../access/limits.ts';
import { ApiError, toApiError } from '../errors.ts';
import { corsHeaders } from './cors.ts';
import { requestIdOf } from './request-id.ts';

type ParseError = Error & { code?: string };

/**
 * Answers what Node.js could not read as a request, on the bare socket, with the headers and the Error object of any
 * other answer, and closes it. Its key cannot be read either, so it is charged to the address.
 */
export async function answerBrokenRequest(
  error: ParseError,
  socket: Socket,
  charge: (address: string | undefined) => Promise<Decision>,
): Promise<void> {
  if (!socket.writable || error.code === 'ECONNRESET' || hasBegunToAnswer(socket)) {
    socket.destroy();
    return;
  }
  const requestId = requestIdOf({ headers: {} });
  const decision = await charge(socket.remoteAddress);
  const apiError = decision.outcome === 'admitted' ? refusalOf(error, requestId) : limitRefusal(decision);
  const body = JSON.stringify(apiError.body);
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    date: new Date().toUTCString(),
    'x-request-id': requestId,
    ...corsHeaders,
    ...limitHeaders(decision),
    ...apiError.headers,
  };
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${apiError.status} ${STATUS_CODES[apiError.status]}\r\n${fields.join('')}\r\n${body}`);
}

function refusalOf(error: ParseError, requestId: string): ApiError {
  const isParseError = error.code?.startsWith('HPE_') && error.code !== 'HPE_HEADER_OVERFLOW';
  if (isParseError) return new ApiError('invalid_request', 'This is not a valid HTTP/1.1 request.');
  return toApiError(error, requestId);
}

/** Node.js tells to look here, so that no second answer is written into the middle of a first one. */
function hasBegunToAnswer(socket: Socket): boolean {
  return (socket as { _httpMessage?: { headersSent: boolean } | null })._httpMessage?.headersSent ?? false;
}
