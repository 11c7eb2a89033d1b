import type { FastifyInstance, FastifyRequest } from 'fastify';
import { withoutSecrets } from '../foundation/redact.ts';

import type { RequestSpan, Tracer } from '../foundation/tracer.ts';
import { readTraceparent } from '../http/trace-context.ts';
import type { RequestOutcome } from './request-outcome.ts';

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
