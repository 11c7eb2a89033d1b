import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from './petstore.js';

type ErrorBody = components['schemas']['Error'];

const { PETSTORE_BASE_URL: baseUrl, PETSTORE_API_KEY: key, PETSTORE_FREE_KEY: freeKey } = process.env;
const clientOf = (key?: string) =>
  createClient<paths, 'application/json'>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
const client = clientOf(key);

/** The response of a successful request. */
function dataOf<T>({ data, error }: { data?: T; error?: ErrorBody }): T {
  if (!data) throw new Error(error?.message);
  return data;
}

/** The error of a refused request. */
const textOf = ({ error }: { error?: ErrorBody }) => `${error?.status} ${error?.code}`;

// The same request with the same key adds nothing.
const create = () =>
  client.POST('/pets', {
    params: { header: { 'Idempotency-Key': 'tour' } },
    body: { name: 'Smaug', categoryId: 4 },
  });
const created = dataOf(await create());
console.log(`created ${created.id}: ${created.name}`);
const again = dataOf(await create());
console.log(`again ${again.id}: ${again.name}`);

const sizes: number[] = [];
let cursor: string | undefined;
do {
  const page = await client.GET('/pets', { params: { query: { limit: 8, cursor } } });
  sizes.push(dataOf(page).length);
  const next = page.response.headers.get('Link')?.match(/<([^>]+)>; rel="next"/)?.[1];
  cursor = next && (new URL(next).searchParams.get('cursor') as string);
} while (cursor);
console.log(`pages of ${sizes.join(', ')}`);

const renamed = dataOf(
  await client.PATCH('/pets/{petId}', {
    params: { path: { petId: created.id } },
    body: { name: 'Smaug the Golden' },
  }),
);
console.log(`renamed ${renamed.id}: ${renamed.name}`);

const place = (quantity: number) => client.POST('/store/orders', { body: { petId: 13, quantity } });
const order = dataOf(await place(2));
console.log(`ordered ${order.id}: ${order.quantity} of ${order.petId}, complete: ${order.complete}`);
const path = { orderId: 9 };
const { response } = await client.GET('/store/orders/{orderId}', { params: { path } });
const complete = () =>
  client.PATCH('/store/orders/{orderId}', {
    params: { path, header: { 'If-Match': response.headers.get('ETag') ?? '' } },
    body: { complete: true },
  });
const changed = dataOf(await complete());
console.log(`changed ${changed.id}: ${changed.quantity} of ${changed.petId}, complete: ${changed.complete}`);

const events = await client.GET('/store/events', {
  params: { query: { type: ['pet.created', 'pet.updated'] } },
});
for (const event of dataOf(events)) {
  if (event.type === 'pet.created') console.log(`${event.type}: ${event.data.name}`);
  if (event.type === 'pet.updated')
    console.log(`${event.type}: ${event.data.name}, was ${event.previous.name}`);
}

// Expected errors. With a key of a small plan, also limits.
if (freeKey) {
  console.log(textOf(await complete()));
  console.log(
    textOf(await client.GET('/categories/{categoryId}', { params: { path: { categoryId: 4711 } } })),
  );
  console.log(textOf(await place(1000)));
  console.log(textOf(await clientOf('pet_mistyped').GET('/pets')));

  const free = clientOf(freeKey);
  const ask = () => free.GET('/pets', { params: { query: { limit: 1 } } });
  let answer = await ask();
  for (let asked = 1; !answer.error && asked < 130; asked++) answer = await ask();
  const field = (name: string) => answer.response.headers.get(name);
  const waitSeconds = Math.max(
    Number(field('X-RateLimit-Reset')) - Date.now() / 1000,
    Number(field('Retry-After')),
  );
  const waits = waitSeconds > 0 && waitSeconds <= 60 ? 'within 60 s' : `after ${waitSeconds} s`;
  console.log(
    `${textOf(answer)}: limit ${field('X-RateLimit-Limit')}, remaining ${field('X-RateLimit-Remaining')}, reset and retry ${waits}`,
  );

  // The compiler must refuse each of these, or this file fails. The service refuses them too.
  const refusals = [
    // @ts-expect-error: a pet is never eaten
    await client.POST('/pets', { body: { name: 'Rex', categoryId: 1, status: 'eaten' } }),
    // @ts-expect-error: a pet must have a category
    await client.POST('/pets', { body: { name: 'Rex' } }),
    // @ts-expect-error: an id is a number
    await client.GET('/store/orders/{orderId}', { params: { path: { orderId: 'one' } } }),
  ];
  for (const { error } of refusals) assert.equal(error?.code, 'invalid_request');
  // @ts-expect-error: there is no such path
  const wrongPath = await client.GET('/dragons');
  assert.equal(wrongPath.response.status, 404);
}
