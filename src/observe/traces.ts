import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { withTimeout } from '../foundation/promises.ts';
import { withoutSecrets } from '../foundation/redact.ts';
import { type Environment, tracesAreOn } from '../foundation/settings/config.ts';
import type { RequestSpan, Tracer } from '../foundation/tracer.ts';
import { setTracer } from '../foundation/tracing.ts';
import { version } from '../foundation/version.ts';
import { readTraceparent } from '../http/trace-context.ts';
import type { Log } from './log/logger.ts';
import type { RequestOutcome } from './request-outcome.ts';

/** The packages that traces need, by the versions that work together. */
export const tracePackages = {
  '@opentelemetry/api': '1.9.1',
  '@opentelemetry/exporter-trace-otlp-http': '0.223.1',
  '@opentelemetry/resources': '2.12.1',
  '@opentelemetry/sdk-trace-base': '2.12.1',
};

const lastSpansMs = 2_000;

export interface Traces {
  /** Sends what is left, within two seconds. False if the collector has not taken it, and something may still wait for it. */
  stop(): Promise<boolean>;
}

/** Turns traces on if the environment asks for them. The packages read their variables from the process. */
export async function startTraces(env: Environment, log: Log): Promise<Traces | undefined> {
  if (!tracesAreOn(env)) return undefined;
  const [api, sdk, { OTLPTraceExporter }, resources, { idGenerator, Tracer }] = await loadPackages();
  const { diag, DiagLogLevel } = api;
  const nothing = () => {};
  const warn = (message: string) => log.warn(`traces: ${message}`);
  const logger = { error: warn, warn, info: nothing, debug: nothing, verbose: nothing };
  // Only for variables with values that cannot be used. What fails later is logged below.
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resources;
  const own = resourceFromAttributes({ 'service.name': 'petstore', 'service.version': version });
  const provider = new sdk.BasicTracerProvider({
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(reporting(new OTLPTraceExporter(), log))],
    idGenerator,
  });
  diag.disable();
  setTracer(new Tracer(provider.getTracer('petstore', version)));
  log.info('traces are on');
  return {
    async stop() {
      setTracer(undefined);
      const late = () => new Error('The collector does not answer in time.');
      return withTimeout(lastSpansMs, provider.shutdown(), late).then(
        () => true,
        () => false,
      );
    },
  };
}

/** They are optional, and take time to load. */
const loadPackages = () =>
  Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('../foundation/tracer.ts'),
  ]).catch((error: NodeJS.ErrnoException) => {
    if (!error.code?.endsWith('MODULE_NOT_FOUND')) throw error;
    const names = Object.entries(tracePackages).map(([name, version]) => `${name}@${version}`);
    throw new Error(
      `OTEL_… variables turn traces on, but the packages for traces are not installed: npm install ${names.join(' ')}`,
    );
  });

/** Logs when the collector stops and starts to take spans. */
function reporting(exporter: SpanExporter, log: Pick<Log, 'info' | 'warn'>): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== 0;
        if (hasFailed && !isFailing)
          log.warn(
            { reason: result.error?.message },
            'the collector does not accept spans, so they are dropped',
          );
        else if (isFailing && !hasFailed) log.info('the collector accepts spans again');
        isFailing = hasFailed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

const maxPathLength = 1_000;
/** The methods that the semantic conventions name. */
const knownMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT'];

const spans = new WeakMap<FastifyRequest, RequestSpan>();

/** Gives each request a span, except requests to the paths in `except`. */
export function traceRequests(app: FastifyInstance, tracer: Tracer, except: readonly string[]): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (except.includes(pathOf(request))) return done();
    const span = tracer.startRequest(textOf(request), readTraceparent(request.headers.traceparent));
    spans.set(request, span);
    request.traceparent = span.traceparent;
    span.run(done);
  });
  // What reads the body calls the handler outside of the span.
  app.addHook('preHandler', (request, _reply, done) => {
    const span = spans.get(request);
    if (span) span.run(done);
    else done();
  });
}

/** Ends the span of a request with its response. */
export function endSpan({ exchange, status, code, error }: RequestOutcome): void {
  const span = exchange && spans.get(exchange.request);
  if (!span) return;
  const isCutOff = status === 0 || error;
  const errorType = isCutOff ? 'cut_off' : status >= 500 ? (code ?? String(status)) : undefined;
  span.end({ 'http.response.status_code': status || undefined }, errorType);
}

const pathOf = ({ url }: FastifyRequest) => url.split('?', 1)[0] as string;

function textOf(request: FastifyRequest) {
  const method = knownMethods.includes(request.method) ? request.method : undefined;
  const route = request.routeOptions.url?.replaceAll(/:(\w+)/g, '{$1}');
  return {
    name: [method ?? 'HTTP', route].filter(Boolean).join(' '),
    attributes: {
      'http.request.method': method ?? '_OTHER',
      'http.route': route,
      'url.path': withoutSecrets(pathOf(request)).slice(0, maxPathLength),
      'url.scheme': request.protocol,
      'petstore.request.id': withoutSecrets(request.id),
    },
  };
}
