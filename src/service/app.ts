import { setTimeout as sleep } from 'node:timers/promises';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { keyCacheMs } from '../access/keys/identify.ts';
import { joinRoutes, serveJoinPage } from '../accounts/join-page.ts';
import { accountsOperations } from '../accounts/operations.ts';
import { describeLimits } from '../api/admission.ts';
import { serveApi } from '../api/api.ts';
import { maxBodyBytes, maxHeaderBytes } from '../foundation/bounds.ts';
import { StorageUnavailableError } from '../foundation/errors.ts';
import { keptBoundsOf } from '../foundation/settings/plans.ts';
import { currentTracer } from '../foundation/tracing.ts';
import { firstSentence } from '../foundation/words.ts';
import { continueWhenRead, refuseConnect } from '../http/connect-and-expect.ts';
import { boundConnections } from '../http/connections.ts';
import { FairShare } from '../http/fair-share.ts';
import { hasContent, requestIdOf } from '../http/headers.ts';
import { jsonText } from '../http/json.ts';
import { answerHalfClosed } from '../http/node-internals.ts';
import { type Operation, withServices } from '../http/operation.ts';
import { formOf, Paths } from '../http/paths.ts';
import { takeBodiesAsBytes } from '../http/request-batcher.ts';
import { datedResponse, NamedResponse } from '../http/server-response.ts';
import {
  accountsPrefix,
  errorPagesUrl,
  isForApi,
  labPrefix,
  labUrlOf,
  prefix,
  rootUrlOf,
  withoutAlias,
} from '../http/target.ts';
import { headersOf } from '../http/write-response.ts';
import { labKeptBounds } from '../lab/lab-bounds.ts';
import { labOperations } from '../lab/petstore/petstore-api.ts';
import { labPageRoutes, serveLabPage } from '../lab/serve-lab-page.ts';
import { serveMcp } from '../mcp/serve-mcp.ts';
import { traceRequests } from '../observe/traces.ts';
import { guidePath } from '../reference/description/guide-names.ts';
import {
  asyncapiPath,
  descriptionPaths,
  serveAsJsonAndYaml,
  serveDescriptions,
} from '../reference/description/serve-description.ts';
import { docsPaths, serveDocs } from '../reference/pages/serve-docs.ts';
import {
  type AppOptions,
  type CompleteOptions,
  type Components,
  createComponents,
  withDefaults,
} from './components.ts';
import { type ErrorResponses, errorResponses } from './error-responses.ts';
import { healthPaths, serveHealth } from './health.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Clears all cached callers and ends all streams, because the storage was emptied. */
    startOver(): void;
    /** Stores the last requests of accounts, and closes those that have expired. */
    sweepAccounts(): Promise<void>;
    /** From now on `/readyz` returns 404. */
    drain(): void;
  }
}

/** The whole service over HTTP. A request goes through these steps from top to bottom. */
export function buildApp(given: AppOptions): FastifyInstance {
  const options = withDefaults(given);
  const components = createComponents(options);
  const { lab, identify, streams, requestLog, readiness, accounts } = components;
  const apis = {
    [prefix]: options.operations,
    ...(lab && { [labPrefix]: labOperations }),
    [accountsPrefix]: accountsOperations,
  };
  const paths = new Paths(apis, documentPaths(options.operations, lab !== undefined));
  const errors = errorResponses(options, components, paths);

  const app = createServer(options, components, errors);
  const tracer = currentTracer();
  if (tracer) traceRequests(app, tracer, healthPaths);
  app.decorate('apiStarts', Object.keys(apis));
  app.decorate('pageForms', lab ? labPageRoutes.map(formOf) : []);
  app.decorate('startOver', () => {
    identify.forget();
    streams.endAll();
  });
  app.decorate('sweepAccounts', () => accounts.sweep());
  app.decorate('drain', () => readiness.drain());
  app.addHook('onRequest', (request, reply, done) => {
    if (options.isWaiting && request.routeOptions.url !== '/healthz') {
      if (isForApi(request)) describeLimits(components.admission, request);
      throw new StorageUnavailableError('The storage is not open yet.');
    }
    begin(request, reply);
    ignoreTypeOfNothing(request);
    paths.assertSpelling(request);
    if (request.is404 && !isForApi(request)) errors.respondUnrouted(request, reply);
    else done();
  });
  serveDocuments(app, options, components);
  serveAgents(app, options, components);
  serveApis(app, options, components, { paths, respondUnrouted: errors.respondUnrouted });
  app.setNotFoundHandler(errors.respondUnrouted);
  app.setErrorHandler(errors.respondWithError);

  app.addHook('preClose', () => streams.close());
  app.addHook('preClose', async () => lab?.release());
  app.addHook('onClose', async () => requestLog.close());
  app.addHook('onClose', () => lab?.close());
  app.addHook('onClose', () =>
    accounts.save().catch((err) => options.log.warn({ err }, 'last requests could not be stored')),
  );
  return app;
}

/** Fastify, its connections and how bodies are read. */
function createServer(
  { config, log, clock, stopwatch, timeLimits }: CompleteOptions,
  { outcomes }: Components,
  { respondBroken, respondUndecodable }: ErrorResponses,
): FastifyInstance {
  const app = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: outcomes,
    // A logger for each request would cost more than the line itself. Each line has the request id anyway.
    childLoggerFactory: (logger) => logger,
    genReqId: requestIdOf,
    ...(config.lab && { rewriteUrl: withoutAlias }),
    bodyLimit: maxBodyBytes,
    requestTimeout: timeLimits.requestMs,
    keepAliveTimeout: timeLimits.idleMs,
    return503OnClosing: false,
    schemaController: { compilersFactory: noCompilers },
    // Each operation reads the query itself.
    routerOptions: { maxParamLength: maxHeaderBytes, querystringParser: () => ({}) },
    http: {
      // Node.js itself writes the real time, and formats it only once a second.
      ServerResponse: clock === Date.now ? NamedResponse : datedResponse(clock),
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: timeLimits.headersMs,
      connectionsCheckingInterval: timeLimits.checkEveryMs,
      requireHostHeader: false,
    },
    trustProxy: config.trustProxy,
    clientErrorHandler: respondBroken,
    frameworkErrors: respondUndecodable,
  });
  app.decorate('fairShare', new FairShare(stopwatch));
  app.decorate('errorPages', errorPagesUrl(config.baseUrl));
  for (const name of requestFields) app.decorateRequest(name, undefined);
  app.setReplySerializer(jsonText);
  answerHalfClosed(app.server);
  takeBodiesAsBytes(app);
  boundConnections(app.server, timeLimits);
  continueWhenRead(app.server);
  const endHandedOver = refuseConnect(app.server, respondBroken);
  app.addHook('preClose', async () => endHandedOver());
  return app;
}

/** The fields that the steps of a request set. They are declared at the start, so that all requests have one shape. */
const requestFields = [
  'caller',
  'sender',
  'decision',
  'limitHeaders',
  'errorCode',
  'interceptor',
  'operation',
  'traceparent',
] as const;

/** Serves the documents that need no key. */
function serveDocuments(app: FastifyInstance, options: CompleteOptions, components: Components): void {
  const { config, operations } = options;
  const { baseUrl } = config;
  const shown = { hasLab: config.lab, hasDraftLimits: config.hasDraftLimits };
  serveHealth(app, { ...options, ...components });
  const apis = () => import('../reference/description/apis.ts');
  serveDescriptions(app, prefix, async (version) =>
    (await apis()).describeStore(operations, baseUrl, { ...shown, version }),
  );
  serveAsJsonAndYaml(app, asyncapiPath, async () =>
    (await import('../reference/description/asyncapi.ts')).describeEvents(operations, baseUrl),
  );
  const workflows = () => import('../reference/description/workflows.ts');
  serveAsJsonAndYaml(app, `${prefix}/arazzo`, async () => (await workflows()).describeWorkflows(baseUrl));
  serveDescriptions(app, accountsPrefix, async (version) =>
    (await apis()).describeAccounts(baseUrl, { ...shown, version }),
  );
  if (components.lab) {
    serveDescriptions(app, labPrefix, async (version) =>
      (await apis()).describeLab(baseUrl, { ...shown, version }),
    );
    serveAsJsonAndYaml(app, `${labPrefix}/arazzo`, async () =>
      (await workflows()).describeRehearsedWorkflows(baseUrl),
    );
    serveLabPage(app, options.installation.key.labPageToken);
  }
  serveJoinPage(app, config.signUp);
  serveDocs(app, { baseUrl, operations, ...shown });
}

const documentPaths = (operations: readonly Operation[], hasLab: boolean) => [
  ...docsPaths({ operations, hasLab }),
  ...healthPaths,
  ...joinRoutes,
  ...descriptionPaths(prefix),
  ...descriptionPaths(accountsPrefix),
  ...(hasLab ? [...labPageRoutes, ...descriptionPaths(labPrefix)] : []),
];

/** Serves the Model Context Protocol, with the guides. */
function serveAgents(
  app: FastifyInstance,
  { config, clock }: CompleteOptions,
  { mcpAdmission }: Components,
): void {
  const { baseUrl, lab: hasLab } = config;
  const rootUrl = baseUrl.replace(/\/v1$/, '');
  const texts = async () => {
    const { guides, guideText } = await import('../reference/description/guides.ts');
    return guides(baseUrl, hasLab).map((guide) => ({
      uri: rootUrl + guidePath(guide),
      name: guide.name,
      description: firstSentence(guide.description)[0],
      text: guideText(guide, rootUrl),
    }));
  };
  serveMcp(app, { baseUrl, hasLab, admission: mcpAdmission, clock, texts });
}

function serveApis(
  app: FastifyInstance,
  options: CompleteOptions,
  { identify, streams, admission, labAdmission, lab, accounts }: Components,
  routing: Pick<Parameters<typeof serveApi>[1], 'paths' | 'respondUnrouted'>,
): void {
  const { config, db, changes, installation, clock, stopwatch, limiter, operations, hasOthers } = options;
  const { baseUrl, enforceSunset } = config;
  const services = {
    ...{ db, changes, installation, streams, clock, enforceSunset, keyChanged },
    inFlight: new Set<string>(),
  };
  serveApi(app, {
    ...{ ...routing, services, start: prefix, operations, baseUrl, admission },
    kept: { api: 'v1', boundsOf: ({ quota }) => keptBoundsOf(quota) },
    intercept: (request, reply) => lab?.intercept(request, reply),
  });
  const ofAccounts = {
    ...{ ...config, db, limiter, log: options.log, activity: accounts },
    waitUntilBanStartKnown: async (keyId: string) => lab?.waitUntilBanStartKnown(keyId),
  };
  serveApi(app, {
    ...{ ...routing, services, start: accountsPrefix, baseUrl: rootUrlOf(baseUrl) },
    ...{ admission: labAdmission, operations: withServices(accountsOperations, ofAccounts) },
    kept: { api: 'accounts', boundsOf: () => labKeptBounds },
  });
  if (!lab) return;
  const labServices = lab.services({ limiter, hasDraftLimits: config.hasDraftLimits }, stopwatch, hasOthers);
  serveApi(app, {
    ...{ ...routing, services, start: labPrefix, baseUrl: labUrlOf(baseUrl), admission: labAdmission },
    operations: withServices(labOperations, labServices),
    kept: { api: 'lab', boundsOf: () => labKeptBounds },
  });

  /** Waits until the caches of all instances have expired. Other instances are unknown, so over PostgreSQL it takes 520 ms. */
  async function keyChanged(keyId: string): Promise<void> {
    identify.forget(keyId);
    if (hasOthers) await sleep(keyCacheMs + timerMs);
  }
}

/** Margin for timers that end early, and for clocks that are read late. */
const timerMs = 20;

/** Finds the operation. Responses of operations are written with all headers at once. Other responses get the headers here. */
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
