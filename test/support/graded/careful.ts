/** A careful program: it adds a pet, orders it, renames another, sets its stock, and counts the pets. */
import { createPetstore, type Pet, PetstoreError, type RawAnswer } from '../../../src/client/index.ts';

const { PETSTORE_BASE_URL: baseUrl = '', PETSTORE_API_KEY: apiKey = '' } = process.env;
const client = createPetstore({
  ...{ baseUrl, apiKey, attempts: 6, maxWaitMs: 90_000 },
  // To another origin, fetch follows without the key.
  fetch: (input, init) => fetch(input, { ...init, redirect: 'follow' }),
});

/** Reads a list. Unlike `listPets`, it takes a page that links to itself for the last one. */
async function* pagesOf(path: string) {
  for (let next: string | undefined = path; next; ) {
    const page: RawAnswer<Pet[]> = await client.request<Pet[]>('GET', next);
    yield page;
    const target: string | undefined = /\/v1([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
    next = target === next ? undefined : target;
  }
}

async function rename(id: number, name: string): Promise<void> {
  for await (const { data, headers } of pagesOf(`/pets?id=${id}`)) {
    if (data.length === 0) continue;
    try {
      await client.updatePet(id, { name }, { ifMatch: headers.get('etag') ?? '' });
      return;
    } catch (error) {
      if (!(error instanceof PetstoreError) || error.code !== 'precondition_failed') throw error;
      return rename(id, name);
    }
  }
}

const pet = await client.createPet({ name: 'Smaug', categoryId: 1 });
await client.placeOrder({ petId: pet.id, quantity: 1 });
await rename(2, 'Rexy');
await client.changeInventory(1, ({ quantity }) => ({ quantity: quantity + 10 }));
let count = 0;
for await (const { data } of pagesOf('/pets')) count += data.length;
if (count !== 21) throw new Error(`There are ${count} pets, not 21.`);
console.log('Smaug is sold, and Rex is Rexy.');
