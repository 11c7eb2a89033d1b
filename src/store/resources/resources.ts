import { categoryEvents } from './categories/events.ts';
import { categoryOperations } from './categories/operations.ts';
import { inventoryEvents } from './inventory/events.ts';
import { inventoryOperations } from './inventory/operations.ts';
import { orderEvents } from './orders/events.ts';
import { orderOperations } from './orders/operations.ts';
import { petEvents } from './pets/events.ts';
import { petOperations } from './pets/operations.ts';

/** The operations of every resource, in the order of the reference. */
export const resourceOperations = [
  ...petOperations,
  ...categoryOperations,
  ...orderOperations,
  ...inventoryOperations,
];

/** The events of every resource, in the order of the description. */
export const resourceEvents = [...categoryEvents, ...petEvents, ...inventoryEvents, ...orderEvents] as const;
