import assert from 'node:assert/strict';
import * as petstore from './petstore.js';

const { PETSTORE_API_KEY: key, PETSTORE_FREE_KEY: freeKey } = process.env;
const options = (headers: Record<string, string> = {}, authorizedBy = key) => ({
  headers: { ...headers, Authorization: `Bearer ${authorizedBy}` },
});

/** The error of a refused request. */
function textOf({ status, data }: { status: number; data: unknown }): string {
  const { code } = data as petstore.Error;
  return `${status} ${code}`;
}

// The same request with the same key adds nothing.
const create = () =>
  petstore.createPet({ name: 'Smaug', categoryId: 4 }, options({ 'Idempotency-Key': 'tour' }));
const created = await create();
assert.equal(created.status, 201);
console.log(`created ${created.data.id}: ${created.data.name}`);
const again = await create();
assert.equal(again.status, 201);
console.log(`again ${again.data.id}: ${again.data.name}`);

const sizes: number[] = [];
let cursor: string | undefined;
do {
  const page = await petstore.listPets({ limit: 8, cursor }, options());
  assert.equal(page.status, 200);
  sizes.push(page.data.length);
  const next = page.headers.get('Link')?.match(/<([^>]+)>; rel="next"/)?.[1];
  cursor = next && (new URL(next).searchParams.get('cursor') as string);
} while (cursor);
console.log(`pages of ${sizes.join(', ')}`);

const renamed = await petstore.updatePet(created.data.id, { name: 'Smaug the Golden' }, options());
assert.equal(renamed.status, 200);
console.log(`renamed ${renamed.data.id}: ${renamed.data.name}`);

const place = (quantity: number) => petstore.placeOrder({ petId: 13, quantity }, options());
const placed = await place(2);
assert.equal(placed.status, 201);
const order = placed.data;
console.log(`ordered ${order.id}: ${order.quantity} of ${order.petId}, complete: ${order.complete}`);
const { headers } = await petstore.getOrder(9, options());
const etag = headers.get('ETag') ?? '';
const complete = () => petstore.updateOrder(9, { complete: true }, options({ 'If-Match': etag }));
const completed = await complete();
assert.equal(completed.status, 200);
const changed = completed.data;
console.log(`changed ${changed.id}: ${changed.quantity} of ${changed.petId}, complete: ${changed.complete}`);

const events = await petstore.listEvents({ type: ['pet.created', 'pet.updated'] }, options());
assert.equal(events.status, 200);
for (const event of events.data) {
  if (event.type === 'pet.created') console.log(`${event.type}: ${event.data.name}`);
  if (event.type === 'pet.updated')
    console.log(`${event.type}: ${event.data.name}, was ${event.previous.name}`);
}

// Expected errors. With a key of a small plan, also limits.
if (freeKey) {
  console.log(textOf(await complete()));
  console.log(textOf(await petstore.getCategory(4711, options())));
  console.log(textOf(await place(1000)));
  console.log(textOf(await petstore.listPets({}, options({}, 'pet_mistyped'))));

  const ask = () => petstore.listPets({ limit: 1 }, options({}, freeKey));
  let answer = await ask();
  for (let asked = 1; answer.status === 200 && asked < 130; asked++) answer = await ask();
  const field = (name: string) => answer.headers.get(name);
  const waitSeconds = Math.max(
    Number(field('X-RateLimit-Reset')) - Date.now() / 1000,
    Number(field('Retry-After')),
  );
  const waits = waitSeconds > 0 && waitSeconds <= 60 ? 'within 60 s' : `after ${waitSeconds} s`;
  console.log(
    `${textOf(answer)}: limit ${field('X-RateLimit-Limit')}, remaining ${field('X-RateLimit-Remaining')}, reset and retry ${waits}`,
  );
}
