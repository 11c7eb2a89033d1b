import { categoryOperations } from './categories/operations.ts';
import { eventOperations } from './events/operations.ts';
import { inventoryOperations } from './inventory/operations.ts';
import type { Handled } from './operation.ts';
import { orderOperations } from './orders/operations.ts';
import { petOperations } from './pets/operations.ts';
import { webhookOperations } from './webhooks/operations.ts';

/** All operations of the API, in the order of the reference. */
export const operations: readonly Handled[] = [
  ...petOperations,
  ...categoryOperations,
  ...orderOperations,
  ...inventoryOperations,
  ...eventOperations,
  ...webhookOperations,
];
