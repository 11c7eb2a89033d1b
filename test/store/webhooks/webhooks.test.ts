import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identifier } from '../../../src/db/sql.ts';
import { tables } from '../../../src/db/tables.ts';
import { maxWebhooks, type Plan, planNames } from '../../../src/foundation/settings/plans.ts';
import { deleteOldDeliveries } from '../../../src/store/webhooks/delivery-store.ts';
import { previousSecretMs } from '../../../src/store/webhooks/webhook-store.ts';
import { clearWorkspace } from '../../../src/store/workspaces/store.ts';
import { description } from '../../support/description.ts';
import { deliveriesOf } from '../../support/dispatching.ts';
import { ample, type CallOptions, type Petstore, startPetstore } from '../../support/petstore.ts';
import { idsOf, nextPage, statusesOf } from '../../support/values.ts';

const url = 'https://example.com/hooks?token=abc';
const dayMs = 86_400_000;

const create = (store: Petstore, body: object = { url }, options: CallOptions = {}) =>
  store.call('POST', '/store/webhooks', { body, ...options });

test('a webhook is added, read, changed and removed', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const createdAt = new Date(store.nowMs).toISOString();
  const body = { url, types: ['pet.created'], description: 'Mine.' };
  const added = await create(store, body);
  assert.equal(added.status, 201, added.text);
  assert.match(added.headers.location ?? '', /\/v1\/store\/webhooks\/1$/);
  const { secret, ...webhook } = added.body;
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.deepEqual(webhook, { id: 1, ...body, enabled: true, createdAt });
  assert.deepEqual((await store.call('GET', '/store/webhooks/1')).body, webhook);

  const changes = { types: null, description: null, enabled: false };
  const patched = await store.call('PATCH', '/store/webhooks/1', { body: changes });
  assert.deepEqual(patched.body, { id: 1, url, enabled: false, createdAt });
  assert.equal((await create(store)).body.id, 2);
  const listed = await store.call('GET', '/store/webhooks?limit=1');
  assert.deepEqual(listed.body, [patched.body]);
  assert.ok(nextPage(listed));

  assert.equal((await store.call('DELETE', '/store/webhooks/1')).status, 204);
  assert.equal((await store.call('GET', '/store/webhooks/1')).status, 404);
  assert.equal((await create(store)).body.id, 3);
});

test('a forbidden URL and unknown types are refused', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await create(store);
  for (const bad of [
    'http://example.com/',
    'https://10.0.0.1/',
    'https://user@example.com/',
    'https://petstore.example.com/v1',
    'http://localhost:8080/',
    'hello',
    '',
  ]) {
    for (const answer of [
      await create(store, { url: bad }),
      await store.call('PATCH', '/store/webhooks/1', { body: { url: bad } }),
    ]) {
      assert.equal(answer.body.code, 'invalid_request', bad);
      assert.match(answer.body.message, /^Body property url must be /);
    }
  }
  for (const types of [[], ['ping'], ['pet.created', 'pet.created'], 'pet.created']) {
    const { body } = await create(store, { url, types });
    assert.match(
      body.message,
      /^Body property types must be 1 to \d+ different values, each one of category/,
    );
  }
  const none = await create(store, {});
  assert.match(none.body.message, /Body property url must be .*; it is missing/);
});

test('the plan of the key that adds a webhook limits their number', async (t) => {
  const store = await startPetstore(t, { seed: false });
  let count = 0;
  for (const plan of planNames) {
    const { key } = await store.addKey(plan, plan === 'enterprise' ? ample : undefined);
    for (; count < maxWebhooks[plan as Plan]; count++)
      assert.equal((await create(store, { url }, { key })).status, 201);
    const refused = await create(store, { url }, { key });
    assert.deepEqual([refused.status, refused.body.code], [409, 'conflict'], plan);
    assert.ok(refused.body.message.includes(`allows ${count}`), refused.text);
  }
  assert.deepEqual(Object.values(maxWebhooks), [2, 10, 50, 100]);
  await store.call('DELETE', '/store/webhooks/7');
  assert.equal((await create(store)).status, 201, 'one that is removed makes room');
});

test('of webhooks that are added at once, no more than the limit are created', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const { key } = await store.addKey('free');
  const answers = await Promise.all(Array.from({ length: 8 }, () => create(store, { url }, { key })));
  assert.deepEqual(statusesOf(answers).sort(), [201, 201, 409, 409, 409, 409, 409, 409]);
});

/** The whole database as text. */
async function dump(store: Petstore): Promise<string> {
  const rows = tables.map(({ name }) => store.db.read`select * from ${identifier(name)}`);
  return JSON.stringify(await Promise.all(rows));
}

test('a secret is shown once, and is nowhere in the database', async (t) => {
  const store = await startPetstore(t, { seed: false, logLevel: 'trace' });
  const headers = { 'idempotency-key': 'one' };
  const first = await create(store, { url }, { headers });
  const again = await create(store, { url }, { headers });
  assert.equal(again.headers['idempotency-replayed'], 'true');
  assert.deepEqual([again.status, again.text], [201, first.text], 'the same secret comes again');
  const other = { 'idempotency-key': 'two' };
  const rotate = () => store.call('POST', '/store/webhooks/1/rotate-secret', { headers: other });
  const rotated = await rotate();
  assert.equal((await rotate()).text, rotated.text, 'and is not replaced twice');
  assert.notEqual(rotated.body.secret, first.body.secret);

  for (const path of ['/store/webhooks', '/store/webhooks/1', '/store/events'])
    assert.doesNotMatch((await store.call('GET', path)).text, /whsec_/);
  const kept = await dump(store);
  for (const { secret } of [first.body, rotated.body]) {
    assert.ok(!kept.includes('whsec_'));
    assert.ok(!kept.includes(secret.slice('whsec_'.length)));
    assert.ok(!store.log.join().includes(secret.slice('whsec_'.length)));
  }
});

test('an Idempotency-Key of a POST without a body belongs to its path', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await create(store);
  await create(store);
  const headers = { 'idempotency-key': 'one' };
  const ping = (id: number) => store.call('POST', `/store/webhooks/${id}/ping`, { headers });
  const first = await ping(1);
  assert.equal((await ping(1)).text, first.text);
  assert.equal((await ping(2)).body.code, 'idempotency_key_reused');
});

test('the ETag of a new webhook, and of a rotation, is that of the webhook without its secret', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const { headers } = await create(store);
  assert.equal((await store.call('GET', '/store/webhooks/1')).headers.etag, headers.etag);
  const change = async (method: string, etag = '', body?: object) =>
    (await store.call(method, '/store/webhooks/1', { body, headers: { 'if-match': etag } })).status;
  assert.equal(await change('PATCH', '"other"', { enabled: false }), 412);
  assert.equal(await change('PATCH', headers.etag, { enabled: false }), 200);
  assert.equal(await change('PATCH', headers.etag, { enabled: false }), 412);
  const rotated = await store.call('POST', '/store/webhooks/1/rotate-secret');
  const { body, headers: own } = await store.call('GET', '/store/webhooks/1');
  assert.equal(own.etag, rotated.headers.etag);
  assert.equal(body.previousSecretValidUntil, new Date(store.nowMs + previousSecretMs).toISOString());
  assert.equal(await change('DELETE', headers.etag), 412);
});

test('a ping is a pending delivery until it is sent, and lists show the newest first', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await create(store);
  await create(store);
  const pings = [];
  for (const id of [1, 2, 1, 1]) pings.push((await store.call('POST', `/store/webhooks/${id}/ping`)).body);
  assert.equal(new Set(pings.map(({ messageId }) => messageId)).size, 4);
  assert.match(pings[0].messageId, /^evt_[a-z0-9]+$/);
  const { messageId: _, ...ping } = pings[3];
  const createdAt = new Date(store.nowMs).toISOString();
  assert.deepEqual(ping, { id: 4, webhookId: 1, type: 'ping', state: 'pending', attempts: [], createdAt });

  const page = await store.call('GET', '/store/webhooks/1/deliveries?limit=2&state=pending');
  assert.deepEqual(page.body, [pings[3], pings[2]]);
  assert.deepEqual((await store.call('GET', nextPage(page) as string)).body, [pings[0]]);
  assert.deepEqual((await store.call('GET', '/store/webhooks/1/deliveries?state=failed')).body, []);
  assert.equal((await store.call('GET', '/store/webhooks/3/deliveries')).status, 404);

  assert.equal((await store.call('POST', '/store/webhooks/1/deliveries/4/redeliver')).status, 202);
  assert.equal((await store.call('POST', '/store/webhooks/2/deliveries/4/redeliver')).status, 404);
  assert.equal((await store.call('POST', '/store/webhooks/3/ping')).status, 404);
});

test('at most ten pings of a webhook wait to be sent', async (t) => {
  const store = await startPetstore(t, { seed: false });
  for (let i = 0; i < 2; i++) await create(store);
  const ping = async (id: number) => (await store.call('POST', `/store/webhooks/${id}/ping`)).status;
  for (let i = 0; i < 10; i++) assert.equal(await ping(1), 202);
  assert.deepEqual([await ping(1), await ping(2)], [409, 202]);
});

test('a disabled webhook refuses pings and redeliveries', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await create(store);
  await store.call('POST', '/store/webhooks/1/ping');
  await store.call('PATCH', '/store/webhooks/1', { body: { enabled: false } });
  for (const path of ['/ping', '/deliveries/1/redeliver']) {
    const { status, body } = await store.call('POST', `/store/webhooks/1${path}`);
    assert.deepEqual([status, body.code], [409, 'conflict']);
  }
});

test('deliveries are removed with their webhook, by age, and by number once they are finished', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await create(store);
  await create(store);
  const ping = (id: number) => store.call('POST', `/store/webhooks/${id}/ping`);
  await ping(1);
  await ping(2);
  store.nowMs += 5 * dayMs;
  for (let i = 0; i < 4; i++) await ping(2);
  const ids = async (webhook: number) => idsOf(await deliveriesOf(store, webhook));
  const forget = (maxAgeMs: number, maxCount: number) =>
    deleteOldDeliveries(store.db, { maxAgeMs, maxCount }, store.nowMs);
  await forget(7 * dayMs, 100);
  assert.deepEqual([await ids(1), await ids(2)], [[1], [6, 5, 4, 3, 2]]);
  await forget(dayMs, 100);
  assert.deepEqual([await ids(1), await ids(2)], [[], [6, 5, 4, 3]]);
  await store.db.write(
    (sql) => sql`update deliveries set state = 'delivered', next_attempt_at_ms = null where id <> 3`,
  );
  await forget(7 * dayMs, 2);
  assert.deepEqual(await ids(2), [6, 5, 3]);
  await store.call('DELETE', '/store/webhooks/2');
  await forget(7 * dayMs, 100);
  assert.deepEqual(await store.db.read`select * from deliveries`, []);
});

test('a reset keeps webhooks and their deliveries, and their ids continue', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await create(store);
  const ping = (await store.call('POST', '/store/webhooks/1/ping')).body;
  await store.change((sql) => clearWorkspace(sql, 1));
  assert.deepEqual((await store.call('GET', '/store/webhooks/1/deliveries')).body, [ping]);
  assert.equal((await create(store)).body.id, 2);
  assert.equal((await store.call('POST', '/store/webhooks/2/ping')).body.id, 2);
});

test('the description shows receivers the messages, as callbacks and as x-webhooks', () => {
  const { callbacks } = description.paths['/store/webhooks'].post;
  const { post } = callbacks.event['{$request.body#/url}'];
  const { schema } = post.requestBody.content['application/json'];
  assert.deepEqual(schema, { $ref: '#/components/schemas/Event' });
  const names = post.parameters.map(({ name }: { name: string }) => name);
  assert.deepEqual(names, ['webhook-id', 'webhook-timestamp', 'webhook-signature']);
  assert.deepEqual(description['x-webhooks'].event.post, { ...post, operationId: 'receiveEvent' });
  assert.deepEqual(Object.keys(description['x-webhooks']), ['event', 'ping', 'eventsMissed']);
});
