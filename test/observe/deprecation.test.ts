import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../../src/api/operations.ts';
import { operation } from '../../src/http/operation.ts';
import { created, empty, page } from '../../src/http/responses.ts';
import { describeStore } from '../../src/reference/description/apis.ts';
import type { JsonObject } from '../../src/reference/description/schemas.ts';
import { NewPet, Pet, Pets, petId } from '../../src/store/resources/pets/schema.ts';
import { baseUrl } from '../support/description.ts';
import { startWithKey, times } from '../support/limits.ts';
import { type Petstore, requestOf, startPetstore } from '../support/petstore.ts';
import { statusesOf } from '../support/values.ts';
import { valueIn } from './metrics.ts';

const sunset = '2030-12-05T00:00:00Z';

test('every response of a deprecated operation has its dates and its successor', async (t) => {
  const { store, ask } = await startWithKey(t, { perMinute: 1, perDay: 100 });
  const guide = 'http://localhost:8080/reference#tag/versioning';
  const found = await store.call('GET', '/pets/1');
  const known = { 'if-none-match': found.headers.etag as string };
  const answers = [
    found,
    await store.call('GET', '/pets/4711'),
    await store.call('GET', '/pets/x'),
    await store.call('GET', '/pets/1', { headers: known }),
    await store.call('HEAD', '/pets/1'),
    await store.call('GET', '/pets/1', { key: null }),
    ...(await times(13, ask)),
  ];
  assert.deepEqual([...new Set(statusesOf(answers))], [200, 404, 400, 304, 401, 429, 403]);
  for (const { headers } of answers) {
    assert.equal(headers.deprecation, '@1764892800');
    assert.equal(headers.sunset, 'Thu, 05 Dec 2030 00:00:00 GMT');
    assert.equal(
      headers.link,
      `<http://localhost:8080/v1/pets>; rel="successor-version", <${guide}>; rel="deprecation"; type="text/html", <${guide}>; rel="sunset"; type="text/html"`,
    );
  }
  assert.ok(!('deprecation' in (await store.call('GET', '/categories/1')).headers));
});

test('only with an enforced sunset the operation returns 410 from that moment, and names the successor', async (t) => {
  const lenient = await startPetstore(t);
  lenient.nowMs = Date.parse(sunset) + 1;
  assert.equal((await lenient.call('GET', '/pets/1')).status, 200);
  const store = await startPetstore(t, { enforceSunset: true });
  store.nowMs = Date.parse(sunset) - 1;
  assert.equal((await store.call('GET', '/pets/1')).status, 200);
  store.nowMs = Date.parse(sunset);
  const { status, body, headers } = await store.call('GET', '/pets/1');
  assert.deepEqual([status, body.code], [410, 'gone']);
  assert.match(body.message, /2030-12-05.*GET \/pets\b/);
  assert.ok(headers.sunset);
  assert.equal((await store.call('HEAD', '/pets/1')).status, 410);
  assert.equal((await store.call('GET', '/pets?id=1')).body[0].name, 'Bella');
  assert.equal((await store.call('PUT', '/pets/1', { body: { name: 'B', categoryId: 1 } })).status, 200);
});

test('the log lists once a day the keys that still call a deprecated operation, and their number', async (t) => {
  const store = await startPetstore(t);
  const { key, keyId, workspaceId } = await store.addWorkspace('second', true);
  const logged = () => store.log.map((line) => JSON.parse(line)).filter(({ msg }) => /deprecated/.test(msg));
  const metric = async (name: string) => valueIn(await store.metrics(), `${name}{operation="getPet"}`);
  await store.call('GET', '/categories/1', { key });
  await store.call('GET', '/pets/1', { key: null });
  // The router treats this as a pet without an id.
  await store.call('GET', '/pets/', { key });
  assert.deepEqual(logged(), []);
  for (const path of ['/pets/1', '/pets/2', '/pets/4711']) await store.call('GET', path, { key });
  assert.equal(logged().length, 1);
  const [{ operation, ...line }] = logged();
  assert.deepEqual([operation, line.keyId, line.workspaceId], ['getPet', keyId, workspaceId]);
  await store.call('GET', '/pets/1');
  assert.equal(logged().length, 2);
  assert.equal(await metric('petstore_deprecated_requests_total'), 4);
  assert.equal(await metric('petstore_deprecated_callers'), 2);
  store.nowMs += 24 * 60 * 60 * 1000;
  assert.equal(await metric('petstore_deprecated_callers'), 0);
  await store.call('GET', '/pets/1', { key });
  assert.equal(logged().length, 3);
  assert.equal(await metric('petstore_deprecated_requests_total'), 5);
  assert.equal(await metric('petstore_deprecated_callers'), 1);
});

/** Operations for these tests only, each deprecated. */
const dates = { since: '2026-01-01', sunset: '2027-06-01' };
const replacedBy = (successor: string) => ({
  ...({ tag: 'Pets', summary: 'Made up', description: 'Made up.' } as const),
  deprecated: { ...dates, successor },
});
let handled = 0;
const bella: Pet = { id: 1, name: 'Bella', categoryId: 1, status: 'available' };
const renamePet = operation({
  ...replacedBy('updatePet'),
  ...{ id: 'renamePet', method: 'POST', path: '/pets/{petId}/name' },
  params: { petId },
  body: NewPet,
  success: created(Pet, 'Renamed.'),
  handle: async () => {
    handled++;
    return bella;
  },
});
const dropPets = operation({
  ...replacedBy('deletePet'),
  ...{ id: 'dropPets', method: 'DELETE', path: '/pets' },
  success: empty('Gone.'),
  handle: async () => {},
});
const allPets = operation({
  ...replacedBy('listPets'),
  ...{ id: 'allPets', method: 'GET', path: '/all-pets' },
  success: page<Pet>(Pets, 'Some.'),
  handle: async () => ({ items: [bella], next: 1 }),
});
const served = [...operations, renamePet, dropPets, allPets];

/** Sends a request that the description does not know. */
async function send(store: Petstore, method: 'POST' | 'DELETE' | 'GET', path: string, options = {}) {
  const { headers, payload } = requestOf(options, store.key);
  return store.app.inject({ method, url: `/v1${path}`, headers, ...(payload !== undefined && { payload }) });
}

/** The target of the successor link, below the base URL. */
function successorIn({ headers }: { headers: { link?: unknown } }): string {
  const [, target = ''] = /<([^<>]*)>; rel="successor-version"/.exec(String(headers.link)) ?? [];
  assert.ok(target.startsWith(baseUrl), String(headers.link));
  return target.slice(baseUrl.length);
}

test('every response of a deprecated POST links to the successor with the id of the request', async (t) => {
  const store = await startPetstore(t, { operations: served });
  const body = { name: 'Bella', categoryId: 1 };
  for (const [status, options] of [
    [201, { body }],
    [400, { body: '{' }],
    [401, { body, key: null }],
    [413, { body: 'x'.repeat(70_000) }],
    [415, { body, headers: { 'content-type': 'text/plain' } }],
  ] as const) {
    const answer = await send(store, 'POST', '/pets/7/name', options);
    assert.equal(answer.statusCode, status);
    assert.equal(answer.headers.deprecation, '@1767225600');
    assert.equal(answer.headers.sunset, 'Tue, 01 Jun 2027 00:00:00 GMT');
    assert.equal(successorIn(answer), '/pets/7');
  }
});

test("if the successor's path needs a parameter that the request lacks, the link leads to its description", async (t) => {
  const store = await startPetstore(t, { operations: served });
  const description = (await send(store, 'GET', '/openapi.json')).json();
  for (const [method, path, successor] of [
    ['DELETE', '/pets', 'deletePet'],
    ...['1..', '%3E%3B%20rel=next', '1'.repeat(101)].map(
      (id) => ['POST', `/pets/${id}/name`, 'updatePet'] as const,
    ),
  ] as const) {
    const answer = await send(store, method, path, method === 'POST' ? { body: {} } : {});
    const [document, pointer = ''] = successorIn(answer).split('#');
    assert.equal(document, '/openapi.json');
    const steps = decodeURIComponent(pointer).split('/').slice(1);
    const found = steps.reduce((at, step) => at[step.replaceAll('~1', '/')], description);
    assert.equal(found.operationId, successor, path);
  }
});

test('after an enforced sunset a deprecated POST always gets 410, names its successor, and changes nothing', async (t) => {
  const store = await startPetstore(t, { operations: served, enforceSunset: true });
  store.nowMs = Date.parse(dates.sunset);
  handled = 0;
  for (const options of [
    { body: { name: 'Bella', categoryId: 1 } },
    { body: '{' },
    {},
    { body: 'x', headers: { 'content-type': 'text/plain' } },
  ]) {
    const answer = await send(store, 'POST', '/pets/7/name', options);
    const message = 'This operation ended at its sunset (2027-06-01). Use PATCH /pets/{petId} instead.';
    assert.equal(answer.statusCode, 410);
    assert.deepEqual(answer.json(), { code: 'gone', message, status: 410 });
    assert.equal(successorIn(answer), '/pets/7');
  }
  assert.equal(handled, 0);
});

test('the description of a deprecated operation names the method and the path of its successor', () => {
  const description = describeStore(served, baseUrl);
  const paths = description.paths as Record<string, Record<string, JsonObject>>;
  for (const [described, successor] of [
    [paths['/pets/{petId}/name']?.post, 'PATCH /pets/{petId}'],
    [paths['/pets']?.delete, 'DELETE /pets/{petId}'],
    [paths['/all-pets']?.get, 'GET /pets'],
  ] as [JsonObject, string][]) {
    const sentence = `**Deprecated** since 2026-01-01. Its sunset is 2027-06-01: it may be removed from then on. Use \`${successor}\` instead.`;
    assert.equal(described.description, `Made up.\n\n${sentence}`);
    assert.deepEqual([described.deprecated, described['x-sunset']], [true, '2027-06-01']);
    const { 408: _, 431: __, 505: ___, ...responses } = described.responses as Record<string, JsonObject>;
    assert.ok('410' in responses);
    for (const response of Object.values(responses))
      for (const name of ['Deprecation', 'Sunset', 'Link'])
        assert.ok(name in (response.headers as JsonObject));
  }
});

test('a page of a deprecated list links the next page and the successor, and its description says so', async (t) => {
  const store = await startPetstore(t, { operations: served });
  const { headers } = await send(store, 'GET', '/all-pets');
  assert.equal(successorIn({ headers }), '/pets');
  assert.match(String(headers.link), /all-pets\?cursor=[^<>]*>; rel="next"/);
  const { components } = describeStore(served, baseUrl) as {
    components: { headers: Record<string, JsonObject> };
  };
  assert.match(String(components.headers.LifecyclePageLink?.description), /rel="next"/);
});

test('a successor that is no operation stops the start with an error that names it', async (t) => {
  const wrong = { ...renamePet, deprecated: { ...dates, successor: 'patchPet' } };
  const { app } = await startPetstore(t, { seed: false, operations: [...operations, wrong] });
  const error = { message: 'renamePet has patchPet as its successor, which is not an operation.' };
  await assert.rejects(async () => app.ready(), error);
  assert.throws(() => describeStore([wrong], baseUrl), error);
});
