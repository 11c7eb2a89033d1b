import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { identifier } from './access/identify.ts';
import { ApiError, isBodyError, toApiError } from './errors.ts';
import { answerBrokenRequest } from './http/broken-request.ts';
import { corsHeaders, isPreflight } from './http/cors.ts';
import { Paths } from './http/not-found.ts';
import { requestIdOf } from './http/request-id.ts';
import { RequestLog } from './log.ts';
import { mount, type Services } from './mount.ts';
import { serveDescription } from './openapi/serve.ts';
import { operations } from './operations.ts';

export interface Parts extends Omit<Services, 'inFlight'> {
  log: FastifyBaseLogger;
}

/** Answers belong to the key they were given to; a cache must ask again before it uses one. */
const commonHeaders = {
  ...corsHeaders,
  'cache-control': 'private, no-cache',
  'x-content-type-options': 'nosniff',
};

const maxBodyBytes = 64 * 1024;
const maxHeaderBytes = 16 * 1024;
const headersTimeoutMs = 10_000;
const requestTimeoutMs = 20_000;

/** The whole service over HTTP. A request goes through it from top to bottom. */
export function buildApp({ db, baseUrl, clock, log }: Parts): FastifyInstance {
  const paths = new Paths(operations);
  const identify = identifier(db);

  const app = fastify({
    loggerInstance: log,
    logController: new RequestLog(),
    genReqId: requestIdOf,
    bodyLimit: maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    return503OnClosing: false,
    routerOptions: { maxParamLength: maxHeaderBytes },
    http: { maxHeaderSize: maxHeaderBytes, headersTimeout: headersTimeoutMs, requireHostHeader: false },
    clientErrorHandler: answerBrokenRequest,
    // A path that cannot be decoded never gets to the hooks, and gets the same answer as the rest.
    frameworkErrors: (error, request, reply) => {
      begin(request, reply);
      answerError(error, request, reply);
    },
  });
  app.decorateRequest('caller', undefined);
  takeBodiesAsBytes(app);

  app.addHook('onRequest', async (request, reply) => begin(request, reply));

  app.get('/healthz', async () => ({ status: 'alive' }));
  app.get('/readyz', async () => {
    await db.read`select 1`;
    return { status: 'ready' };
  });
  serveDescription(app, operations, baseUrl);

  app.register(
    async (api) => {
      api.addHook('onRequest', async (request, reply) => {
        if (isPreflight(request)) return paths.answer(request, reply);
        request.caller = await identify(request);
        // Plans, limits and bans take their place here, once the caller is known.
      });
      for (const operation of operations) mount(api, operation, { db, baseUrl, clock, inFlight: new Set() });
      api.setNotFoundHandler((request, reply) => paths.answer(request, reply));
    },
    { prefix: '/v1' },
  );

  app.setNotFoundHandler((request, reply) => paths.answer(request, reply));
  app.setErrorHandler(answerError);
  return app;

  function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    // Where no route is, that matters more than what is wrong with the body.
    const isMoot = request.is404 && isBodyError(error);
    const apiError = isMoot ? paths.refusal(request) : toApiError(error, request.id);
    if (apiError.status >= 500) request.log.error({ err: error }, 'failed');
    // The rest of a body that is too large is read and dropped, so that the client gets to see the answer.
    if (isBodyError(error)) reply.removeHeader('connection');
    return reply.code(apiError.status).headers(apiError.headers).send(apiError.body);
  }
}

/** What every answer carries, also one to a request that goes no further. */
function begin(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id).headers(commonHeaders);
  if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
    throw new ApiError('invalid_request', 'The header field Host is missing.');
  }
}

/** Bodies are read here and parsed where the operation is known, which decides on media types. */
function takeBodiesAsBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}
