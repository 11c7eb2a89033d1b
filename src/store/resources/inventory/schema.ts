import { type Static, Type } from 'typebox';
import { Id, PetStatus, Units } from '../../../foundation/schema.ts';

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
