import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { admit, chargeAddress } from './access/admission.ts';
import { identifier } from './access/identify.ts';
import type { Limiter } from './access/limiter.ts';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import { ApiError, isBodyError, toApiError } from './errors.ts';
import { answerBrokenRequest } from './http/broken-request.ts';
import { corsHeaders, isPreflight } from './http/cors.ts';
import { Paths } from './http/not-found.ts';
import { requestIdOf } from './http/request-id.ts';
import { RequestLog } from './log.ts';
import { Metrics } from './metrics.ts';
import { mount } from './mount.ts';
import { serveDescription } from './openapi/serve.ts';
import { operations } from './operations.ts';

export interface Parts {
  config: Pick<Config, 'baseUrl' | 'banRules' | 'trustProxy'>;
  db: Database;
  limiter: Limiter;
  log: FastifyBaseLogger;
  /** Milliseconds since 1970. */
  clock: () => number;
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
export function buildApp({ config, db, limiter, log, clock }: Parts): FastifyInstance {
  const { baseUrl, banRules, trustProxy } = config;
  const paths = new Paths(operations);
  const metrics = new Metrics(db.counts);
  const admission = { identify: identifier(db), limiter, banRules, metrics };

  const app = fastify({
    loggerInstance: log,
    logController: new RequestLog(),
    genReqId: requestIdOf,
    bodyLimit: maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    return503OnClosing: false,
    routerOptions: { maxParamLength: maxHeaderBytes },
    http: { maxHeaderSize: maxHeaderBytes, headersTimeout: headersTimeoutMs, requireHostHeader: false },
    trustProxy,
    clientErrorHandler: (error, socket) => {
      void answerBrokenRequest(error, socket, (address) => chargeAddress(admission, address));
    },
    frameworkErrors: (error, request, reply) => {
      void answerUndecodable(error, request, reply);
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
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  serveDescription(app, operations, baseUrl);

  app.register(
    async (api) => {
      api.addHook('onRequest', async (request, reply) => {
        if (isPreflight(request)) return paths.answer(request, reply);
        request.caller = await admit(admission, request, reply);
        assertHost(request);
      });
      for (const operation of operations) mount(api, operation, { db, baseUrl, clock, inFlight: new Set() });
      api.setNotFoundHandler((request, reply) => paths.answer(request, reply));
    },
    { prefix: '/v1' },
  );

  app.setNotFoundHandler((request, reply) => paths.answer(request, reply));
  app.setErrorHandler(answerError);
  app.addHook('onResponse', async (request, reply) => {
    metrics.countRequest(
      request.routeOptions.config?.operation?.id ?? 'none',
      reply.statusCode,
      reply.elapsedTime,
    );
  });
  return app;

  /** A path that cannot be decoded gets to no hook, and still the same answer as the rest. */
  async function answerUndecodable(
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    try {
      begin(request, reply);
      if (request.raw.url?.startsWith('/v1/')) request.caller = await admit(admission, request, reply);
      answerError(error, request, reply);
    } catch (refusal) {
      answerError(refusal, request, reply);
    }
  }

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
}

/** RFC 9112, section 3.2. Node.js would refuse with a bare 400. */
function assertHost({ headers, raw }: FastifyRequest): void {
  if (headers.host === undefined && raw.httpVersion === '1.1') {
    throw new ApiError('invalid_request', 'The header field Host is missing.');
  }
}

/** Bodies are read here and parsed where the operation is known, which decides on media types. */
function takeBodiesAsBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}
