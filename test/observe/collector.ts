import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import type { TestContext } from 'node:test';
import { requestOf } from '../support/petstore.ts';
import { serve } from '../support/receiver.ts';
import { ampleKey, startService } from '../support/service.ts';
import { temporaryStorage } from '../support/storage.ts';

/** A received span, by https://opentelemetry.io/docs/specs/otlp/. */
export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  /** 1: internal, 2: of a received request, 3: of a sent request. */
  kind: number;
  /** Milliseconds since 1970. */
  startMs: number;
  endMs: number;
  hasFailed: boolean;
  attributes: Record<string, string | number>;
  resource: Record<string, string | number>;
}

type Values = { key: string; value: { stringValue?: string; intValue?: number; arrayValue?: object } }[];

const read = (values: Values) =>
  Object.fromEntries(
    values.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? JSON.stringify(value)]),
  );

/** A collector on loopback. It returns 200 unless `behave` does something else. */
export async function startCollector(t: TestContext) {
  const collector = {
    url: '',
    spans: [] as Span[],
    /** All bodies. */
    text: '',
    requests: [] as { url: string | undefined; headers: IncomingHttpHeaders }[],
    behave: ((_request, response) =>
      response.setHeader('content-type', 'application/json').end('{}')) as RequestListener,
    ofTrace: (traceId: string) => collector.spans.filter((span) => span.traceId === traceId),
  };
  const port = await serve(t, (request, response, body) => {
    collector.requests.push({ url: request.url, headers: request.headers });
    collector.text += body;
    for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans)
      for (const { spans } of scopeSpans)
        for (const span of spans)
          collector.spans.push({
            ...{ traceId: span.traceId, spanId: span.spanId, name: span.name, kind: span.kind },
            parentSpanId: span.parentSpanId || undefined,
            startMs: Number(span.startTimeUnixNano) / 1e6,
            endMs: Number(span.endTimeUnixNano) / 1e6,
            hasFailed: span.status.code === 2,
            attributes: read(span.attributes),
            resource: read(resource.attributes),
          });
    collector.behave(request, response);
  });
  collector.url = `http://127.0.0.1:${port}`;
  return collector;
}

/** A service in its own process, which gets the variables of OpenTelemetry. */
export async function startTraced(t: TestContext, env: Record<string, string>) {
  const folder = await temporaryStorage(t);
  const service = await startService(t, folder, { LOG_FORMAT: 'json', ...env });
  const key = await ampleKey(folder);
  const call = (method: string, path: string, headers: Record<string, string> = {}, body?: object) => {
    const { payload, ...sent } = requestOf({ headers, body }, key);
    return fetch(`${service.origin}/v1${path}`, { method, ...sent, ...(payload && { body: payload }) });
  };
  return { service, key, call };
}

/** Variables with which a service soon sends its spans to a collector. */
export const tracesTo = ({ url }: { url: string }) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_BSP_SCHEDULE_DELAY: '50',
});
