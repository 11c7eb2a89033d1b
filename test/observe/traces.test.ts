import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { tracePackages } from '../../src/observe/traces.ts';
import { answer, startReceiver } from '../support/dispatching.ts';
import { temporaryFolder } from '../support/folder.ts';
import { type Service, startService } from '../support/service.ts';
import { textOf } from '../support/tree.ts';
import { until } from '../support/until.ts';
import { type Span, startCollector, startTraced, tracesTo } from './collector.ts';

const caller = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const hour = '3600000';
const sampled = `00-${caller.traceId}-${caller.spanId}-01`;

/** The log lines, without those of the welcome. */
const logOf = ({ output }: Service) => (output().match(/^\{.*$/gm) ?? []).map((line) => JSON.parse(line));

const lineOf = async (service: Service, requestId: string) => {
  const find = () => logOf(service).find(({ reqId }) => reqId === requestId);
  await until(() => find() !== undefined);
  return find();
};

test('a write, its wait in the queue and its webhook attempts are spans of one trace, which the log names', async (t) => {
  const collector = await startCollector(t);
  const { service, call } = await startTraced(t, tracesTo(collector));
  const receiver = await startReceiver(t);
  receiver.behave = (request, response) =>
    answer(receiver.messages.length > 1 ? 204 : 503)(request, response);
  assert.equal(
    (await call('POST', '/store/webhooks', {}, { url: `${receiver.url}secret?path` })).status,
    201,
  );
  const requestId = randomUUID();
  const headers = { 'x-request-id': requestId, traceparent: sampled };
  assert.equal((await call('POST', '/categories', headers, { name: 'Dragons' })).status, 201);
  await until(() => receiver.messages.length === 1);
  await call('POST', '/store/webhooks/1/deliveries/1/redeliver');
  await until(() => receiver.messages.length === 2);
  await until(() => collector.ofTrace(caller.traceId).length === 5);
  const spans = collector.ofTrace(caller.traceId);
  const named = (name: string) => spans.filter((span) => span.name === name) as [Span, Span];
  const [request] = named('POST /v1/categories');
  const [queue] = named('write queue');
  const [transaction] = named('transaction');
  const [first, second] = named('POST webhook').sort((a, b) => a.startMs - b.startMs) as [Span, Span];
  assert.deepEqual(
    [request, queue, transaction, first, second].map(({ kind, parentSpanId }) => [kind, parentSpanId]),
    [[2, caller.spanId], ...[1, 1, 3, 3].map((kind) => [kind, request.spanId])],
  );
  assert.deepEqual(request.attributes, {
    'http.request.method': 'POST',
    'http.route': '/v1/categories',
    'url.path': '/v1/categories',
    'url.scheme': 'http',
    'petstore.request.id': requestId,
    'http.response.status_code': 201,
  });
  assert.ok(queue.endMs <= transaction.startMs + 1 && transaction.endMs <= request.endMs + 1);
  assert.equal((await lineOf(service, requestId)).trace_id, caller.traceId);
  assert.deepEqual(
    receiver.messages.map(({ headers }) => headers.traceparent),
    [first, second].map(({ spanId }) => `00-${caller.traceId}-${spanId}-01`),
  );
  assert.deepEqual([first.hasFailed, first.attributes['http.response.status_code']], [true, 503]);
  assert.deepEqual([second.hasFailed, second.attributes['http.response.status_code']], [false, 204]);
  assert.equal(first.attributes['error.type'], '503');
  assert.equal(first.attributes['server.port'], Number(new URL(receiver.url).port));
  assert.ok(!collector.text.includes('secret?path'));
});

test('a request without a traceparent starts a trace, and the name of a span without a route has no path', async (t) => {
  const collector = await startCollector(t);
  const { service, call } = await startTraced(t, {
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/own/path`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OTEL_SERVICE_NAME: 'pets',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  });
  await call('GET', '/pets/1', { 'x-request-id': 'walk-1' });
  await call('GET', '/nowhere', { 'x-request-id': 'walk-2' });
  await until(() => collector.spans.length === 2);
  const [found, missing] = [...collector.spans].sort((a, b) => a.startMs - b.startMs);
  assert.deepEqual([found?.name, found?.attributes['url.path']], ['GET /v1/pets/{petId}', '/v1/pets/1']);
  assert.deepEqual([missing?.name, missing?.attributes['http.response.status_code']], ['GET', 404]);
  assert.deepEqual([found?.hasFailed, missing?.hasFailed], [false, false]);
  for (const [span, requestId] of [
    [found, 'walk-1'],
    [missing, 'walk-2'],
  ] as const) {
    assert.equal(span?.parentSpanId, undefined);
    assert.equal((await lineOf(service, requestId)).trace_id, span?.traceId);
    assert.equal(span?.resource['service.name'], 'pets');
    assert.equal(span?.resource['deployment.environment.name'], 'test');
  }
  const [{ url, headers } = {}] = collector.requests;
  assert.deepEqual([url, headers?.authorization], ['/own/path', 'Basic abc']);
});

test('every request has a trace, the sampler decides which are recorded, and a stop sends the last spans', async (t) => {
  const collector = await startCollector(t);
  const { service, call } = await startTraced(t, {
    ...tracesTo(collector),
    ...{ OTEL_TRACES_SAMPLER: 'parentbased_always_off', OTEL_BSP_SCHEDULE_DELAY: hour },
  });
  const receiver = await startReceiver(t);
  await call('POST', '/store/webhooks', {}, { url: receiver.url });
  await call('POST', '/categories', { 'x-request-id': 'unsampled' }, { name: 'Dragons' });
  await until(() => receiver.messages.length === 1);
  const { trace_id } = await lineOf(service, 'unsampled');
  const { traceparent } = receiver.messages[0]?.headers ?? {};
  assert.match(String(traceparent), new RegExp(`^00-${trace_id}-[\\da-f]{16}-00$`));
  await call('GET', '/pets/1', { traceparent: sampled });
  assert.deepEqual(await service.stop('SIGTERM'), { code: 0, signal: null });
  assert.deepEqual(
    collector.spans.map(({ name, traceId }) => [name, traceId]),
    [['GET /v1/pets/{petId}', caller.traceId]],
  );
});

test('no key and no query gets into a span', async (t) => {
  const collector = await startCollector(t);
  const { key, call, service } = await startTraced(t, tracesTo(collector));
  await call('GET', `/pets/${key}`, { 'x-request-id': key, traceparent: sampled });
  await call('GET', `/pets?status=available&note=hidden${key}`, {
    tracestate: `a=${key}`,
    baggage: `a=${key}`,
  });
  await call('GET', `/pets/${encodeURIComponent(key).replace('pet_', 'pet%5F')}`);
  await call('POST', '/categories', {}, { name: key });
  await service.stop('SIGTERM');
  assert.equal(collector.spans.filter(({ kind }) => kind === 2).length, 4);
  assert.ok(!collector.text.includes(key.slice(4)));
  assert.doesNotMatch(collector.text, /hidden|status=/);
});

test('a collector that never responds delays neither requests nor the stop', async (t) => {
  const collector = await startCollector(t);
  collector.behave = () => {};
  const { call, service } = await startTraced(t, {
    ...tracesTo(collector),
    ...{ OTEL_EXPORTER_OTLP_TIMEOUT: hour, OTEL_BSP_EXPORT_TIMEOUT: hour },
  });
  await call('GET', '/pets/1');
  await until(() => collector.requests.length > 0);
  for (let i = 0; i < 50; i++) assert.equal((await call('GET', '/pets/1')).status, 200);
  assert.deepEqual(await service.stop('SIGTERM'), { code: 0, signal: null });
});

test('the log says once that the collector fails, and that it works again', async (t) => {
  const collector = await startCollector(t);
  const { behave } = collector;
  collector.behave = answer(400);
  const { call, service } = await startTraced(t, tracesTo(collector));
  const logged = () => logOf(service).filter(({ msg }) => msg.includes('collector'));
  for (const count of [1, 2, 3]) {
    await call('GET', '/pets/1');
    await until(() => collector.requests.length >= count);
  }
  await until(() => logged().length > 0);
  collector.behave = behave;
  await call('GET', '/pets/1');
  await until(() => logged().length > 1);
  assert.deepEqual(
    logged().map(({ level, msg }) => [level, msg]),
    [
      ['warn', 'the collector does not accept spans, so they are dropped'],
      ['info', 'the collector accepts spans again'],
    ],
  );
});

test('a value that OpenTelemetry cannot use causes a warning in the log', async (t) => {
  const collector = await startCollector(t);
  const { service } = await startTraced(t, { ...tracesTo(collector), OTEL_TRACES_SAMPLER: 'sometimes' });
  const [warning] = logOf(service).filter(({ level }) => level === 'warn');
  assert.match(warning.msg, /OTEL_TRACES_SAMPLER.*sometimes/);
});

/** A Node.js that finds no package of OpenTelemetry except its API, which prom-client installs. */
const withoutPackages = [
  process.execPath,
  '--import',
  `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module';
    registerHooks({ resolve(name, context, next) {
      if (!/^@opentelemetry\\/(?!api$)/.test(name)) return next(name, context);
      throw Object.assign(new Error(name), { code: 'ERR_MODULE_NOT_FOUND' });
    } });`)}`,
];

test('without its packages the service runs, and names the missing packages at the start', async (t) => {
  const folder = temporaryFolder(t);
  const by = withoutPackages as [string, ...string[]];
  const service = await startService(t, folder, {}, { by });
  await service.stop('SIGTERM');
  const named = Object.entries(tracePackages).map(([name, version]) => `${name}@${version}`);
  await assert.rejects(
    startService(t, folder, { OTEL_TRACES_EXPORTER: 'otlp' }, { by }),
    ({ message }: Error) => message.endsWith(`are not installed: npm install ${named.join(' ')}\n`),
  );
});

test('the named packages are those that npm ci installs', () => {
  const { optionalDependencies } = JSON.parse(textOf('package.json'));
  for (const [name, version] of Object.entries(tracePackages))
    assert.equal(optionalDependencies[name], version, name);
});
