import { event } from '../../history/event.ts';
import { InventoryItem } from './schema.ts';

export const inventoryUpdated = event({
  type: 'inventory.updated',
  change: 'updated',
  data: InventoryItem,
  meaning: 'The stock of a pet changed, or the status that it shares with the pet.',
  previousExample: { quantity: 2 },
});

export const inventoryEvents = [inventoryUpdated] as const;
