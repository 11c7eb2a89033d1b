import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import { withTimeout } from '../foundation/promises.ts';
import { type Environment, tracesAreOn } from '../foundation/settings/config.ts';
import { setTracer } from '../foundation/tracing.ts';
import { version } from '../foundation/version.ts';
import type { Log } from './log/logger.ts';

/** The packages that traces need, by the versions that work together. */
export const tracePackages = {
  '@opentelemetry/api': '1.9.1',
  '@opentelemetry/exporter-trace-otlp-http': '0.223.1',
  '@opentelemetry/resources': '2.12.1',
  '@opentelemetry/sdk-trace-base': '2.12.1',
};

/** How long a stop waits for the last spans to be sent. */
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
