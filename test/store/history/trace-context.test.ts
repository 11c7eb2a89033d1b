import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { answer, startDispatcher, startWebhook } from '../../support/dispatching.ts';
import { exchange } from '../../support/exchange.ts';
import { type Petstore, startListening, startPetstore } from '../../support/petstore.ts';
import { until } from '../../support/until.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const form = /^00-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-00$/;

const lastLogged = ({ log }: Petstore) => JSON.parse(log.at(-1) as string);

/** Sends requests with some header fields, and returns the trace ids in the log. */
async function startTraced(t: TestContext) {
  const store = await startPetstore(t, { seed: false });
  return async (headers: Record<string, string>): Promise<string> => {
    await store.call('GET', '/pets', { headers });
    return lastLogged(store).trace_id;
  };
}

test('the log names the trace of a valid traceparent, or else that of a random id of the request', async (t) => {
  const traceIdFor = await startTraced(t);
  const valid = [
    ...['00', '01', '02', '03', 'ff'].map((flags) => `00-${traceId}-${spanId}-${flags}`),
    `cc-${traceId}-${spanId}-01`,
    `cc-${traceId}-${spanId}-01-what-later-versions-add`,
  ];
  for (const traceparent of valid) assert.equal(await traceIdFor({ traceparent }), traceId, traceparent);
  const id = randomUUID();
  assert.equal(await traceIdFor({ 'x-request-id': id }), id.replaceAll('-', ''));
});

test('without a valid traceparent and a random id each request has its own trace', async (t) => {
  const traceIdFor = await startTraced(t);
  const invalid = [
    '',
    traceId,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-0`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
    `ff-${traceId}-${spanId}-01`,
    `cc-${traceId}-${spanId}-01more`,
    `-00-${traceId}-${spanId}-01`,
  ];
  const ids = [];
  for (const traceparent of invalid) ids.push(await traceIdFor({ traceparent }));
  // A caller may repeat an id that is not random.
  for (const id of ['walk-1', 'walk-1', '00000000-0000-0000-0000-000000000000'])
    ids.push(await traceIdFor({ 'x-request-id': id }));
  for (const id of ids) assert.match(`00-${id}-${spanId}-00`, form);
  assert.equal(new Set([traceId, ...ids]).size, 1 + invalid.length + 3);
});

test('the log of a request with a malformed body has its trace', async (t) => {
  const store = await startListening(t, { seed: false });
  const head = `Host: x\r\nAuthorization: Bearer ${store.key}\r\nContent-Type: application/json`;
  const traceparent = `traceparent: 00-${traceId}-${spanId}-01`;
  await exchange(
    store,
    `POST /v1/categories HTTP/1.1\r\n${head}\r\n${traceparent}\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n`,
  );
  const answered = () => store.log.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'answered');
  await until(() => answered() !== undefined);
  assert.deepEqual([answered().status, answered().trace_id], [400, traceId]);
});

test('each attempt to deliver an event continues the trace of the request that made the change', async (t) => {
  const { store, receiver } = await startWebhook(t);
  receiver.behave = (request, response) =>
    answer(receiver.messages.length % 2 === 1 ? 500 : 204)(request, response);
  startDispatcher(store);
  const sentFor = async (headers: Record<string, string>) => {
    const before = receiver.messages.length;
    await store.call('POST', '/categories', { body: { name: 'Dragons' }, headers });
    const logged = lastLogged(store).trace_id;
    await until(() => receiver.messages.length === before + 1);
    await until(async () => {
      store.nowMs += 3_600_000;
      return receiver.messages.length === before + 2;
    });
    const [first, second] = receiver.messages.slice(before).map(({ headers }) => headers.traceparent);
    assert.equal(second, first);
    return { logged, sent: first as string };
  };
  for (const flags of ['00', '01']) {
    const traceparent = `00-${traceId}-${spanId}-${flags}`;
    assert.deepEqual(await sentFor({ traceparent }), { logged: traceId, sent: traceparent });
  }
  for (const headers of [{}, { 'x-request-id': randomUUID() }, { 'x-request-id': 'walk-1' }]) {
    const { logged, sent } = await sentFor(headers as Record<string, string>);
    assert.equal(form.exec(sent)?.[1], logged);
  }
});

test('a message that no request caused starts its own trace', async (t) => {
  const { store, receiver } = await startWebhook(t);
  startDispatcher(store);
  for (const sent of [1, 2]) {
    assert.equal((await store.call('POST', '/store/webhooks/1/ping')).status, 202);
    await until(() => receiver.messages.length === sent);
  }
  const sent = receiver.messages.map(({ headers }) => form.exec(headers.traceparent as string)?.[1]);
  assert.equal(new Set(sent).size, 2);
  assert.ok(!sent.includes(undefined));
});
