import type { Category, Event, Int64, Operations, Order, Pet } from '../../client/index.ts';
import { firstPage } from './api.ts';

export type PlacedOrder = Order & { id: Int64 };

/** The first pets with their stock, and the first open orders. */
export interface StoreSnapshot {
  pets: Map<Int64, Pet>;
  /** Units in stock, by the id of the pet. */
  stock: Map<Int64, number>;
  categories: Map<Int64, Category>;
  orders: Map<Int64, PlacedOrder>;
  /** Whether there are more pets, and more open orders, than these. */
  hasMorePets: boolean;
  hasMoreOrders: boolean;
}

/** The largest page that the API gives. The snapshot keeps no more. */
const maxItems = 100;

/** How many requests `readSnapshot` takes. */
export const requestsOfReading = 4;

/** Reads the first page of each list. */
export async function readSnapshot(petstore: Operations): Promise<StoreSnapshot> {
  const [pets, inventory, categories, orders] = await Promise.all([
    firstPage(petstore.listPets()),
    firstPage(petstore.listInventory()),
    firstPage(petstore.listCategories()),
    firstPage(petstore.listOrders({ complete: false })),
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

/** What an event changes: one pet, nothing that is marked, or everything, so that all lists must be read again. */
export type EventEffect = { petId: Int64; change: string } | 'nothing' | 'everything';

/** Applies an event. It may be older than the snapshot: the events after it lead to the same state. */
export function applyEvent(snapshot: StoreSnapshot, event: Event): EventEffect {
  switch (event.type) {
    case 'workspace.reset':
    case 'workspace.seeded':
      return 'everything';
    case 'category.created':
    case 'category.updated':
      if (snapshot.categories.has(event.data.id) || snapshot.categories.size < maxItems)
        snapshot.categories.set(event.data.id, event.data);
      return 'nothing';
    case 'category.deleted':
      snapshot.categories.delete(event.data.id);
      return 'nothing';
    case 'pet.created':
      return addPet(snapshot, event.data);
    case 'pet.updated':
      return changePet(snapshot, event.data);
    case 'pet.deleted':
      snapshot.pets.delete(event.data.id);
      snapshot.stock.delete(event.data.id);
      return 'nothing';
    case 'inventory.updated':
      return changeStock(snapshot, event.data.petId, event.data.quantity);
    case 'order.placed':
    case 'order.updated':
    case 'order.completed':
      keepOrder(snapshot, event.data as PlacedOrder);
      return 'nothing';
    case 'order.cancelled':
      snapshot.orders.delete(event.data.id as Int64);
      return 'nothing';
    default:
      return 'nothing';
  }
}

function addPet(snapshot: StoreSnapshot, pet: Pet): EventEffect {
  if (snapshot.pets.has(pet.id)) return 'nothing';
  // The snapshot stays the beginning of the list.
  if (snapshot.hasMorePets || snapshot.pets.size >= maxItems) {
    snapshot.hasMorePets = true;
    return 'nothing';
  }
  snapshot.pets.set(pet.id, pet);
  snapshot.stock.set(pet.id, pet.status === 'sold' ? 0 : 1);
  return { petId: pet.id, change: 'new' };
}

function changePet(snapshot: StoreSnapshot, pet: Pet): EventEffect {
  const before = snapshot.pets.get(pet.id);
  if (!before) return 'nothing';
  snapshot.pets.set(pet.id, pet);
  if (before.status !== pet.status) return { petId: pet.id, change: `was ${before.status}` };
  return { petId: pet.id, change: 'changed' };
}

function changeStock(snapshot: StoreSnapshot, petId: Int64, quantity: number): EventEffect {
  const before = snapshot.stock.get(petId);
  if (!snapshot.pets.has(petId) || before === quantity) return 'nothing';
  snapshot.stock.set(petId, quantity);
  return { petId, change: `stock was ${before ?? 'unknown'}` };
}

function keepOrder(snapshot: StoreSnapshot, order: PlacedOrder): void {
  if (order.complete) {
    snapshot.orders.delete(order.id);
    return;
  }
  snapshot.orders.set(order.id, order);
  const [first] = snapshot.orders.keys();
  if (snapshot.orders.size <= maxItems || first === undefined) return;
  snapshot.orders.delete(first);
  snapshot.hasMoreOrders = true;
}

export interface Filter {
  categoryId: string;
  name: string;
}

/** The pets that pass a filter, by category, in the order of category ids. */
export function groupsOf(snapshot: StoreSnapshot, filter: Filter): { category: Category; pets: Pet[] }[] {
  const name = filter.name.trim().toLowerCase();
  const pets = [...snapshot.pets.values()].filter(
    (pet) =>
      (!filter.categoryId || String(pet.categoryId) === filter.categoryId) &&
      pet.name.toLowerCase().includes(name),
  );
  return [...Map.groupBy(pets, ({ categoryId }) => categoryId)]
    .map(([id, pets]) => ({ category: categoryOf(snapshot, id), pets }))
    .sort((a, b) => (a.category.id < b.category.id ? -1 : 1));
}

/** A category, also if it was not read. */
export const categoryOf = (snapshot: StoreSnapshot, id: Int64): Category =>
  snapshot.categories.get(id) ?? { id, name: `Category ${id}` };
