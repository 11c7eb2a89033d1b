import { type Static, Type } from 'typebox';
import { Id, Name, PetStatus, patchOf, Units } from '../../../foundation/schema.ts';
import { event } from '../../history/event.ts';

export const petId = Id('The id of the pet.');

const fields = {
  name: Name(200, "The animal's name.", 'Bella'),
  categoryId: Id('The id of the category that the animal belongs to.'),
  status: Type.Optional(PetStatus),
};

export const NewPet = Type.Object(fields, {
  title: 'NewPet',
  description: 'A pet to add, or all fields of a pet to replace.',
});
export type NewPet = Static<typeof NewPet>;

export const PetPatch = Type.Object(patchOf(fields), {
  title: 'PetPatch',
  examples: [{ status: 'sold' }],
  description: 'Fields of a pet to change. A `status` of null becomes `available`.',
});

export const Pet = Type.Object(
  { id: Id('Unique identifier assigned on creation.'), ...fields },
  { title: 'Pet', description: 'An animal in the store.' },
);
export type Pet = Static<typeof Pet>;

export const Pets = Type.Array(Pet, { title: 'Pets', description: 'Pets, ordered by id.' });

export const InventoryItem = Type.Object(
  {
    petId: Id('The pet that the entry tracks.'),
    quantity: Units(0, 'Units in stock now, without those in open orders.', 3),
    status: PetStatus,
  },
  { title: 'InventoryItem', description: 'The stock of one pet. It shares its status with the pet.' },
);
export type InventoryItem = Static<typeof InventoryItem>;

export const InventoryItems = Type.Array(InventoryItem, {
  title: 'InventoryItems',
  description: 'Inventory entries, ordered by pet id.',
});

export const InventoryUpdate = Type.Object(
  { quantity: Units(0, 'The new stock count.', 3) },
  { title: 'InventoryUpdate', description: 'A new stock count.' },
);

export const petCreated = event({
  type: 'pet.created',
  change: 'created',
  data: Pet,
  meaning: 'A pet was added, with its inventory entry: one unit, or none if its status is `sold`.',
});

export const petUpdated = event({
  type: 'pet.updated',
  change: 'updated',
  data: Pet,
  meaning: 'A pet was changed, or its status changed with its stock.',
  previousExample: { status: 'pending' },
});

export const petDeleted = event({
  type: 'pet.deleted',
  change: 'deleted',
  data: Pet,
  meaning: 'A pet was removed, with its inventory entry. `data` is its last state.',
});

export const petEvents = [petCreated, petUpdated, petDeleted] as const;

export const inventoryUpdated = event({
  type: 'inventory.updated',
  change: 'updated',
  data: InventoryItem,
  meaning: 'The stock of a pet changed, or the status that it shares with the pet.',
  previousExample: { quantity: 2 },
});

export const inventoryEvents = [inventoryUpdated] as const;
