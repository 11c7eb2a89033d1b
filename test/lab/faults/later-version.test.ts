import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../../../src/api/operations.ts';
import { toLargeId } from '../../../src/lab/faults/large-ids.ts';
import { exampleOf, type JsonObject } from '../../../src/reference/description/schemas.ts';
import { description, resolve, validator } from '../../support/description.ts';
import { assertTouched, assertUntouched, endRehearsal, rehearse } from '../../support/lab.ts';
import { type JsonAnswer, type Petstore, startPetstore } from '../../support/petstore.ts';
import { fill } from '../../support/resources.ts';
import { openStream } from '../../support/streams.ts';
import { until } from '../../support/until.ts';
import { idsOf, nextPath } from '../../support/values.ts';

/** The properties that `new-fields` adds. */
const later = ['revision', 'archivedAt', 'labels', 'origin'];

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** A value without the added properties. */
function withoutLater(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutLater);
  if (!isObject(value)) return value === 'reserved' ? 'pending' : value;
  const kept = Object.entries(value).filter(([name]) => !later.includes(name));
  return Object.fromEntries(kept.map(([name, part]) => [name, withoutLater(part)]));
}

/** The objects of a value that are resources: not `previous` of an event, and not empty. */
function resourcesIn(value: unknown, name = ''): object[] {
  if (!isObject(value) || later.includes(name) || name === 'previous') return [];
  const within = Object.entries(value).flatMap(([key, part]) => resourcesIn(part, key));
  return Array.isArray(value) || Object.keys(value).length === 0 ? within : [value, ...within];
}

/** Fails unless an answer without the added properties is as the description says. */
function assertAsToday(path: string, method: string, { status, text }: JsonAnswer): void {
  const { content } = resolve(description.paths[path][method.toLowerCase()].responses[status]);
  const { schema } = (content as Record<string, { schema: JsonObject }>)['application/json'] ?? {};
  const validate = validator(schema as JsonObject);
  assert.ok(validate(withoutLater(JSON.parse(text))), `${text}: ${JSON.stringify(validate.errors)}`);
}

test('under new-fields every object of every response has more properties, and otherwise matches its description', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await fill(store);
  await store.call('PATCH', '/inventory/1', { body: { quantity: 4 } });
  const rehearsal = await rehearse(store, ['new-fields', 'new-status', 'large-ids']);
  let count = 0;
  for (const { id, method, path, body: schema, success } of operations) {
    if (method === 'DELETE' || success.kind === 'stream') continue;
    const body = id === 'updateOrder' ? { quantity: 1 } : schema && exampleOf(schema, true);
    const answer = await store.call(method, path.replaceAll(/{\w+}/g, '1'), { body });
    assert.ok(answer.status < 300, `${id}: ${answer.text}`);
    assertAsToday(path, method, answer);
    assert.ok(answer.headers['petstore-rehearsal']?.includes(`${rehearsal.id}; fault=new-fields`), id);
    const objects = resourcesIn(answer.body);
    count += objects.length;
    for (const object of objects) assert.deepEqual(Object.keys(object).slice(-4), later, id);
    assert.ok(objects.length > 0, id);
  }
  assert.ok(count > 50);
  const names = JSON.stringify(description.components.schemas);
  for (const name of later) assert.ok(!names.includes(`"${name}":`), `${name} is a name of today`);
});

test('under new-fields events of a stream have them too, and errors do not', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, ['new-fields']);
  const refused = await store.call('GET', '/pets/999');
  assert.equal(refused.status, 404);
  assertUntouched(refused);
  const reader = await openStream(t, await store.listen(), { key: store.key });
  await store.call('PATCH', '/pets/1', { body: { name: 'Rex' } });
  await until(() => reader.events.length > 0);
  const [event] = reader.events;
  assert.deepEqual(Object.keys(event ?? {}).slice(-4), later);
  assert.deepEqual(Object.keys(event?.data ?? {}).slice(-4), later);
  assert.deepEqual(Object.keys(event?.previous ?? {}), ['name']);
  assertTouched({ ...reader, status: 200 }, rehearsal, 'new-fields');
});

test('a client can send back values that it read under new-fields and new-status', async (t) => {
  const store = await startPetstore(t);
  await fill(store);
  await store.call('PATCH', '/pets/1', { body: { status: 'pending' } });
  const read = async (path: string) => (await store.call('GET', path)).text;
  const kept = () => Promise.all(['/pets/1', '/categories/1', '/store/webhooks/1'].map(read));
  const before = await kept();
  const rehearsal = await rehearse(store, ['new-fields', 'new-status']);
  for (const [method, path] of [
    ['PUT', '/pets/1'],
    ['PATCH', '/pets/1'],
    ['PUT', '/categories/1'],
    ['PATCH', '/store/orders/2'],
    ['PATCH', '/inventory/2'],
    ['PATCH', '/store/webhooks/1'],
  ] as const) {
    const read = await store.call('GET', path);
    const headers = { 'if-match': read.headers.etag as string };
    const answer = await store.call(method, path, { body: { ...read.body, more: [read.body] }, headers });
    assert.deepEqual([answer.status, answer.body], [200, read.body], path);
    assert.equal(answer.headers.etag, headers['if-match']);
  }
  const pet = await store.call('GET', '/pets/1');
  const created = await store.call('POST', '/pets', { body: pet.body });
  assert.equal(created.body.status, 'reserved');
  await endRehearsal(store, rehearsal.id);
  assert.deepEqual(await kept(), before);
  assert.equal((await store.call('GET', `/pets/${created.body.id}`)).body.status, 'pending');
});

test('an ETag of a later version differs from that of today', async (t) => {
  const store = await startPetstore(t);
  await store.call('PATCH', '/pets/1', { body: { status: 'pending' } });
  const tagOf = async (path: string) => (await store.call('GET', path)).headers.etag as string;
  const statusOf = async (method: string, path: string, tag: string) => {
    const body = method === 'PATCH' ? { categoryId: 1 } : undefined;
    return (await store.call(method, path, { body, headers: { 'if-match': tag } })).status;
  };
  const tags = [await tagOf('/pets/1')];
  for (const faults of [['new-fields'], ['new-status'], ['new-fields', 'new-status']]) {
    await rehearse(store, faults);
    const now = await tagOf('/pets/1');
    assert.equal(await tagOf('/pets?id=1'), now);
    assert.ok(!tags.includes(now), now);
    for (const tag of [...tags, now, `W/${now}`]) {
      const { status } = await store.call('GET', '/pets/1', { headers: { 'if-none-match': tag } });
      assert.equal(status, tag.endsWith(now) ? 304 : 200, tag);
    }
    tags.push(now);
    for (const tag of tags) assert.equal(await statusOf('PATCH', '/pets/1', tag), 200, tag);
  }
  assert.equal(await statusOf('DELETE', '/pets/2', tags[1] as string), 412);
  const status = await statusOf('DELETE', '/pets/2', await tagOf('/pets/2'));
  assert.ok([204, 409].includes(status), 'it is the version that was read');
});

/** Pets of one name, with each status. */
async function addPets(store: Petstore): Promise<Record<string, number>> {
  const ids: Record<string, number> = {};
  for (const status of ['available', 'pending', 'sold']) {
    const { body } = await store.call('POST', '/pets', { body: { name: 'pending', categoryId: 1, status } });
    ids[status] = body.id;
  }
  return ids;
}

test('under new-status pending pets are shown as reserved, and nothing else changes', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await store.call('POST', '/categories', { body: { name: 'pending', description: 'pending' } });
  const ids = await addPets(store);
  const pending = `/pets/${ids.pending}`;
  const paths = ['/pets/1', pending, '/pets', '/inventory', '/store/events', '/categories'];
  const before = await Promise.all(paths.map((path) => store.call('GET', path)));
  const rehearsal = await rehearse(store, ['new-status']);
  for (const [index, path] of paths.entries()) {
    const answer = await store.call('GET', path);
    const usual = before[index]?.text.replaceAll('"status":"pending"', '"status":"reserved"');
    assert.equal(answer.text, usual, path);
    if (usual === before[index]?.text) assertUntouched(answer);
    else assertTouched(answer, rehearsal, 'new-status');
  }
  for (const status of ['reserved', 'pending']) {
    const found = await store.call('GET', `/pets?status=${status}`);
    assert.deepEqual(idsOf(found.body), [ids.pending]);
  }
  await addPets(store);
  const page = await store.call('GET', '/pets?limit=1&status=reserved');
  assert.match(page.headers.link ?? '', /\?limit=1&status=reserved&cursor=\w+>/);
  assert.equal((await store.call('GET', '/pets?status=booked')).status, 400);
  assert.equal((await store.call('GET', '/inventory?status=reserved')).body.length, 2);

  const changed = await store.call('PATCH', '/pets/1', { body: '{"status" : "\\u0072eserved"}' });
  assert.equal(changed.body.status, 'reserved');
  await store.call('PATCH', pending, { body: { status: 'sold', name: 'reserved' } });
  const { body } = await store.call('GET', '/store/events?limit=100');
  for (const { previous } of body.slice(-2)) assert.equal(previous.status, 'reserved');
  await endRehearsal(store, rehearsal.id);
  assert.equal((await store.call('GET', '/pets/1')).body.status, 'pending');
  const sold = { ...before[1]?.body, status: 'sold', name: 'reserved' };
  assert.deepEqual((await store.call('GET', pending)).body, sold);
});

/** The faults that touched an answer, sorted. */
const faultsOf = ({ headers }: JsonAnswer) =>
  [...(headers['petstore-rehearsal'] ?? '').matchAll(/fault=([\w-]+)/g)].map(([, name]) => name).sort();

test('several conditions apply together with a step, each with its mark', async (t) => {
  const store = await startPetstore(t);
  const seen = await store.call('GET', '/pets?limit=100');
  const faults = ['large-ids', 'new-fields', 'new-status', 'small-pages'];
  await rehearse(store, [...faults, { fault: 'empty-page', after: 1 }, 'conflict']);
  const items: object[] = [];
  let next: string | undefined = '/pets?limit=100&status=reserved';
  for (let turn = 0; next; turn++) {
    const page: JsonAnswer = await store.call('GET', next);
    assert.equal(page.body.length === 0, turn === 1, page.text);
    if (turn === 0) assert.deepEqual(faultsOf(page), [...faults].sort());
    else assert.ok(turn > 1 || faultsOf(page).includes('empty-page'));
    items.push(...page.body);
    next = nextPath(page);
  }
  const pendings = seen.body.filter(({ status }: { status: string }) => status === 'pending');
  assert.ok(pendings.length > 2, seen.text);
  const expected = pendings.map((pet: { id: number; categoryId: number }) => ({
    ...{
      ...pet,
      id: Number(toLargeId(String(pet.id))),
      categoryId: Number(toLargeId(String(pet.categoryId))),
    },
  }));
  assert.deepEqual(withoutLater(items), expected);
  const pet = `/pets/${toLargeId(String(pendings[0].id))}`;
  const { headers, body } = await store.call('GET', pet);
  assert.match(headers.etag ?? '', /~L~F~S"$/);
  const change = (tag: string) =>
    store.call('PATCH', pet, { body: { name: body.name }, headers: { 'if-match': tag } });
  const refused = await change(headers.etag as string);
  assert.equal(refused.status, 412);
  assert.deepEqual(faultsOf(refused), ['conflict', 'large-ids']);
  const again = await store.call('GET', pet);
  assert.notEqual(again.body.name, body.name);
  assert.equal((await change(again.headers.etag as string)).status, 200);
});

test('conditions that change values apply to all operations', async (t) => {
  const store = await startPetstore(t);
  for (const fault of ['large-ids', 'new-fields', 'new-status']) {
    const asked = { body: { faults: [{ fault, operation: 'getPet' }] } };
    const { status, body } = await store.send('POST', '/lab/rehearsals', asked);
    const message = `Body property faults[0].operation must be absent: ${fault} applies to all operations.`;
    assert.deepEqual([status, body.message], [400, message]);
  }
});
