import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { TSchema } from 'typebox';
import { operations } from '../../../src/api/operations.ts';
import { isId } from '../../../src/foundation/schema.ts';
import type { Operation } from '../../../src/http/operation.ts';
import { exampleOf } from '../../../src/reference/description/schemas.ts';
import { baseUrl } from '../../support/description.ts';
import { assertTouched, assertUntouched, rehearse } from '../../support/lab.ts';
import { type CallOptions, type JsonAnswer, type Petstore, startPetstore } from '../../support/petstore.ts';
import { resources } from '../../support/resources.ts';
import { openStream } from '../../support/streams.ts';
import { until } from '../../support/until.ts';
import { nextPath } from '../../support/values.ts';
import { assertNoSmallId, numberFromAfar, parseExactly, writeExactly } from './exact-ids.ts';

type Found = Record<string, bigint>;

/** Sends a request. Its answer must not contain a stored id. */
async function call(store: Petstore, method: string, path: string, options: CallOptions = {}) {
  const { body, ...rest } = options;
  const answer = await store.call(method, path, {
    ...rest,
    ...(body !== undefined && { body: typeof body === 'string' ? body : writeExactly(body) }),
  });
  assertNoSmallId(answer.text + JSON.stringify(answer.headers));
  return { ...answer, body: answer.body && parseExactly(answer.text) };
}

/** A petstore whose ids differ from all other numbers. A client filled it under large ids alone. */
async function startLarge(t: TestContext) {
  const store = await startPetstore(t, { seed: false });
  await numberFromAfar(store);
  const rehearsal = await rehearse(store, ['large-ids']);
  const found: Found = {};
  for (const { path, param, example } of resources) {
    const answer = await call(store, 'POST', path, { body: { ...example, ...some(found, example) } });
    assert.equal(answer.status, 201, answer.text);
    assertTouched(answer, rehearsal, 'large-ids');
    const { id } = answer.body;
    assert.ok(id > 10n ** 16n && id % 2n === 1n, answer.text);
    assert.equal(answer.headers.location, `${baseUrl}${path}/${id}`);
    found[param] = id;
  }
  const ping = await call(store, 'POST', `/store/webhooks/${found.webhookId}/ping`);
  const events = await call(store, 'GET', '/store/events');
  found.deliveryId = ping.body.id;
  found.eventId = events.body.at(-1).id;
  return { store, rehearsal, found };
}

/** The ids in an object, out of those that were found. */
const some = (found: Found, names: object): Found =>
  Object.fromEntries(Object.entries(found).filter(([name]) => name in names));

const pathOf = ({ path }: Operation, found: Found) =>
  path.replace(/{(\w+)}/g, (_, name) => String(found[name]));

/** Reads come before writes. Removals come last, each before the resource that it refers to. */
const inOrder = [...operations].sort(
  (a, b) => rank(a) - rank(b) || (a.method === 'DELETE' ? operations.indexOf(b) - operations.indexOf(a) : 0),
);

function rank({ method, path }: Operation): number {
  if (path === '/pets/{petId}' && method === 'DELETE') return 3;
  return { GET: 0, POST: 1, PUT: 1, PATCH: 1, DELETE: path.startsWith('/categories') ? 4 : 2 }[method];
}

/** Bodies after which the order is still open. */
const bodies: Record<string, object> = { updateOrder: { quantity: 1 } };

/** The ids of other resources, at any depth of a value. */
function idsIn(value: object): [name: string, id: bigint][] {
  return Object.entries(value).flatMap(([name, part]) => {
    if (typeof part === 'object' && part !== null) return idsIn(part);
    return name.endsWith('Id') && typeof part === 'bigint' ? [[name, part]] : [];
  });
}

/** Fails unless an id leads to its resource. */
async function leadBack(store: Petstore, name: string, id: bigint): Promise<void> {
  for (const { method, path } of operations) {
    if (method !== 'GET' || !path.endsWith(`{${name}}`)) continue;
    const { body } = await call(store, 'GET', path.replace(`{${name}}`, String(id)));
    assert.equal(body.id ?? body.petId, id, path);
  }
}

test('under large-ids no operation shows a stored id, and each shown id can be sent back', async (t) => {
  const { store, rehearsal, found } = await startLarge(t);
  const called: string[] = [];
  for (const operation of inOrder) {
    const { id, method, body: schema, success } = operation;
    if (success.kind === 'stream' || success.kind === 'created') continue;
    const path = pathOf(operation, found);
    const example = bodies[id] ?? (schema && (exampleOf(schema, true) as object));
    const body = example && { body: { ...example, ...some(found, example) } };
    const answer = await call(store, method, path, body);
    assert.ok(answer.status < 300, `${id}: ${answer.status} ${answer.text}`);
    assertTouched(answer, rehearsal, 'large-ids');
    const named = Object.keys(operation.params).at(-1);
    const shown = Array.isArray(answer.body) ? undefined : (answer.body?.id ?? answer.body?.petId);
    if (named && shown !== undefined && id !== 'pingWebhook') assert.equal(shown, found[named], id);
    called.push(id);
    if (method !== 'GET') continue;
    for (const [name, value] of idsIn(answer.body)) await leadBack(store, name, value);

    const head = await call(store, 'HEAD', path);
    const { 'content-length': length, etag } = answer.headers;
    assert.deepEqual([head.headers['content-length'], head.headers.etag], [length, etag], id);
    const known = await call(store, 'GET', path, { headers: { 'if-none-match': etag as string } });
    assert.deepEqual([known.status, known.headers.etag], [304, etag], id);
    assertTouched(known, rehearsal, 'large-ids');
  }
  assert.ok(called.length > 20, called.join());
});

test('under large-ids queries, cursors and links accept the shown ids', async (t) => {
  const { store, found } = await startLarge(t);
  const { petId, categoryId, eventId } = found;
  const body = { name: 'Ada', categoryId };
  const second = (await call(store, 'POST', '/pets', { body })).body.id;
  assert.equal(second, (petId as bigint) + 2n);
  const ids = async (path: string) => (await call(store, 'GET', path)).body.map((item: Found) => item.id);
  assert.deepEqual(await ids(`/pets?id=${petId}&id=${second}`), [petId, second]);
  assert.deepEqual(await ids(`/pets?categoryId=${categoryId}&limit=9`), [petId, second]);
  assert.deepEqual(await ids(`/store/orders?petId=${petId}`), [found.orderId]);
  assert.deepEqual(await ids(`/store/events?after=${eventId}`), [(eventId as bigint) + 2n]);
  for (const { id, success, path: template } of operations) {
    if (success.kind !== 'page') continue;
    const path = template.replace('{webhookId}', String(found.webhookId));
    const whole = (await call(store, 'GET', path)).body;
    const items: unknown[] = [];
    let next: string | undefined = `${path}?limit=1`;
    while (next) {
      const page: JsonAnswer = await call(store, 'GET', next);
      items.push(...page.body);
      next = nextPath(page);
      assert.ok((next ?? `${path}?limit=1&cursor=`).startsWith(`${path}?limit=1&cursor=`), `${next}`);
    }
    assert.deepEqual(items, whole, id);
    assert.ok(items.length > 0, id);
  }
  const known = await call(store, 'GET', `/pets?id=${petId}`);
  const single = await call(store, 'GET', `/pets/${petId}`);
  assert.equal(known.headers.etag, single.headers.etag);
});

test('under large-ids messages contain the shown ids', async (t) => {
  const { store, rehearsal, found } = await startLarge(t);
  const { petId, categoryId, orderId, eventId } = found;
  const refused = async (method: string, path: string, body?: object): Promise<string> => {
    const answer = await call(store, method, path, body && { body });
    assert.ok(answer.status >= 400, answer.text);
    assertTouched(answer, rehearsal, 'large-ids');
    return answer.body.message;
  };
  const setStock = (quantity: number) => call(store, 'PATCH', `/inventory/${petId}`, { body: { quantity } });
  const order = `/store/orders/${orderId}`;
  await setStock(2);
  assert.match(await refused('DELETE', `/pets/${petId}`), new RegExp(`^Order ${orderId} .* pet ${petId}\\.`));
  assert.match(await refused('DELETE', `/categories/${categoryId}`), new RegExp(`^Pet ${petId} belongs`));
  const tooFew = new RegExp(`^Pet ${petId} has too few units in stock: needed 2000, available 2\\.`);
  assert.match(await refused('POST', '/store/orders', { petId, quantity: 2_000 }), tooFew);
  await setStock(2_147_483_647);
  assert.match(await refused('DELETE', order), new RegExp(`pet ${petId} would have more than 2147483647`));
  await setStock(2);
  await call(store, 'PATCH', order, { body: { complete: true } });
  assert.match(await refused('DELETE', order), new RegExp(`^Order ${orderId} is complete`));

  const beyond = (eventId as bigint) + 1_000n;
  const future = await refused('GET', `/store/events?after=${beyond}`);
  assert.match(future, new RegExp(`^Event ${beyond} does not exist yet`));
  await store.db.write((sql) => sql`delete from events where workspace_id = 1 and id <= 540002`);
  const first = 10n ** 16n + 1n;
  const message = await refused('GET', `/store/events?after=${first}`);
  assert.equal(
    message,
    `The events after ${first} are no longer stored. The oldest is 10000000001080007. Read the lists again, and then the events after 10000000001080005.`,
  );
  assert.equal((await store.call('GET', '/store/events?after=0')).body.message, message);
});

test('under large-ids a stream shows, and accepts, the large ids', async (t) => {
  const { store, found, rehearsal } = await startLarge(t);
  const origin = await store.listen();
  const { key } = store;
  const name = 'A\u2028id: 540001\ndata: 540001';
  const body = { name, description: 'd\u2029', ...some(found, { categoryId: 0 }) };
  const reader = await openStream(t, origin, { key, query: `?after=${found.eventId}` });
  const filtered = await openStream(t, origin, { key, query: '?type=pet.deleted' });
  await store.call('POST', '/pets', { body: writeExactly(body) });
  await until(() => reader.text.includes('pet.created') && /\nid: \d+\n\n$/.test(filtered.text));
  const next = (found.eventId as bigint) + 2n;
  assert.match(reader.text, new RegExp(`\nid: ${next}\nevent: pet.created\ndata: {"id":${next},"type"`));
  const data = /\ndata: (.*)\n\n$/s.exec(reader.text)?.[1] as string;
  assert.deepEqual(parseExactly(data).data, {
    id: (found.petId as bigint) + 2n,
    name,
    categoryId: found.categoryId,
    status: 'available',
  });
  assertNoSmallId(reader.text.replaceAll(JSON.stringify(name), '""'));
  assert.match(filtered.text, new RegExp(`\nid: ${next}\n\n$`));
  assert.equal(reader.headers['last-event-id'], String(found.eventId));
  assertTouched({ ...reader, status: 200 }, rehearsal, 'large-ids');

  const resumed = await openStream(t, origin, { key, headers: { 'last-event-id': String(found.eventId) } });
  await until(() => resumed.text.includes('data: '));
  const [first] = reader.text.match(/^id: .*?\n\n/ms) ?? [];
  assert.ok(first && resumed.text.includes(first));
});

test('under large-ids integers that are not ids stay unchanged', async (t) => {
  const store = await startPetstore(t);
  const schemas: string[] = [];
  const walk = (schema: TSchema, name: string): void => {
    const { format, anyOf, items, properties } = schema as {
      format?: string;
      anyOf?: TSchema[];
      items?: TSchema;
      properties?: Record<string, TSchema>;
    };
    if (format === 'int64') schemas.push(`${name}: ${isId(schema)}`);
    for (const part of [...(anyOf ?? []), ...(items ? [items] : [])]) walk(part, name);
    for (const [key, part] of Object.entries(properties ?? {})) walk(part, key);
  };
  for (const { params, query, body, success } of operations) {
    for (const [name, schema] of Object.entries({ ...params, ...query })) walk(schema, name);
    for (const schema of [body, success.schema]) if (schema) walk(schema, '');
  }
  assert.deepEqual(
    [...new Set(schemas)].filter((one) => one.endsWith('false')),
    ['count: false', 'durationMs: false'],
  );
  assertUntouched(await store.call('GET', '/inventory/1'));
  const { body } = await store.call('GET', '/inventory/1');
  await rehearse(store, ['large-ids']);
  const shown = await store.call('GET', '/inventory/1');
  assert.deepEqual(parseExactly(shown.text), { ...body, petId: 10_000_000_000_000_003n });
});

test('under large-ids the successor link has the shown id', async (t) => {
  const dates = { since: '2026-01-01', sunset: '2030-01-01' };
  const served = operations.map((one) =>
    one.id === 'getInventory' ? { ...one, deprecated: { ...dates, successor: 'updatePet' } } : one,
  );
  const store = await startPetstore(t, { operations: served });
  await rehearse(store, ['large-ids']);
  for (const id of ['1', '10000000000000003']) {
    const headers = { 'x-api-key': store.key };
    const answer = await store.app.inject({ url: `/v1/inventory/${id}`, headers });
    assert.equal(answer.statusCode, 200, answer.body);
    assert.match(String(answer.headers.link), /\/pets\/10000000000000003>; rel="successor-version"/);
  }
});
