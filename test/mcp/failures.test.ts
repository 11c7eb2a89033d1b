import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, test } from 'node:test';
import { maxBodyBytes } from '../../src/foundation/bounds.ts';
import { maxRefusalBytes } from '../../src/foundation/errors.ts';
import { plans } from '../../src/foundation/settings/plans.ts';
import { labQuota } from '../../src/lab/lab-bounds.ts';
import { performedOf, rehearse } from '../support/lab.ts';
import { times } from '../support/limits.ts';
import { requestOf, startPetstore } from '../support/petstore.ts';
import { recordedIn, startRecording, valuesOf } from '../support/recordings.ts';
import { until } from '../support/until.ts';
import { call, connectAgent, sendMessage } from './agents.ts';

const store = await startPetstore({ after });
const origin = await store.listen();

const callMessage = (name: unknown, given?: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: given },
});

/** A key with an agent of its own. */
async function newAgent(t: Parameters<typeof connectAgent>[0], perMinute = 1_000) {
  const { key } = await store.addKey('enterprise', { perMinute, perDay: 100_000 });
  return { key, agent: await connectAgent(t, origin, key) };
}

const pet = (idempotencyKey: string) => ({ name: 'Ada', categoryId: 1, idempotencyKey });

test('a rate-limited call says how long to wait, and then succeeds', async (t) => {
  const { key, agent } = await newAgent(t, 2);
  const find = () => call(agent, 'find_pets');
  assert.deepEqual(
    (await times(2, find)).map(({ isError }) => isError),
    [false, false],
  );
  const limited = await find();
  const { headers, body } = await store.call('GET', '/pets', { key });
  assert.deepEqual(limited, {
    isError: true,
    content: {
      code: 'rate_limited',
      message: body.message,
      retryAfterSeconds: Number(headers['retry-after']),
    },
  });
  store.nowMs += limited.content.retryAfterSeconds * 1_000;
  assert.equal((await find()).isError, false);
});

test('a key that does not wait is banned, and get_limits still shows the ban', async (t) => {
  const { agent } = await newAgent(t, 1);
  const results = await times(12, () => call(agent, 'find_pets'));
  assert.deepEqual(
    results.map(({ content }) => content.code),
    [undefined, ...Array(10).fill('rate_limited'), 'key_banned'],
  );
  assert.equal(results.at(-1)?.content.retryAfterSeconds, 60);
  const { content } = await call(agent, 'get_limits');
  assert.equal(content.minute.remaining, 0);
  assert.equal(Date.parse(content.ban.until), store.nowMs + 60_000);
});

test('messages have their own limit, which also counts unreadable ones', async () => {
  const { key } = await store.addKey('free');
  const answers = await times(labQuota.perMinute, () => sendMessage(store, '{', { key }));
  assert.ok(answers.every(({ status }) => status === 400));
  const { status, body, headers } = await sendMessage(store, '{', { key });
  assert.deepEqual([status, body.code], [429, 'rate_limited']);
  assert.ok(Number(headers['retry-after']) > 0);
  assert.equal((await store.call('GET', '/pets', { key })).headers['x-ratelimit-remaining'], '59');
});

test('a lost response breaks the connection, and the same call again gets the first result', async (t) => {
  const { key, agent } = await newAgent(t);
  const { id } = await rehearse(store, [{ fault: 'lost-answer', operation: 'createPet' }], { key });
  await assert.rejects(call(agent, 'add_pet', pet('lost')));
  const again = await call(agent, 'add_pet', pet('lost'));
  assert.equal(again.isError, false);
  assert.deepEqual(await performedOf(store, id, key), [1]);
  const { body: events } = await store.call('GET', '/store/events?type=pet.created&limit=100');
  assert.equal(events.length, 1);
  assert.equal(events[0].data.id, again.content.id);
});

test('a truncated response is reported as lost', async (t) => {
  const { key, agent } = await newAgent(t);
  await rehearse(store, [{ fault: 'truncated', operation: 'createPet' }], { key });
  const { isError, content } = await call(agent, 'add_pet', pet('half'));
  assert.deepEqual([isError, content.code], [true, 'no_answer']);
  assert.match(content.message, /The call may have taken effect\. Send the same call again\.$/);
  assert.equal((await call(agent, 'add_pet', pet('half'))).isError, false);
});

test('failures of the service and of a gateway have a code, and say when to try again', async (t) => {
  const { key, agent } = await newAgent(t);
  const expected = {
    unavailable: 'unavailable',
    'internal-error': 'internal_error',
    'bad-gateway': 'unexpected_answer',
    'rate-limited-date': 'rate_limited',
    unauthorized: 'unauthorized',
  };
  for (const [fault, code] of Object.entries(expected)) {
    await rehearse(store, [fault], { key });
    const { isError, content } = await call(agent, 'find_orders');
    assert.deepEqual([isError, content.code], [true, code], fault);
    if (/unavailable|date/.test(fault)) assert.ok(content.retryAfterSeconds > 0, fault);
    store.nowMs += (content.retryAfterSeconds ?? 0) * 1_000;
    assert.equal((await call(agent, 'find_orders')).isError, false, fault);
  }
  for (const location of ['path', 'url'] as const) {
    await rehearse(store, [{ fault: 'moved', location }], { key });
    assert.equal((await call(agent, 'find_orders')).isError, false, `a ${location} is followed`);
  }
});

test('ids beyond 2^53 are strings, which every tool accepts, up to the largest; a rounded number is refused', async (t) => {
  const { key, agent } = await newAgent(t);
  await rehearse(store, ['large-ids'], { key });
  const { content } = await call(agent, 'find_pets', { limit: 1 });
  const [{ id, categoryId }] = content.pets;
  for (const large of [id, categoryId])
    assert.ok(BigInt(large) > Number.MAX_SAFE_INTEGER && typeof large === 'string');
  const { content: found } = await call(agent, 'find_pets', { id: [id] });
  assert.deepEqual(found.pets, [content.pets[0]]);
  const order = await call(agent, 'place_order', { petId: id, idempotencyKey: 'large' });
  assert.equal(order.content.petId, id);
  assert.equal((await call(agent, 'cancel_order', { orderId: order.content.id })).isError, false);
  const rounded = await call(agent, 'get_stock', { petId: Number(id) });
  assert.equal(rounded.content.code, 'invalid_request');
  assert.match(rounded.content.message, /petId must be a string of digits/);
  const largest = await call(agent, 'get_stock', { petId: '9223372036854775807' });
  assert.equal(largest.content.code, 'not_found');
});

test('a refusal of the store has its code and message', async (t) => {
  const { key, agent } = await newAgent(t);
  const order = { petId: 20, quantity: 50 };
  const { body } = await store.call('POST', '/store/orders', { key, body: order });
  const refused = await call(agent, 'place_order', { ...order, idempotencyKey: 'too-many' });
  assert.deepEqual(refused, { isError: true, content: { code: body.code, message: body.message } });
  assert.equal((await call(agent, 'add_pet', pet('one'))).isError, false);
  const other = await call(agent, 'add_pet', { ...pet('one'), name: 'Bea' });
  assert.equal(other.content.code, 'idempotency_key_reused');
});

test('all wrong arguments are named, and nothing is changed', async (t) => {
  const { agent } = await newAgent(t);
  const wrong = await call(agent, 'add_pet', { nmae: 'Ada', categoryId: 'one', status: 'new' });
  assert.deepEqual([wrong.isError, wrong.content.code], [true, 'invalid_request']);
  for (const part of [
    '"nmae" is not an argument of add_pet',
    'name must be',
    'categoryId must be',
    'status must be',
    'idempotencyKey must be',
  ])
    assert.ok(wrong.content.message.includes(part), `${part} in ${wrong.content.message}`);
  for (const [given, part] of [
    [{ id: ['1', 'x'] }, 'id must be'],
    [{ limit: 101 }, 'limit must be'],
    [{ cursor: 'bm9uZTox' }, 'cursor must come from'],
    [{ categoryId: '9223372036854775808' }, 'categoryId must be'],
    [{ categoryId: '007' }, 'categoryId must be'],
    [{ constructor: 1 }, '"constructor" is not an argument'],
  ] as const) {
    const { content } = await call(agent, 'find_pets', given);
    assert.equal(content.code, 'invalid_request');
    assert.ok(content.message.includes(part), content.message);
  }
});

test('no refusal is longer than 2 kB, whatever a message quotes or gets wrong', async () => {
  const { key } = await store.addKey('business');
  const wrong = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`"${'🐉'.repeat(100)}${i}`, value]));
  const long = '"\\\u0001🐉'.repeat(5_000);
  const clientInfo = { name: 'x', version: '1' };
  const initialize = (experimental: object) => ({
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: { experimental }, clientInfo },
  });
  for (const message of [
    initialize(wrong(950, 1)),
    initialize(wrong(200, 1)),
    callMessage('find_pets', wrong(950, 1)),
    callMessage('find_pets', wrong(200, 1)),
    callMessage('find_pets', { status: long, limit: long, id: [long], cursor: long }),
    callMessage('add_pet', { name: long, categoryId: long, status: long, idempotencyKey: long }),
    callMessage(long, {}),
    callMessage([long], [long]),
    { method: long },
    { method: 'resources/read', params: { uri: long } },
    { method: 'ping', id: long },
    { method: 'resources/read', params: { uri: long }, id: '\u0001'.repeat(200) },
    { method: 'resources/read', params: { uri: long }, id: '\u0001'.repeat(33) },
    { method: 'ping', id: { [long]: long } },
  ]) {
    const { text, status } = await sendMessage(store, { jsonrpc: '2.0', id: 1, ...message }, { key });
    assert.ok(Buffer.byteLength(text) <= maxRefusalBytes, `${Buffer.byteLength(text)} ${text.slice(0, 300)}`);
    const [, json = text] = /^data: (.*)$/m.exec(text) ?? [];
    const { error, result, code } = JSON.parse(json);
    assert.ok(error?.message || result?.isError || (status === 413 && code), text);
  }
  for (const [name, value] of [
    ['mcp-protocol-version', 'x'.repeat(5_000)],
    ['accept', 'x'.repeat(5_000)],
    ['origin', `http://${'x'.repeat(5_000)}`],
  ] as const) {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const { text, status } = await sendMessage(store, ping, { key, headers: { [name]: value } });
    assert.ok(status >= 400 && text.length <= maxRefusalBytes, text.slice(0, 300));
  }
});

test('an unknown tool is an error that names the tools', async (t) => {
  const { agent } = await newAgent(t);
  await assert.rejects(call(agent, 'buy_pet'), { code: -32_602, message: /no tool "buy_pet".*place_order/ });
});

test('concurrent calls, also of two keys, get their own results', async (t) => {
  const [one, two] = [await newAgent(t), await newAgent(t)];
  const stocks = await Promise.all(
    [1, 2, 5, 6, 13].flatMap((petId) =>
      [one, two].map(async ({ agent }) => [petId, (await call(agent, 'get_stock', { petId })).content.petId]),
    ),
  );
  for (const [asked, got] of stocks) assert.equal(got, asked);
  const added = await Promise.all([one, one, two].map(({ agent }) => call(agent, 'add_pet', pet('same'))));
  const [first, second, other] = added.map(({ content }) => content.id ?? content.code);
  assert.ok(second === first || [first, second].includes('idempotency_key_in_use'), `${first} ${second}`);
  assert.ok(other !== first && other !== second, 'a key of another caller is another one');
});

test('a message without a valid key gets 401 before its body is read', async () => {
  for (const key of [null, 'pet_mistyped']) {
    const answer = await sendMessage(store, '{ no json', { key });
    assert.equal(answer.status, 401);
    assert.match(answer.headers['www-authenticate'] as string, /^Bearer realm="petstore"/);
    assert.equal(answer.body.code, 'unauthorized');
  }
});

test('invalid JSON is -32700, batches are -32600, and huge bodies are refused', async () => {
  for (const text of ['{ no json', '', '{"id":1,"id":2}']) {
    const { status, body } = await sendMessage(store, text);
    assert.deepEqual([status, body.jsonrpc, body.id, body.error.code], [400, '2.0', null, -32_700], text);
  }
  const message = callMessage('get_stock', { petId: 1 });
  const { status, body } = await sendMessage(store, [message, message]);
  assert.deepEqual([status, body.error.code], [400, -32_600]);
  const huge = await sendMessage(store, callMessage('find_pets', { cursor: 'x'.repeat(maxBodyBytes) }));
  assert.deepEqual([huge.status, huge.body.code], [413, 'payload_too_large']);
  const many = await sendMessage(store, callMessage('find_pets', { id: Array(1_001).fill(1) }));
  assert.deepEqual([many.status, many.body.code], [413, 'payload_too_large']);
  for (const headers of [
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/json; charset=iso-8859-1' },
    { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  ]) {
    const { status, body } = await sendMessage(store, message, { headers });
    assert.deepEqual([status, body.code], [415, 'unsupported_media_type']);
  }
});

test('only POST is accepted, at this spelling of the path', async () => {
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const { status, headers } = await store.send(method, '/mcp');
    assert.deepEqual([status, headers.allow], [405, 'POST, OPTIONS']);
  }
  const { status, headers } = await store.send('OPTIONS', '/mcp', { key: null });
  assert.deepEqual(
    [status, headers.allow, headers['access-control-allow-origin']],
    [204, 'POST, OPTIONS', undefined],
  );
  for (const spelling of ['/%6dcp', '/%6Dc%70', '/m%63p/', '//mcp', '/mcp/?x=1'])
    for (const method of ['POST', 'GET', 'OPTIONS']) {
      const { status, body } = await store.send(method, spelling, { key: null, body: {} });
      assert.deepEqual(
        [status, body.message],
        [404, 'This path does not exist. Did you mean /mcp?'],
        spelling,
      );
    }
});

test('web pages of other origins must not send messages, those of this machine may', async () => {
  const message = callMessage('get_stock', { petId: 1 });
  for (const [from, expected] of [
    ['https://evil.example', 403],
    ['null', 403],
    ['http://localhost.evil.example', 403],
    ['http://localhost:6274', 200],
    [new URL(origin).origin, 200],
  ] as const)
    assert.equal((await sendMessage(store, message, { headers: { origin: from } })).status, expected, from);
});

test('refused messages of other origins count for their key or address, and carry its limits', async (t) => {
  const store = await startPetstore(t);
  const { key } = await store.addKey('free');
  const headers = { origin: 'https://evil.example' };
  for (const [from, admitted] of [
    [null, plans.free.perMinute],
    [key, labQuota.perMinute],
  ] as const) {
    const answers = await times(admitted + 1, () => sendMessage(store, '{}', { key: from, headers }));
    for (const [i, answer] of answers.entries()) {
      assert.equal(answer.status, i < admitted ? 403 : 429);
      const { 'x-ratelimit-remaining': remaining, ratelimit, 'retry-after': wait } = answer.headers;
      assert.equal(remaining, String(Math.max(0, admitted - 1 - i)));
      assert.match(ratelimit as string, new RegExp(`^"minute";r=${remaining};`));
      assert.equal(wait === undefined, i < admitted);
    }
  }
});

test('no stream stays open', async () => {
  const listen = {
    jsonrpc: '2.0',
    id: 1,
    method: 'subscriptions/listen',
    params: {
      notifications: { toolsListChanged: true },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };
  const { text } = await sendMessage(store, listen, { headers });
  assert.match(text, /subscriptions\/acknowledged.*"resultType":"complete"/s);
});

test('the request of a call ends when its caller disconnects', async (t) => {
  const { key } = await newAgent(t);
  const delay = { fault: 'delay', delayMs: 30_000, operation: 'listOrders' };
  const { id } = await rehearse(store, [delay], { key });
  const { headers } = requestOf({ key, body: {} }, key);
  const accept = 'application/json, text/event-stream';
  const leaving = request(`${origin}/mcp`, { method: 'POST', headers: { ...headers, accept } });
  leaving.on('error', () => {});
  leaving.end(JSON.stringify(callMessage('find_orders')));
  await until(async () => (await performedOf(store, id, key))[0] === 1);
  leaving.socket?.resetAndDestroy();
  const lines = () => store.log.map((line) => JSON.parse(line)).filter(({ faults }) => faults === 'delay');
  await until(() => lines().length > 0);
  assert.deepEqual([lines()[0].operation, lines()[0].status], ['listOrders', 0]);
});

test('a call has the address of its caller, also behind a proxy', async (t) => {
  const behind = await startPetstore(t, { trustProxy: true });
  const headers = { 'x-forwarded-for': '203.0.113.9' };
  await sendMessage(behind, callMessage('get_stock', { petId: 1 }), { headers });
  const lines = behind.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'answered');
  assert.deepEqual(
    lines.map(({ url, address }) => `${url} ${address}`),
    ['/v1/inventory/1 203.0.113.9', '/mcp 203.0.113.9'],
  );
});

test('calls are recorded, logged and counted as requests of their operation, on the connection of their caller', async (t) => {
  const { key, agent } = await newAgent(t);
  const recording = await startRecording(store, key);
  await call(agent, 'get_stock', { petId: 1 });
  await call(agent, 'add_pet', pet('recorded'));
  await agent.listTools();
  const recorded = await recordedIn(store, recording, key);
  assert.deepEqual(valuesOf(recorded, 'operation', 'status'), ['getInventory 200', 'createPet 201']);
  const { requestId } = recorded[1];
  const lines = store.log.map((line) => JSON.parse(line)).filter(({ reqId }) => reqId === requestId);
  assert.deepEqual(
    lines.map(({ url }) => url),
    ['/v1/pets', '/mcp'],
  );
  assert.equal(lines[0].trace_id, lines[1].trace_id);
  assert.match(await store.metrics(), /petstore_requests_total\{operation="createPet",status="201"\} [1-9]/);
});
