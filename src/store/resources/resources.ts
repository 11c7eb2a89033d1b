import { categoryOperations } from './categories/operations.ts';
import { categoryEvents } from './categories/schema.ts';
import { orderOperations } from './orders/operations.ts';
import { orderEvents } from './orders/schema.ts';
import { inventoryOperations } from './pets/inventory-operations.ts';
import { petOperations } from './pets/operations.ts';
import { inventoryEvents, petEvents } from './pets/schema.ts';

/** The operations of every resource, in the order of the reference. */
export const resourceOperations = [
  ...petOperations,
  ...categoryOperations,
  ...orderOperations,
  ...inventoryOperations,
];

/** The events of every resource, in the order of the description. */
export const resourceEvents = [...categoryEvents, ...petEvents, ...inventoryEvents, ...orderEvents] as const;
