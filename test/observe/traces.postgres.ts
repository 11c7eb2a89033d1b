import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startReceiver } from '../support/dispatching.ts';
import { until } from '../support/until.ts';
import { needsValkey, startValkey } from '../support/valkey.ts';
import { type Span, startCollector, startTraced, tracesTo } from './collector.ts';

const callerSpan = 'b7ad6b7169203331';
const traceOf = (last: string) => `0af7651916cd43dd8448eb211c80319${last}`;

test('statements and decisions of Valkey are spans of their own request', needsValkey, async (t) => {
  const collector = await startCollector(t);
  const valkey = await startValkey(t);
  const { service, call } = await startTraced(t, { VALKEY_URL: valkey.url, ...tracesTo(collector) });
  const send = (last: string, method: string, path: string, body?: object) =>
    call(method, path, { traceparent: `00-${traceOf(last)}-${callerSpan}-01` }, body);
  const receiver = await startReceiver(t);
  await send('0', 'POST', '/store/webhooks', { url: receiver.url });
  // Sent together, they can share a decision and a statement.
  const reads = ['1', '6', '7', '8'];
  await Promise.all(reads.map((last, i) => send(last, 'GET', `/pets/${i + 1}`)));
  // Written together, they share a transaction and a commit.
  const writes = ['2', '3', '4', '5'];
  const answers = await Promise.all(
    writes.map((last) => send(last, 'POST', '/categories', { name: 'hidden' })),
  );
  for (const { status } of answers) assert.equal(status, 201);
  await until(() => receiver.messages.length === writes.length);
  await service.stop('SIGTERM');
  await until(() => collector.spans.some(({ name }) => name === 'POST /v1/categories'));

  // A key is looked up again after half a second.
  const ofTrace = (last: string) =>
    collector.ofTrace(traceOf(last)).filter(({ name }) => name !== 'SELECT api_keys');
  for (const last of reads) {
    const read = ofTrace(last);
    const named = (name: string) => read.find((span) => span.name === name) as Span;
    const request = named('GET /v1/pets/{petId}');
    const decision = named('EVALSHA');
    const statement = named('SELECT pets');
    assert.deepEqual(
      [request, decision, statement].map(({ kind, parentSpanId }) => [kind, parentSpanId]),
      [[2, callerSpan], ...[3, 3].map((kind) => [kind, request.spanId])],
    );
    assert.equal(read.length, 3);
    assert.equal(decision.attributes['db.system.name'], 'redis');
    const { 'db.query.text': text, ...attributes } = statement.attributes;
    assert.match(String(text), /^select id, .* from pets where workspace_id = \$1 and id = \$2$/);
    assert.deepEqual(attributes, {
      'db.system.name': 'postgresql',
      'db.operation.name': 'SELECT',
      'db.query.summary': 'SELECT pets',
    });
  }

  for (const last of writes) {
    const spans = ofTrace(last);
    const of = (name: string) => spans.filter((span) => span.name === name);
    const [write] = of('POST /v1/categories');
    const [transaction] = of('transaction');
    const [insert] = of('INSERT categories');
    assert.equal(of('write queue')[0]?.parentSpanId, write?.spanId);
    assert.equal(transaction?.parentSpanId, write?.spanId);
    assert.equal(insert?.parentSpanId, transaction?.spanId);
    const statements = spans.filter(({ attributes }) => attributes['db.system.name'] === 'postgresql');
    for (const { name, parentSpanId } of statements) assert.equal(parentSpanId, transaction?.spanId, name);
    assert.equal(of('INSERT categories').length, 1);
    assert.deepEqual(of('COMMIT'), []);
    assert.equal(of('POST webhook')[0]?.parentSpanId, write?.spanId);
  }
  assert.ok(!collector.text.includes('hidden'));
});
