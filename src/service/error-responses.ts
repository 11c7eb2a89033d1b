import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { admit, admitUnread } from '../api/admission.ts';
import { ApiError, isBodyError, StorageUnavailableError, toApiError } from '../foundation/errors.ts';
import { respondToBrokenRequest } from '../http/broken-request.ts';
import type { Paths } from '../http/paths.ts';
import { errorPagesUrl, isForApi, isForPlan } from '../http/target.ts';
import { sendError } from '../http/write-response.ts';
import type { CompleteOptions, Components } from './components.ts';

export type ErrorResponses = ReturnType<typeof errorResponses>;

/** Responds to every exception of a request with an error, even if the request could not be read completely. */
export function errorResponses(
  { config, clock, isWaiting }: CompleteOptions,
  components: Components,
  paths: Paths,
) {
  const { admission, labAdmission, outcomes, requestLog } = components;
  return { respondWithError, respondUnrouted, respondUndecodable, respondBroken };

  function respondWithError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const refusal = toApiError(error, request.id);
    const apiError = request.interceptor?.refusal?.(refusal) ?? refusal;
    // An ApiError of 500 or more is chosen: a rehearsal, 505, or a stream on an instance that stops. Nothing failed.
    if (apiError.status >= 500 && !(error instanceof ApiError)) requestLog.failed(request, error);
    else if (apiError.cause) requestLog.refused(request, apiError);
    if (!isBodyError(error)) return sendError(request, reply, apiError);
    // The rest of a body that is too large is read and dropped, so that the client can read the response.
    const Connection = reply.raw.shouldKeepAlive ? 'keep-alive' : 'close';
    return sendError(request, reply, apiError.withHeaders({ ...apiError.headers, Connection }));
  }

  /** For OPTIONS, and for requests without a route. */
  function respondUnrouted(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    try {
      return paths.answer(request, reply);
    } catch (refusal) {
      return respondWithError(refusal, request, reply);
    }
  }

  /** Fastify runs no hooks for a path that cannot be decoded, so this admits the request and reports its outcome. */
  async function respondUndecodable(
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    try {
      // No key is known yet.
      if (isWaiting) throw new StorageUnavailableError('The storage is not open yet.');
      if (isForApi(request)) await admit(isForPlan(request) ? admission : labAdmission, request);
      respondWithError(error, request, reply);
    } catch (refusal) {
      respondWithError(refusal, request, reply);
    }
    outcomes.requestCompleted(undefined, request, reply);
  }

  /** For a request that Node.js could not parse, or for which it has passed on the whole connection. */
  function respondBroken(error: Error, socket: Socket, accept?: string): void {
    void respondToBrokenRequest(error, socket, {
      admit: (address) => admitUnread(admission, address, config.trustProxy !== false),
      clock,
      accept,
      errorPages: errorPagesUrl(config.baseUrl),
      report: (outcome) => outcomes.report({ ...outcome, sender: outcome.unread?.sender }),
    });
  }
}
