import type { Category, Event, Int64, Order, Pet, Petstore } from '../../client/index.ts';
import { firstPage } from './first-page.ts';

export type PlacedOrder = Order & { id: Int64 };

/** What is known of a store: the first pets, with their stock, and the first open orders. */
export interface Shop {
  pets: Map<Int64, Pet>;
  /** Units in stock, by the id of the pet. */
  stock: Map<Int64, number>;
  categories: Map<Int64, Category>;
  orders: Map<Int64, PlacedOrder>;
  /** Whether there are more pets, and more open orders, than these. */
  hasMorePets: boolean;
  hasMoreOrders: boolean;
}

/** The largest page that the API gives. No more is read, and no more is kept. */
const most = 100;

/** How many requests `readShop` takes. */
export const requestsOfReading = 4;

/** Reads the first page of each list. */
export async function readShop(petstore: Petstore, signal: AbortSignal): Promise<Shop> {
  const options = { signal };
  const [pets, inventory, categories, orders] = await Promise.all([
    firstPage(petstore.listPets({}, options)),
    firstPage(petstore.listInventory({}, options)),
    firstPage(petstore.listCategories({}, options)),
    firstPage(petstore.listOrders({ complete: false }, options)),
  ]);
  return {
    pets: new Map(pets.items.map((pet) => [pet.id, pet])),
    stock: new Map(inventory.items.map(({ petId, quantity }) => [petId, quantity])),
    categories: new Map(categories.items.map((category) => [category.id, category])),
    orders: new Map(orders.items.map((order) => [order.id, order])),
    hasMorePets: pets.hasMore,
    hasMoreOrders: orders.hasMore,
  };
}

/** What an event changed: a pet, nothing that is shown, or so much that all must be read anew. */
export type Applied = { petId: Int64; change: string } | 'nothing' | 'everything';

/** Takes over what an event tells. It may be older than what was read: those that follow it lead to the same end. */
export function apply(shop: Shop, event: Event): Applied {
  switch (event.type) {
    case 'workspace.reset':
    case 'workspace.seeded':
      return 'everything';
    case 'category.created':
    case 'category.updated':
      if (shop.categories.has(event.data.id) || shop.categories.size < most)
        shop.categories.set(event.data.id, event.data);
      return 'nothing';
    case 'category.deleted':
      shop.categories.delete(event.data.id);
      return 'nothing';
    case 'pet.created':
      return addPet(shop, event.data);
    case 'pet.updated':
      return changePet(shop, event.data);
    case 'pet.deleted':
      shop.pets.delete(event.data.id);
      shop.stock.delete(event.data.id);
      return 'nothing';
    case 'inventory.updated':
      return changeStock(shop, event.data.petId, event.data.quantity);
    case 'order.placed':
    case 'order.updated':
    case 'order.completed':
      keepOrder(shop, event.data as PlacedOrder);
      return 'nothing';
    case 'order.cancelled':
      shop.orders.delete(event.data.id as Int64);
      return 'nothing';
    default:
      return 'nothing';
  }
}

function addPet(shop: Shop, pet: Pet): Applied {
  if (shop.pets.has(pet.id)) return 'nothing';
  // What is known stays the beginning of the list.
  if (shop.hasMorePets || shop.pets.size >= most) {
    shop.hasMorePets = true;
    return 'nothing';
  }
  shop.pets.set(pet.id, pet);
  shop.stock.set(pet.id, pet.status === 'sold' ? 0 : 1);
  return { petId: pet.id, change: 'new' };
}

function changePet(shop: Shop, pet: Pet): Applied {
  const before = shop.pets.get(pet.id);
  if (!before) return 'nothing';
  shop.pets.set(pet.id, pet);
  if (before.status !== pet.status) return { petId: pet.id, change: `was ${before.status}` };
  return { petId: pet.id, change: 'changed' };
}

function changeStock(shop: Shop, petId: Int64, quantity: number): Applied {
  const before = shop.stock.get(petId);
  if (!shop.pets.has(petId) || before === quantity) return 'nothing';
  shop.stock.set(petId, quantity);
  return { petId, change: `stock was ${before ?? 'unknown'}` };
}

function keepOrder(shop: Shop, order: PlacedOrder): void {
  if (order.complete) {
    shop.orders.delete(order.id);
    return;
  }
  shop.orders.set(order.id, order);
  const [first] = shop.orders.keys();
  if (shop.orders.size <= most || first === undefined) return;
  shop.orders.delete(first);
  shop.hasMoreOrders = true;
}

/** Which pets are looked for. */
export interface Filter {
  categoryId: string;
  name: string;
}

/** The pets that a filter leaves, by category, in the order of the categories. */
export function groupsOf(shop: Shop, filter: Filter): { category: Category; pets: Pet[] }[] {
  const name = filter.name.trim().toLowerCase();
  const pets = [...shop.pets.values()].filter(
    (pet) =>
      (!filter.categoryId || String(pet.categoryId) === filter.categoryId) &&
      pet.name.toLowerCase().includes(name),
  );
  return [...Map.groupBy(pets, ({ categoryId }) => categoryId)]
    .map(([id, pets]) => ({ category: categoryOf(shop, id), pets }))
    .sort((a, b) => (a.category.id < b.category.id ? -1 : 1));
}

/** A category, also one that was not read. */
export const categoryOf = (shop: Shop, id: Int64): Category =>
  shop.categories.get(id) ?? { id, name: `Category ${id}` };
