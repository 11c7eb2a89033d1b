import type { Handled } from '../http/operation.ts';
import { eventOperations } from '../store/events/operations.ts';
import { resourceOperations } from '../store/resources/resources.ts';
import { webhookOperations } from '../store/webhooks/operations.ts';

/** All operations of the API, in the order of the reference. */
export const operations: readonly Handled[] = [
  ...resourceOperations,
  ...eventOperations,
  ...webhookOperations,
];
