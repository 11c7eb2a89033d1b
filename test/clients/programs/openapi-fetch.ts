import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from './petstore.ts';

const [baseUrl, key] = process.argv.slice(2) as [string, string];
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } });

const list = await client.GET('/pets', { params: { query: { status: 'available', id: [1, 2], limit: 1 } } });
assert.deepEqual(
  list.data?.map((pet) => pet.id),
  [1],
);

const created = await client.POST('/pets', {
  params: { header: { 'Idempotency-Key': 'generated-1' } },
  body: { name: 'Smaug', categoryId: 1 },
});
assert.ok(created.data);
const { id: petId } = created.data;

const got = await client.GET('/pets/{petId}', { params: { path: { petId } } });
assert.deepEqual(got.data, created.data);

const patched = await client.PATCH('/pets/{petId}', {
  params: { path: { petId }, header: { 'If-Match': got.response.headers.get('etag') ?? '' } },
  body: { status: 'pending' },
});
const status: 'available' | 'pending' | 'sold' | undefined = patched.data?.status;
assert.equal(status, 'pending');

// The type of an event says what its data is.
const events = await client.GET('/store/events', {
  params: { query: { type: ['pet.created', 'pet.updated'] } },
});
const told = events.data?.flatMap((event) =>
  event.type === 'pet.updated' ? [[event.data.name, event.previous.status]] : [],
);
assert.deepEqual(told, [['Smaug', 'available']]);

const missing = await client.GET('/categories/{categoryId}', { params: { path: { categoryId: 4711 } } });
if (missing.error) {
  const error: components['schemas']['Error'] = missing.error;
  assert.deepEqual([error.code, error.status], ['not_found', 404]);
  const none: undefined = missing.data;
  assert.equal(none, undefined);
} else {
  assert.fail(`a category named ${missing.data.name}`);
}

// The compiler must refuse each of these, and fails where it does not; so does the service.
// @ts-expect-error: a pet is never eaten
const wrongStatus = await client.POST('/pets', { body: { name: 'Rex', categoryId: 1, status: 'eaten' } });
assert.equal(wrongStatus.error?.code, 'invalid_request');
// @ts-expect-error: a pet must have a category
const wrongBody = await client.POST('/pets', { body: { name: 'Rex' } });
assert.equal(wrongBody.error?.code, 'invalid_request');
// @ts-expect-error: an id is a number
const wrongId = await client.GET('/pets/{petId}', { params: { path: { petId: 'one' } } });
assert.equal(wrongId.error?.code, 'invalid_request');
// @ts-expect-error: there is no such path
const wrongPath = await client.GET('/dragons');
assert.equal(wrongPath.response.status, 404);
