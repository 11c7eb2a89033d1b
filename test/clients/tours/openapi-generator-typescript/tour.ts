import {
  Configuration,
  type ModelError,
  ModelErrorFromJSON,
  PetsApi,
  ResponseError,
  StoreApi,
} from './petstore/index.js';

const { PETSTORE_BASE_URL: basePath, PETSTORE_API_KEY: key, PETSTORE_FREE_KEY: freeKey } = process.env;
const configurationOf = (accessToken?: string) => new Configuration({ basePath, accessToken });
const pets = new PetsApi(configurationOf(key));
const store = new StoreApi(configurationOf(key));

/** The error of a refused request, and its response. */
async function refusal(request: Promise<unknown>): Promise<{ error: ModelError; response: Response }> {
  const refused = await request.then(
    () => undefined,
    (error) => error,
  );
  if (!(refused instanceof ResponseError)) throw refused ?? new Error('The request was not refused.');
  return { error: ModelErrorFromJSON(await refused.response.json()), response: refused.response };
}

const textOf = ({ error }: { error: ModelError }) => `${error.status} ${error.code}`;

// The same request with the same key adds nothing.
const create = () => pets.createPet({ newPet: { name: 'Smaug', categoryId: 4 }, idempotencyKey: 'tour' });
const created = await create();
console.log(`created ${created.id}: ${created.name}`);
const again = await create();
console.log(`again ${again.id}: ${again.name}`);

const sizes: number[] = [];
let cursor: string | undefined;
do {
  const page = await pets.listPetsRaw({ limit: 8, cursor });
  sizes.push((await page.value()).length);
  const next = page.raw.headers.get('Link')?.match(/<([^>]+)>; rel="next"/)?.[1];
  cursor = next && (new URL(next).searchParams.get('cursor') as string);
} while (cursor);
console.log(`pages of ${sizes.join(', ')}`);

const renamed = await pets.updatePet({ petId: created.id, petPatch: { name: 'Smaug the Golden' } });
console.log(`renamed ${renamed.id}: ${renamed.name}`);

const place = (quantity: number) => store.placeOrder({ order: { petId: 13, quantity } });
const order = await place(2);
console.log(`ordered ${order.id}: ${order.quantity} of ${order.petId}, complete: ${order.complete}`);
const { raw } = await store.getOrderRaw({ orderId: 9 });
const ifMatch = raw.headers.get('ETag') ?? '';
const complete = () => store.updateOrder({ orderId: 9, orderPatch: { complete: true }, ifMatch });
const changed = await complete();
console.log(`changed ${changed.id}: ${changed.quantity} of ${changed.petId}, complete: ${changed.complete}`);

for (const event of await store.listEvents({ type: ['pet.created', 'pet.updated'] })) {
  if (event.type === 'pet.created') console.log(`${event.type}: ${event.data.name}`);
  if (event.type === 'pet.updated')
    console.log(`${event.type}: ${event.data.name}, was ${event.previous.name}`);
}

// Expected errors. With a key of a small plan, also limits.
if (freeKey) {
  console.log(textOf(await refusal(complete())));
  console.log(textOf(await refusal(pets.getCategory({ categoryId: 4711 }))));
  console.log(textOf(await refusal(place(1000))));
  console.log(textOf(await refusal(new PetsApi(configurationOf('pet_mistyped')).listPets())));

  const free = new PetsApi(configurationOf(freeKey));
  async function askUntilRefused(): Promise<void> {
    for (let asked = 0; asked < 130; asked++) await free.listPets({ limit: 1 });
  }
  const refused = await refusal(askUntilRefused());
  const field = (name: string) => refused.response.headers.get(name);
  const waitSeconds = Math.max(
    Number(field('X-RateLimit-Reset')) - Date.now() / 1000,
    Number(field('Retry-After')),
  );
  const waits = waitSeconds > 0 && waitSeconds <= 60 ? 'within 60 s' : `after ${waitSeconds} s`;
  console.log(
    `${textOf(refused)}: limit ${field('X-RateLimit-Limit')}, remaining ${field('X-RateLimit-Remaining')}, reset and retry ${waits}`,
  );
}
