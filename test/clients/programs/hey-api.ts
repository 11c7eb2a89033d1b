import assert from 'node:assert/strict';
import { createClient } from './petstore/client/index.ts';
import {
  createPet,
  type Error as ErrorBody,
  getCategory,
  getPet,
  listEvents,
  listPets,
  updatePet,
} from './petstore/index.ts';

const [baseUrl, auth] = process.argv.slice(2) as [string, string];
const client = createClient({ baseUrl, auth });

const list = await listPets({ client, query: { status: 'available', id: [1, 2], limit: 1 } });
assert.deepEqual(
  list.data?.map((pet) => pet.id),
  [1],
);

const created = await createPet({
  client,
  headers: { 'Idempotency-Key': 'generated-2' },
  body: { name: 'Smaug', categoryId: 1 },
});
assert.ok(created.data);
const { id: petId } = created.data;

const got = await getPet({ client, path: { petId } });
assert.deepEqual(got.data, created.data);

const patched = await updatePet({
  client,
  path: { petId },
  headers: { 'If-Match': got.response?.headers.get('etag') ?? '' },
  body: { status: 'pending' },
});
const status: 'available' | 'pending' | 'sold' | undefined = patched.data?.status;
assert.equal(status, 'pending');

// The type of an event says what its data is.
const events = await listEvents({ client, query: { type: ['pet.created', 'pet.updated'] } });
const told = events.data?.flatMap((event) =>
  event.type === 'pet.updated' ? [[event.data.name, event.previous.status]] : [],
);
assert.deepEqual(told, [['Smaug', 'available']]);

const missing = await getCategory({ client, path: { categoryId: 4711 } });
if (missing.error) {
  const error: ErrorBody = missing.error;
  assert.deepEqual([error.code, error.status], ['not_found', 404]);
  const none: undefined = missing.data;
  assert.equal(none, undefined);
} else {
  assert.fail(`a category named ${missing.data.name}`);
}

// The compiler must refuse each of these, and fails where it does not; so does the service.
// @ts-expect-error: a pet is never eaten
const wrongStatus = await createPet({ client, body: { name: 'Rex', categoryId: 1, status: 'eaten' } });
assert.equal(wrongStatus.error?.code, 'invalid_request');
// @ts-expect-error: a pet must have a category
const wrongBody = await createPet({ client, body: { name: 'Rex' } });
assert.equal(wrongBody.error?.code, 'invalid_request');
// @ts-expect-error: an id is a number
const wrongId = await getPet({ client, path: { petId: 'one' } });
assert.equal(wrongId.error?.code, 'invalid_request');
