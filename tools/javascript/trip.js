// Uses the client that openapi-generator makes.
import { registerHooks } from 'node:module';

// The client is written for a bundler: its imports name no file types.
registerHooks({
  resolve: (specifier, context, next) =>
    next(
      context.parentURL?.includes('/petstore/src/') && /^\.\.?\//.test(specifier)
        ? `${specifier}.js`
        : specifier,
      context,
    ),
});
const client = await import('./petstore/src/index.js');
const { ApiClient, InventoryUpdated, NewPet, Order, PetCreated, PetsApi, StoreApi } = client;

const api = new ApiClient(process.env.PETSTORE_BASE_URL);
api.authentications.bearerAuth.accessToken = process.env.PETSTORE_API_KEY;
const pets = new PetsApi(api);
const store = new StoreApi(api);

const pet = await pets.createPet(new NewPet('Smaug', 4));
console.log(`created ${pet.id}: ${pet.name}`);

const sizes = [];
let cursor;
do {
  const { data, response } = await pets.listPetsWithHttpInfo({ limit: 8, cursor });
  sizes.push(data.length);
  cursor = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(response.headers.link)?.[1];
} while (cursor);
console.log(`pages of ${sizes.join(', ')}`);

const order = await store.placeOrder(Order.constructFromObject({ petId: 13, quantity: 2 }));
console.log(`ordered ${order.id}: ${order.quantity} of ${order.petId}`);

for (const { actualInstance: event } of await store.listEvents()) {
  if (event instanceof PetCreated) console.log(`${event.type}: ${event.data.name}`);
  else if (event instanceof InventoryUpdated)
    console.log(`${event.type}: ${event.data.quantity}, was ${event.previous.quantity}`);
}

try {
  await pets.getCategory(4711);
} catch ({ status, body }) {
  console.log(`${status} ${body.code}`);
}
