import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../../src/api/operations.ts';
import { StorageUnavailableError } from '../../src/foundation/errors.ts';
import { durationBounds, Histogram } from '../../src/foundation/histogram.ts';
import { startPetstore } from '../support/petstore.ts';
import { textOf } from '../support/tree.ts';
import { metricsIn, textOfAllMetrics, valueIn } from './metrics.ts';

test('/metrics shows requests, latency, limit decisions, bans and storage, without any key or id', async (t) => {
  const store = await startPetstore(t);
  const { key, id } = await store.addKey('enterprise', { perMinute: 2, perDay: 100 });
  for (let i = 0; i < 13; i++) await store.call('GET', '/pets/1', { key });
  await store.call('POST', '/categories', { body: { name: 'Dragons' } });
  await store.call('GET', '/nowhere', { key: null });
  const { status, headers, text } = await store.send('GET', '/metrics', { key: null });
  assert.equal(status, 200);
  assert.match(headers['content-type'] as string, /^text\/plain/);
  for (const [series, value] of [
    ['petstore_requests_total{operation="getPet",status="200"}', 2],
    ['petstore_requests_total{operation="getPet",status="429"}', 10],
    ['petstore_requests_total{operation="getPet",status="403"}', 1],
    ['petstore_requests_total{operation="createCategory",status="201"}', 1],
    ['petstore_requests_total{operation="none",status="401"}', 1],
    ['petstore_request_duration_seconds_count{operation="getPet"}', 13],
    ['petstore_limit_decisions_total{plan="enterprise",outcome="limited"}', 10],
    ['petstore_limit_decisions_total{plan="enterprise",outcome="banned"}', 1],
    ['petstore_limit_decisions_total{plan="none",outcome="admitted"}', 1],
    ['petstore_bans_total{plan="enterprise"}', 1],
  ] as const)
    assert.equal(valueIn(text, series), value, series);
  assert.ok(valueIn(text, 'petstore_storage_operations_total{kind="commits"}') >= 2);
  for (const secret of [key, id, store.key, '127.0.0.1']) assert.ok(!text.includes(secret));
});

test('the counters of alerts are 0 before the first event', async (t) => {
  const text = await (await startPetstore(t, { seed: false })).metrics();
  const { id: deprecated } = operations.find((operation) => operation.deprecated) ?? {};
  for (const { id, success } of operations)
    for (const status of [success.status, 500, 503])
      assert.equal(valueIn(text, `petstore_requests_total{operation="${id}",status="${status}"}`), 0, id);
  for (const series of [
    'petstore_requests_total{operation="none",status="500"}',
    'petstore_request_duration_seconds_bucket{le="+Inf",operation="getPet"}',
    `petstore_deprecated_requests_total{operation="${deprecated}"}`,
    'petstore_rehearsed_answers_total{fault="unavailable"}',
    'petstore_log_lines_dropped_total{reason="unread"}',
    'petstore_webhook_missed_events_total',
    'petstore_writes_waiting',
  ])
    assert.equal(valueIn(text, series), 0, series);
  assert.match(text, /^petstore_build_info\{version="\d+\.\d+\.\d+"\} 1$/m);
});

test('petstore_ready follows the storage', async (t) => {
  const store = await startPetstore(t, { seed: false });
  assert.equal(valueIn(await store.metrics(), 'petstore_ready'), 1);
  const { touch } = store.db;
  store.db.touch = () => Promise.reject(new StorageUnavailableError('Its disk is full.'));
  assert.equal(valueIn(await store.metrics(), 'petstore_ready'), 0);
  store.db.touch = touch;
  assert.equal(valueIn(await store.metrics(), 'petstore_ready'), 1);
});

test('health checks and requests for metrics are not counted as requests', async (t) => {
  const store = await startPetstore(t, { seed: false });
  store.db.touch = () => Promise.reject(new StorageUnavailableError('Its disk is full.'));
  const paths = { '/healthz': 200, '/readyz': 503, '/readyz?probe=1': 503, '/metrics': 200 };
  for (const [path, status] of Object.entries(paths))
    assert.equal((await store.send('GET', path, { key: null })).status, status, path);
  await store.send('GET', '/robots.txt', { key: null });
  const text = await store.metrics();
  assert.equal(valueIn(text, 'petstore_requests_total{operation="none",status="503"}'), 0);
  assert.equal(valueIn(text, 'petstore_requests_total{operation="none",status="200"}'), 1);
  assert.equal(valueIn(text, 'petstore_request_duration_seconds_count{operation="none"}'), 1);
});

test('waiting writes are counted, and so are the writes of each commit', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const before = await store.metrics();
  const { promise: isHeld, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: hasBegun, resolve: begin } = Promise.withResolvers<void>();
  const first = store.change(async () => {
    begin();
    await isHeld;
  });
  await hasBegun;
  const others = [1, 2, 3].map(() => store.change(async (sql) => sql`select 1`));
  assert.equal(store.db.measured.writesWaiting(), 3);
  letGo();
  await Promise.all([first, ...others]);
  const after = await store.metrics();
  assert.equal(valueIn(after, 'petstore_writes_waiting'), 0);
  const grown = (series: string) => valueIn(after, series) - valueIn(before, series);
  // Building the text checks the storage for readiness, which is a write.
  const ofReady = 1;
  assert.equal(grown('petstore_commit_writes_sum'), 4 + ofReady);
  assert.equal(grown('petstore_commit_writes_bucket{le="4"}'), grown('petstore_commit_writes_count'));
  assert.equal(grown('petstore_commit_duration_seconds_count'), grown('petstore_commit_writes_count'));
});

test('a histogram counts a value in the first bucket that contains it', () => {
  const histogram = new Histogram([1, 2.5, 5]);
  for (const value of [0, 1, 1.5, 2.5, 5, 5.1, 1_000]) histogram.observe(value);
  assert.deepEqual(histogram.counts, [2, 2, 1, 2]);
  assert.equal(histogram.sum, 1_015.1);
  assert.deepEqual(
    durationBounds,
    durationBounds.toSorted((a, b) => a - b),
  );
});

test('the page on metrics lists each metric with its type, labels and meaning', async () => {
  const page = textOf('docs/operations/metrics.md');
  const own = [...metricsIn(await textOfAllMetrics())].filter(([name]) => name.startsWith('petstore_'));
  const rows = own.map(([name, { type, labels, help }]) => {
    const named = [...labels].map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${named} | ${help} |`;
  });
  const table = ['| Metric | Type | Labels | Meaning |', '| --- | --- | --- | --- |', ...rows];
  assert.equal(/^\| Metric \|[\s\S]*?(?=\n\n)/m.exec(page)?.[0], table.join('\n'));
});
