import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { type Admission, admit, admitUnread, planAccount } from './admission.ts';
import { Answers } from './answered.ts';
import { serveApi } from './api.ts';
import { maxBodyBytes, maxHeaderBytes } from './bounds.ts';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import { ApiError, isBodyError, toApiError } from './errors.ts';
import { type StreamParts, Streams } from './events/streams.ts';
import { healthPaths, serveHealth } from './health.ts';
import { Changes } from './history/changes.ts';
import { headersOf, sendError } from './http/answer.ts';
import { takeBodiesAsBytes } from './http/arrivals.ts';
import { answerBrokenRequest } from './http/broken-request.ts';
import { refuseConnect } from './http/connect.ts';
import { boundConnections } from './http/connections.ts';
import { continueWhenRead } from './http/continue.ts';
import { hasContent } from './http/headers.ts';
import { jsonText } from './http/json-text.ts';
import { datedResponse, NamedResponse } from './http/named-response.ts';
import { Paths } from './http/paths.ts';
import { requestIdOf } from './http/request-id.ts';
import { isForApi, isForLab, labPrefix, prefix } from './http/target.ts';
import { defaultTimeLimits, type TimeLimits } from './http/time-limits.ts';
import { identifier, trustMs } from './keys/identify.ts';
import { recorderBounds as usualBounds } from './lab/bounds.ts';
import { Lab, labAccount } from './lab/lab.ts';
import { labOperations } from './lab/operations.ts';
import type { RecorderBounds } from './lab/recordings/recorder.ts';
import { labPagePaths, serveLabPage } from './lab/serve-page.ts';
import { DeprecatedCalls } from './lifecycle.ts';
import type { Limiter } from './limits/limiter.ts';
import type { Log } from './log/logger.ts';
import { RequestLog } from './log/requests.ts';
import { Metrics } from './metrics.ts';
import { aboutStore, describe } from './openapi/document.ts';
import { describeLab, labUrlOf } from './openapi/lab.ts';
import { serveDescription } from './openapi/serve.ts';
import { type Handled, type Installation, type Operation, withServices } from './operation.ts';
import { operations as allOperations } from './operations.ts';
import { referencePaths, serveReference } from './reference/serve.ts';
import { serveTexts, textPaths } from './reference/texts.ts';
import type { Dispatcher } from './webhooks/dispatcher.ts';

export interface Parts {
  config: Pick<Config, 'baseUrl' | 'banRules' | 'trustProxy' | 'enforceSunset' | 'lab'>;
  db: Database;
  limiter: Limiter;
  log: Log;
  installation: Installation;
  /** What sends to webhooks, for the metrics. */
  dispatcher?: Pick<Dispatcher, 'counts' | 'lag'> | undefined;
  /** Is told of each change of a workspace. */
  changes?: Changes;
  /** The operations to serve; all by default. */
  operations?: readonly Handled[] | undefined;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Milliseconds of a clock that never goes back. */
  stopwatch?: () => number;
  /** Passes as the clock does, in milliseconds with fractions; what is recorded goes by it. The stopwatch, if time is not moved. */
  clockStopwatch?: () => number;
  /** How many log lines were dropped because nobody read them. */
  unreadLines?: () => number;
  timeLimits?: TimeLimits;
  /** How long `/readyz` waits for the storage: load balancers do not wait longer. */
  readyMs?: number | undefined;
  /** Whether other instances may serve the same keys. */
  hasOthers?: boolean;
  recorderBounds?: RecorderBounds;
}

/** A timer may end so much too early, and a clock may be read so much later. */
const timerMs = 20;

/** What can be read without a key, besides the API. */
const documents = (hasLab: boolean) => [
  ...referencePaths,
  ...textPaths(hasLab),
  ...healthPaths,
  '/v1/openapi.json',
  '/v1/openapi.yaml',
  ...(hasLab ? [...labPagePaths, `${labPrefix}/openapi.json`, `${labPrefix}/openapi.yaml`] : []),
];

declare module 'fastify' {
  interface FastifyInstance {
    /** Forgets all callers and ends all streams, since the storage was emptied. */
    startOver(): void;
  }
  interface FastifyRequest {
    /** The operation that the request is for, if there is one. */
    operation: Operation | undefined;
  }
}

/** The whole service over HTTP. A request goes through it from top to bottom. */
export function buildApp({
  config,
  db,
  limiter,
  log,
  installation,
  dispatcher,
  changes = new Changes(),
  operations = allOperations,
  clock,
  stopwatch = () => performance.now(),
  clockStopwatch = stopwatch,
  unreadLines = () => 0,
  timeLimits = defaultTimeLimits,
  readyMs = 2_000,
  hasOthers = false,
  recorderBounds = usualBounds,
}: Parts): FastifyInstance {
  const { baseUrl, banRules, trustProxy, enforceSunset } = config;
  const labUrl = labUrlOf(baseUrl);
  const apis = { [prefix]: operations, ...(config.lab && { [labPrefix]: labOperations }) };
  const paths = new Paths(apis, documents(config.lab));
  const deprecatedCalls = new DeprecatedCalls(log, clock);
  const requestLog = new RequestLog(log);
  const missingLines = () => ({ repeated: requestLog.leftOut, unread: unreadLines() });
  const openStreams = () => streams.count;
  const metrics = new Metrics(
    db.counts,
    deprecatedCalls,
    missingLines,
    openStreams,
    limiter.sharing,
    dispatcher,
  );
  const identify = identifier(db, limiter);
  const admission: Admission = {
    ...{ identify, limiter, accountOf: planAccount(banRules), metrics },
    banBegan: (request, decision) => lab?.banBegan(request, decision),
  };
  const labAdmission: Admission = { ...admission, accountOf: labAccount };
  const answers = new Answers([
    (facts) => metrics.countAnswer(facts),
    (facts) => deprecatedCalls.note(facts),
    (facts) => requestLog.answered(facts),
    (facts) => lab?.observe(facts),
  ]);
  const lab = config.lab
    ? new Lab(
        { db, operations, baseUrl, clock },
        {
          db,
          log,
          clock,
          stopwatch: clockStopwatch,
          isBehindProxy: trustProxy !== false,
          bounds: recorderBounds,
        },
        (...told) => answers.cutOff(...told),
      )
    : undefined;
  const left: StreamParts['left'] = (...told) => answers.left(...told);
  const streams = new Streams({ db, changes, limiter, log, clock, stopwatch, left });

  const app = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: answers,
    // A logger for each request would cost more than its line. Each line has the request id without it.
    childLoggerFactory: (logger) => logger,
    genReqId: requestIdOf,
    bodyLimit: maxBodyBytes,
    requestTimeout: timeLimits.requestMs,
    keepAliveTimeout: timeLimits.idleMs,
    return503OnClosing: false,
    schemaController: { compilersFactory: noCompilers },
    // Each operation reads the query itself.
    routerOptions: { maxParamLength: maxHeaderBytes, querystringParser: () => ({}) },
    http: {
      // Node.js tells the real time by itself, and makes its text once a second.
      ServerResponse: clock === Date.now ? NamedResponse : datedResponse(clock),
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: timeLimits.headersMs,
      connectionsCheckingInterval: timeLimits.checkEveryMs,
      requireHostHeader: false,
    },
    trustProxy,
    clientErrorHandler: answerBroken,
    frameworkErrors: answerUndecodable,
  });
  app.decorate('apiStarts', Object.keys(apis));
  app.decorate('startOver', () => {
    identify.forget();
    streams.endAll();
  });
  app.decorateRequest('caller', undefined);
  app.decorateRequest('sender', undefined);
  app.decorateRequest('decision', undefined);
  app.decorateRequest('limitHeaders', undefined);
  app.decorateRequest('errorCode', undefined);
  app.decorateRequest('rehearsed', undefined);
  app.decorateRequest('operation', undefined);
  app.setReplySerializer(jsonText);
  // A client that has closed its sending half may still read. Node.js would drop its answer (lib/_http_server.js).
  Object.assign(app.server, { httpAllowHalfOpen: true });
  takeBodiesAsBytes(app);
  boundConnections(app.server, timeLimits);
  continueWhenRead(app.server);
  const endHandedOver = refuseConnect(app.server, answerBroken);
  app.addHook('preClose', async () => endHandedOver());
  app.addHook('preClose', () => streams.close());
  app.addHook('preClose', async () => lab?.release());

  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply);
    ignoreTypeOfNothing(request);
    paths.assertSpelling(request);
    if (request.is404 && !isForApi(request)) answerUnrouted(request, reply);
    else done();
  });

  serveHealth(app, { db, metrics, stopwatch, readyMs });
  const description = () => describe(operations, baseUrl, aboutStore(baseUrl, config.lab));
  serveDescription(app, prefix, description);
  if (lab) {
    serveDescription(app, labPrefix, () => describeLab(baseUrl));
    serveLabPage(app);
  }
  serveReference(app, baseUrl);
  serveTexts(app, { baseUrl, labUrl: lab && labUrl, description });

  const services = {
    ...{ db, changes, installation, streams, clock, enforceSunset, keyChanged },
    inFlight: new Set<string>(),
  };
  const shared = { services, paths, answerUnrouted };
  serveApi(app, {
    ...{ ...shared, start: prefix, operations, baseUrl, admission },
    admitted: (request, reply) => lab?.admitted(request, reply),
  });
  if (lab) {
    const its = { start: labPrefix, baseUrl: labUrl, admission: labAdmission };
    const operations = withServices(labOperations, lab.services({ limiter, banRules }, stopwatch));
    serveApi(app, { ...shared, ...its, operations });
  }

  app.setNotFoundHandler(answerUnrouted);
  app.setErrorHandler(answerError);
  app.addHook('onClose', async () => requestLog.close());
  app.addHook('onClose', () => lab?.close());
  return app;

  /**
   * Waits until every instance goes by a change of what a key is bound to. Others trust what they know of a key for half a second.
   * No instance knows whether it has others, so over PostgreSQL every such request takes 520 ms.
   */
  async function keyChanged(keyId: string): Promise<void> {
    identify.forget(keyId);
    if (hasOthers) await sleep(trustMs + timerMs);
  }

  function answerBroken(error: Error, socket: Socket): void {
    const admitAddress = (address: string | undefined) =>
      admitUnread(admission, address, trustProxy !== false);
    void answerBrokenRequest(error, socket, {
      admit: admitAddress,
      clock,
      answered: (facts) => answers.tell({ ...facts, sender: facts.unread?.sender }),
    });
  }

  /** Fastify runs no hooks for a path that cannot be decoded, so this answers it in the same way as the rest. */
  async function answerUndecodable(
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    try {
      if (isForApi(request)) await admit(isForLab(request) ? labAdmission : admission, request);
      answerError(error, request, reply);
    } catch (refusal) {
      answerError(refusal, request, reply);
    }
    answers.requestCompleted(undefined, request, reply);
  }

  function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    if (isBodyError(error)) {
      // The rest of a body that is too large is read and dropped, so that the client can read the answer.
      reply.header('Connection', reply.raw.shouldKeepAlive ? 'keep-alive' : 'close');
    }
    const apiError = told(request, toApiError(error, request.id));
    // What a rehearsal answers is thrown as it is sent.
    const isRehearsed = error instanceof ApiError && request.rehearsed !== undefined;
    if (apiError.status >= 500 && !isRehearsed) requestLog.failed(request, error);
    else if (apiError.cause) log.debug({ reqId: request.id, err: apiError }, 'refused');
    return sendError(request, reply, apiError);
  }

  /** For OPTIONS, and for requests without a route. */
  function answerUnrouted(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    try {
      return paths.answer(request, reply);
    } catch (refusal) {
      return answerError(refusal, request, reply);
    }
  }
}

/** A refusal, as a rehearsal shows it. */
const told = ({ rehearsed }: FastifyRequest, error: ApiError) => rehearsed?.refusal?.(error) ?? error;

/** Finds the operation. Its answer is written with all its headers at once; any other gets them here. */
function begin(request: FastifyRequest, reply: FastifyReply): void {
  request.operation = lacksParameter(request) ? undefined : request.routeOptions.config.operation;
  if (!request.operation) reply.headers(headersOf(request));
}

/** Whether a path parameter is empty: the router treats a slash at the end as one. */
function lacksParameter(request: FastifyRequest): boolean {
  const params = request.params as Record<string, string>;
  for (const name in params) if (params[name] === '') return true;
  return false;
}

/** Removes a Content-Type without content (RFC 9110, section 8.3), since Fastify would refuse a malformed one. */
function ignoreTypeOfNothing(request: FastifyRequest): void {
  const { headers } = request.raw;
  if (headers['content-type'] !== undefined && !hasContent(request)) delete headers['content-type'];
}

/** Operations use their own schemas, so Fastify need not load its compilers. */
const noCompilers = { buildValidator: unused, buildSerializer: unused };

function unused(): never {
  throw new Error('Routes must not have Fastify schemas.');
}
