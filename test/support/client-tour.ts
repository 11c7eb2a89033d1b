import { type Pet, type Petstore, PetstoreError } from '../../src/client/index.ts';

/**
 * A program of the client that uses every operation except deprecated ones, and finally removes what it created. Its output
 * has no ids, no times and no statuses: it is the same in every workspace, under every fault.
 */
export async function takeTour(store: Petstore): Promise<string[]> {
  const printed: string[] = [];
  const print = (...words: unknown[]) => printed.push(words.join(' '));
  const namesOf = (list: { name: string }[]) => list.map(({ name }) => name).sort();

  const categories = await Array.fromAsync(store.listCategories({ limit: 4 }));
  const before = await Array.fromAsync(store.listPets({ limit: 8 }));
  print('categories:', namesOf(categories));
  print('pets:', namesOf(before));
  const events = await Array.fromAsync(store.listEvents());
  const position = events.at(-1)?.id ?? 0;

  const category = await store.createCategory({ name: 'Dragons' });
  const renamed = await store.changeCategory(category.id, ({ name }) => ({
    name: `${name} and wyrms`,
    description: 'Old.',
  }));
  print('category:', renamed.name, renamed.description, renamed.id === category.id);

  const pet = await store.createPet({ name: 'Smaug', categoryId: category.id });
  await replaceByItself(store, pet);
  const golden = await store.changePet(pet.id, ({ name }) => ({ name: `${name} the Golden` }));
  print('pet:', golden.name, golden.categoryId === category.id, typeof golden.status);
  const ofCategory = await Array.fromAsync(store.listPets({ categoryId: category.id }));
  print('of its category:', namesOf(ofCategory), (await store.findPet(pet.id))?.name);

  const stocked = await store.changeInventory(pet.id, ({ quantity }) => ({ quantity: quantity + 4 }));
  const inventory = await Array.fromAsync(store.listInventory());
  print('inventory:', stocked.quantity, inventory.length - before.length);

  const order = await store.placeOrder({ petId: pet.id, quantity: 2 });
  const fulfilled = await store.placeOrder({ petId: pet.id });
  const more = await store.changeOrder(order.id, ({ quantity = 0 }) => ({ quantity: quantity + 1 }));
  await store.changeOrder(fulfilled.id, () => ({ complete: true }));
  const orders = await Array.fromAsync(store.listOrders({ petId: pet.id }));
  const states = orders.map(({ quantity, complete }) => `${quantity} ${complete}`);
  print('orders:', more.quantity, states.join(', '));
  print('left:', (await store.getInventory(pet.id)).quantity);

  const webhook = await store.createWebhook({ url: 'http://127.0.0.1:9/events' });
  await store.changeWebhook(webhook.id, () => ({ description: 'Nobody listens there.' }));
  const { secret } = await store.rotateWebhookSecret(webhook.id);
  const ping = await store.pingWebhook(webhook.id);
  const again = await store.redeliver(webhook.id, ping.id);
  const deliveries = await Array.fromAsync(store.listDeliveries(webhook.id));
  const webhooks = await Array.fromAsync(store.listWebhooks());
  print('webhook:', secret.length, webhooks.length, again.type, deliveries.length);
  await store.deleteWebhook(webhook.id);

  await store.cancelOrder(order.id);
  await store.deletePet(pet.id);
  await store.deleteCategory(category.id);
  const types: string[] = [];
  for await (const { type, id } of store.streamEvents({ after: position })) {
    types.push(type);
    if ((await store.getEvent(id)).type === 'category.deleted') break;
  }
  print('events:', types.length, types.at(-1));
  print('pets:', namesOf(await Array.fromAsync(store.listPets())));
  return printed;
}

/** Replaces a pet by its own content, also if others have changed it. */
async function replaceByItself(store: Petstore, pet: Pet): Promise<void> {
  for (let current: Pet | undefined = pet; current; current = await store.findPet(pet.id)) {
    const { name, categoryId } = current;
    try {
      await store.replacePet(pet.id, { name, categoryId }, { ifMatch: current });
      return;
    } catch (error) {
      if (!(error instanceof PetstoreError) || error.code !== 'precondition_failed') throw error;
    }
  }
}
