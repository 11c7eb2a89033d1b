/** A careful program: it adds a pet, orders it, renames another, sets its stock, and counts the pets. */
import { createPetstore } from '../../../src/client/index.ts';

const { PETSTORE_BASE_URL: baseUrl = '', PETSTORE_API_KEY: apiKey = '' } = process.env;
const client = createPetstore({
  ...{ baseUrl, apiKey, attempts: 6, maxWaitMs: 90_000 },
  // To another origin, fetch follows without the key.
  fetch: (input, init) => fetch(input, { ...init, redirect: 'follow' }),
});

const pet = await client.createPet({ name: 'Smaug', categoryId: 1 });
await client.placeOrder({ petId: pet.id, quantity: 1 });
await client.changePet(2, () => ({ name: 'Rexy' }));
await client.changeInventory(1, ({ quantity }) => ({ quantity: quantity + 10 }));
let count = 0;
for await (const _ of client.listPets({ limit: 20 })) count++;
if (count !== 21) throw new Error(`There are ${count} pets, not 21.`);
console.log('Smaug is sold, and Rex is Rexy.');
